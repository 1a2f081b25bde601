import './page.js';
import { describe, expect, test } from 'vitest';
import { modelField, modelsOf } from '../../src/renderer/forms/options';
import { type FormField, type FormValues, findField, jsonIn, missingIn, numberIn, objectIn } from '../../src/renderer/state/forms';

const providers = [
  { id: 'recorded', title: 'Recorded reply', models: ['claude-recorded'] },
  { id: 'anthropic', title: 'Anthropic', models: ['opus', 'sonnet'] },
  { id: 'gateway', title: 'Gateway', models: ['sonnet', 'local'] },
  { id: 'openai', title: 'OpenAI', models: ['gpt-old'], problem: 'No key.' },
  { id: 'any', title: 'Any', models: [] },
];

const fields: readonly FormField[] = [
  { name: 'goal', label: 'Goal', required: true, field: 'instruction' },
  { name: 'data', label: 'JSON', kind: 'code', required: true, field: 'card.content.data', shown: ({ kind }) => kind === 'json' },
  {
    name: 'tasks',
    label: 'Tasks',
    kind: 'rows',
    required: true,
    row: [
      { name: 'who', label: 'Agent', required: true, field: 'targetRef' },
      { name: 'what', label: 'Instruction', required: true, field: 'instruction' },
    ],
  },
];

describe('forms', () => {
  test('[W60] the first required field that is empty is named, also in a row', () => {
    expect(missingIn(fields, { goal: '  ', tasks: [] })).toEqual({ place: 'goal', message: 'Goal is required.' });
    expect(missingIn(fields, { goal: 'x', tasks: [] })).toEqual({ place: 'tasks', message: 'Tasks is required.' });
    expect(
      missingIn(fields, {
        goal: 'x',
        tasks: [
          { who: 'a', what: 'b' },
          { who: 'a', what: '' },
        ],
      }),
    ).toEqual({
      place: 'tasks.1.what',
      message: 'Instruction is required.',
    });
  });

  test('[W60] a field that does not apply is not required', () => {
    expect(missingIn(fields, { goal: 'x', kind: 'text', data: '', tasks: [{ who: 'a', what: 'b' }] })).toBeUndefined();
    expect(missingIn(fields, { goal: 'x', kind: 'json', data: '', tasks: [{ who: 'a', what: 'b' }] })?.place).toBe('data');
  });

  test('[W60] an error of the engine belongs to the deepest field that it names', () => {
    expect(findField(fields, 'instruction')).toBe('goal');
    expect(findField(fields, 'card.content.data.tools')).toBe('data');
    expect(findField(fields, 'tasks.2.targetRef')).toBe('tasks.2.who');
    expect(findField(fields, 'tasks.2.unknown')).toBe('tasks');
    expect(findField(fields, 'card.type')).toBeUndefined();
  });

  test('[W60] numbers and JSON that do not parse are mistakes of their field', () => {
    expect(numberIn({ n: ' 12.5 ' }, 'n')).toBe(12.5);
    expect(numberIn({ n: '' }, 'n')).toBeUndefined();
    expect(() => numberIn({ n: 'many' }, 'n')).toThrow('“many” is not a number.');
    expect(jsonIn({ j: '[1]' }, 'j')).toEqual([1]);
    expect(() => jsonIn({ j: '{' }, 'j')).toThrow('This is not valid JSON');
    expect(() => objectIn({ j: '[1]' }, 'j')).toThrow('This must be a JSON object');
  });
});

describe('[W77] the model of a form', () => {
  const field = modelField();
  const offered = (values: FormValues): readonly string[] => modelsOf(providers, values).map(({ value }) => value);

  test('is offered from what its provider lists, and the list follows the provider', () => {
    expect(offered({ provider: 'anthropic' })).toEqual(['opus', 'sonnet']);
    expect(offered({ provider: 'gateway', by: 'model' })).toEqual(['sonnet', 'local']);
    // The form asks for the list again when one of these values changes.
    expect(field.options).toBeTypeOf('function');
    expect(field.optionsBy).toEqual(['by', 'provider']);
  });

  test('is offered once from every provider that can answer, while none is chosen', () => {
    expect(offered({ provider: '' })).toEqual(['opus', 'sonnet', 'local']);
    expect(offered({})).toEqual(['opus', 'sonnet', 'local']);
  });

  test('is never a name that does not exist there', () => {
    expect(offered({ provider: 'any' })).toEqual([]);
    expect(offered({ provider: 'no-such-provider' })).toEqual([]);
    expect(offered({ by: 'agent', provider: 'anthropic' })).toEqual([]);
    expect(field.placeholder).toBeUndefined();
  });
});

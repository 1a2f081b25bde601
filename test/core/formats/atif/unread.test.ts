import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { ContextId, Json, JsonObject } from '../../../../src/core/base/index.js';
import { entries } from '../../../../src/core/chain/index.js';
import { importInto } from '../../../support/imports.js';
import { emptyChain, scratch } from '../../../support/project.js';

/** Imports a trajectory with a prompt and then this step. */
function imported(step: Json) {
  const path = join(scratch(), 'trajectory.json');
  const steps = [{ step_id: 1, source: 'user', message: 'Go' }, step];
  writeFileSync(path, JSON.stringify({ schema_version: 'ATIF-v1.7', session_id: 's', agent: { name: 'a', version: '1' }, steps }));
  const chain = emptyChain();
  const { notes, skipped, tips } = importInto(chain, path);
  expect(skipped).toEqual([]);
  return { notes, entries: entries(chain, { id: tips[0] as ContextId, hidden: true }).entries };
}

const step = { step_id: 2, source: 'agent', message: 'Done.' };
const call = { tool_call_id: 'c', function_name: 'f', arguments: {} };
const events = (found: ReturnType<typeof imported>): unknown[] => found.entries.filter(({ kind }) => kind === 'event').map(({ result }) => result);

describe('values that ATIF does not define', () => {
  const audio = { type: 'audio', source: { media_type: 'audio/wav', path: 'a.wav' } };
  test.each<[string, JsonObject, unknown, string]>([
    [
      'an unknown source',
      { ...step, source: 'robot' },
      { ...step, source: 'robot' },
      'the source of step 2 is "robot" instead of system, user, agent: the step is kept as an event',
    ],
    [
      'no source',
      { step_id: 2, message: 'Done.' },
      { step_id: 2, message: 'Done.' },
      'the source of step 2 is null instead of system, user, agent: the step is kept as an event',
    ],
    [
      'a message that is a number',
      { ...step, message: 7 },
      7,
      'step 2 has 7 as message instead of a text or a list of parts: it is kept as an event',
    ],
    [
      'a message with a text as its part',
      { ...step, message: ['words'] },
      'words',
      'step 2 has "words" as message instead of a text or a list of parts: it is kept as an event',
    ],
    [
      'thinking in parts',
      { ...step, reasoning_content: ['why'] },
      ['why'],
      'step 2 has ["why"] as reasoning_content instead of a text: it is kept as an event',
    ],
    [
      'one call without a list',
      { ...step, tool_calls: call },
      call,
      `step 2 has ${JSON.stringify(call)} as tool_calls instead of a list of objects: it is kept as an event`,
    ],
    [
      'a call of a user',
      { ...step, source: 'user', tool_calls: [call] },
      [call],
      `step 2 has ${JSON.stringify([call])} as tool_calls, which only an agent has: it is kept as an event`,
    ],
    [
      'an observation that is a text',
      { ...step, observation: 'ok' },
      'ok',
      'step 2 has "ok" as observation instead of an object: it is kept as an event',
    ],
    [
      'a result that is a text',
      { ...step, observation: { results: ['ok'] } },
      'ok',
      'step 2 has "ok" as observation.results instead of a list of objects: it is kept as an event',
    ],
    [
      'a result with a number',
      { ...step, tool_calls: [call], observation: { results: [{ source_call_id: 'c', content: 7 }] } },
      7,
      'step 2 has 7 as content of a result instead of a text or a list of parts: it is kept as an event',
    ],
  ])('[F9, F10] %s is kept and named', (_, given, kept, reason) => {
    const found = imported(given);
    expect(events(found)).toEqual([kept]);
    expect(found.notes).toMatchObject([{ line: 3, reason }]);
  });

  test('[F9, F10] a step that is no object is kept and named', () => {
    const found = imported('a step');
    expect(events(found)).toEqual(['a step']);
    expect(found.notes).toMatchObject([{ line: 3, reason: 'a step is "a step" instead of an object: it is kept as an event' }]);
  });

  test.each<[string, Json]>([
    ['text', 'ls -la'],
    ['a list', ['ls']],
  ])('[F9, F10] arguments that are %s are kept in the call and named', (_, input) => {
    const found = imported({ ...step, tool_calls: [{ ...call, arguments: input }] });
    expect(found.entries.flatMap((entry) => (entry.kind === 'tool_call' ? [entry.arguments] : []))).toEqual([input]);
    expect(found.notes).toMatchObject([
      { reason: `the call "c" of step 2 has the arguments ${JSON.stringify(input)} instead of an object: they are kept unchanged` },
    ]);
  });

  test('[F9] sound and images of the environment in results are kept', () => {
    const image = { type: 'image', source: { media_type: 'image/png', path: 'a.png' } };
    const found = imported({
      ...step,
      tool_calls: [call],
      observation: { results: [{ source_call_id: 'c', content: [audio] }, { content: [image] }] },
    });
    expect(events(found)).toEqual([audio]);
    expect(found.entries.flatMap(({ kind, result }) => (kind === 'image' ? [result] : []))).toEqual([image.source]);
    expect(found.notes).toEqual([]);
  });

  test('[F10] a document whose steps are no list is named', () => {
    const path = join(scratch(), 'trajectory.json');
    writeFileSync(path, JSON.stringify({ schema_version: 'ATIF-v1.7', session_id: 's', agent: { name: 'a', version: '1' }, steps: step }));
    expect(importInto(emptyChain(), path).notes).toMatchObject([
      { line: 1, reason: `the document has ${JSON.stringify(step)} as steps instead of a list: it is kept and not read` },
    ]);
  });
});

import { describe, expect, test } from 'vitest';
import { knowledgeBlock } from '../../../src/core/composer/blocks.js';
import { collectContexts } from '../../../src/core/composer/collect.js';
import { historyText, planCompaction } from '../../../src/core/composer/compact.js';
import { buildPatch, composeMessages } from '../../../src/core/composer/index.js';
import { admission } from '../../../src/core/composer/layers.js';
import { dialogueOf } from '../../../src/core/composer/memory.js';
import { reduceMessages } from '../../../src/core/composer/reduce.js';
import { reduceField } from '../../../src/core/composer/state.js';
import { textAt } from '../../support/source.js';

/**
 * The published cases of the layered context. The areas compose, allowedLayers, memory.snapshot, state and reduce.* must hold. Of the
 * other areas, cases hold where our rules are the same, and `untested` gives the reason for the rest.
 */
interface Vector {
  readonly id: string;
  readonly area: string;
  // biome-ignore lint/suspicious/noExplicitAny: the cases are data of many shapes
  readonly input: any;
  // biome-ignore lint/suspicious/noExplicitAny: the cases are data of many shapes
  readonly expected: any;
  readonly note?: string;
}

const vectors = (JSON.parse(textAt('test/vectors/layers.json')) as { vectors: readonly Vector[] }).vectors;
const inArea = (...areas: string[]): readonly Vector[] => vectors.filter(({ area }) => areas.includes(area));
const titleOf = ({ id, note }: Vector): string => `${id} ${note ?? ''}`;

type Message = { role?: string; content?: string; id?: string; name?: string; internal?: boolean; remove?: string };
const named = ({ role, content, id, name, internal, remove }: Message) =>
  Object.fromEntries(Object.entries({ role, content, id, name, internal, remove }).filter(([, value]) => value !== undefined));

function expectRefusal(reason: string, run: () => unknown): void {
  expect(run).toThrow(expect.objectContaining({ code: 'BAD_REQUEST', data: expect.objectContaining({ reason }) }));
}

describe('layers.json: compose', () => {
  test.each(inArea('compose').map((vector) => [titleOf(vector), vector] as const))('%s', (_, { input: { repeat, ...input }, expected }) => {
    if (expected.error) return expectRefusal(expected.error, () => composeMessages(input));
    const before = structuredClone(input);
    const first = composeMessages(input);
    if (repeat) expect(composeMessages(input)).toEqual(first);
    expect(input).toEqual(before);
    if (expected.messages) expect(first.messages.map(named)).toEqual(expected.messages.map(named));
  });
});

describe('layers.json: allowedLayers', () => {
  test.each(inArea('allowedLayers').map((vector) => [titleOf(vector), vector] as const))('%s', (_, { input, expected }) => {
    const processes = input.scenario === 'agent' ? (['sequential', 'dynamic', 'hierarchical', 'react'] as const) : [input.scenario.replace('_', '-')];
    for (const process of processes) expect(admission(process, input.enableShareContext).blocks).toEqual(expected.keys);
  });
});

describe('layers.json: memory.snapshot', () => {
  test.each(inArea('memory.snapshot').map((vector) => [titleOf(vector), vector] as const))('%s', (_, { input, expected }) => {
    expect(dialogueOf(input.messages)).toEqual(expected.messages);
  });
});

describe('layers.json: state', () => {
  test.each(inArea('state').map((vector) => [titleOf(vector), vector] as const))('%s', (_, { input, expected }) => {
    if (expected.error) return expectRefusal(expected.error, () => buildPatch(input.state, input.calls));
    expect(buildPatch(input.state, input.calls)).toEqual(expected.patch);
  });
});

describe('layers.json: reducers', () => {
  test.each(inArea('reduce.messages').map((vector) => [titleOf(vector), vector] as const))('%s', (_, { input, expected }) => {
    if (expected.error) return expectRefusal(expected.error, () => reduceMessages(input.left, input.right));
    expect(reduceMessages(input.left, input.right)).toEqual(expected.messages);
  });

  test.each(inArea('reduce.mapreduce_results', 'reduce.compression__context').map((vector) => [titleOf(vector), vector] as const))(
    '%s',
    (_, { area, input, expected }) => {
      const reduce = () => reduceField(area.slice('reduce.'.length), input.current, input.updates);
      if (expected.error) return expectRefusal(expected.error, reduce);
      expect(reduce()).toEqual(expected.results);
    },
  );
});

describe('layers.json: blocks with the same content as in the public system', () => {
  test.each(inArea('knowledgeBlock').map((vector) => [titleOf(vector), vector] as const))('%s', (_, { input, expected }) => {
    expect(knowledgeBlock(input.chunks, input.inject)).toBe(expected.text);
  });

  test.each(inArea('compact').map((vector) => [titleOf(vector), vector] as const))('%s', (_, { input, expected }) => {
    const plan = planCompaction(input.messages, { keepLast: input.minKeep });
    expect(plan.kept).toEqual(expected.messages);
    expect(plan.removed).toHaveLength(expected.removed);
    if (expected.historyText) expect(historyText(plan.removed)).toBe(expected.historyText);
  });

  test.each(inArea('collect').map((vector) => [titleOf(vector), vector] as const))('%s', (_, { input, expected }) => {
    const { contexts } = collectContexts({
      state: input.state,
      query: input.query,
      process: input.scenario === 'agent' ? 'sequential' : input.scenario.replace('_', '-'),
      enableShareContext: input.enableShareContext,
    });
    // Here a service provides the framework block, so it is absent without one.
    const { framework__context, ...blocks } = expected.contexts;
    expect(contexts).toEqual(blocks);
  });
});

test('every area is tested or listed with a reason', () => {
  const untested: Readonly<Record<string, string>> = {
    extract: 'blocks are never read from a state: the collector makes them for each call',
    runtimeState: 'the state has no copy for a run',
    resolveQuery: 'a query has a path and is never searched in the state',
    'agent.execute': 'the composer does not run agents',
    overflow: 'memory is shortened together with the summary; requirements.test.ts has the restore case',
    process: 'the composer does not orchestrate; requirements.test.ts has the layers of each process',
  };
  const tested = ['compose', 'allowedLayers', 'memory.snapshot', 'state', 'knowledgeBlock', 'compact', 'collect'];
  const areas = [...new Set(vectors.map(({ area }) => area))].filter((area) => !area.startsWith('reduce.') && !tested.includes(area));
  expect(areas.sort()).toEqual(Object.keys(untested).sort());
});

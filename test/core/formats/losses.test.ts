import { expect, test } from 'vitest';
import type { EntryKey } from '../../../src/core/base/index.js';
import { deltaLosses, lossCounter, lossSum, type ParsedEntry } from '../../../src/core/formats/index.js';

/** A seeded random generator. */
function chance(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return state / 4294967296;
  };
}

/** Entries of one delta: calls and results with few ids, so that they meet in every order. */
function made(next: () => number, delta: number): ParsedEntry[] {
  const oneOf = <Value>(values: readonly Value[]): Value => values[Math.floor(next() * values.length)] as Value;
  return Array.from({ length: Math.floor(next() * 5) }, (_, at): ParsedEntry => {
    const kind = oneOf(['text', 'tool_call', 'tool_result', 'tool_call', 'tool_result'] as const);
    const role = kind === 'text' ? oneOf(['user', 'system'] as const) : kind === 'tool_call' ? 'assistant' : 'tool';
    const marks = oneOf([[], [], [], ['hidden'], ['server']]);
    const text = oneOf(['', 'said', 'half \ud83d']);
    return { key: `${delta}.${at}` as EntryKey, role, kind, text, tokens: 1, marks, ...(kind !== 'text' && { toolCallId: oneOf(['a', 'b', '']) }) };
  });
}

test('the losses of deltas add up to those of the whole conversation', () => {
  const next = chance(36);
  const seen = new Set<string>();
  for (let round = 0; round < 500; round++) {
    const deltas = Array.from({ length: 6 }, (_, delta) => made(next, delta));
    const counter = lossCounter({ holds: [], isRequest: true });
    const sum = lossSum();
    for (const entries of deltas) {
      counter.add(entries);
      sum.add(JSON.parse(JSON.stringify(deltaLosses(entries))));
    }
    const { lossCounts } = counter.losses();
    for (const { what } of lossCounts) seen.add(what);
    expect(sum.counts()).toEqual(lossCounts);
  }
  expect([...seen]).toEqual(expect.arrayContaining(['call without a result', 'result without its call', 'half of a character', 'system role']));
});

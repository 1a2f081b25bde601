import { describe, expect, test } from 'vitest';
import type { EntryKey } from '../../src/core/contract/index.js';
import { noChanges, partnerOf, planOf } from '../../src/renderer/views/fork/plan.js';
import { call, outlineRow, result } from './make.js';

const rows = [outlineRow('p', 'user', 'text'), call('a'), call('b'), result('a'), result('b'), outlineRow('w', 'assistant', 'text')];
const key = (name: string) => name as EntryKey;

describe('what a fork will be', () => {
  test('without a change it is the context itself', () => {
    expect(planOf(rows, noChanges(5))).toMatchObject({
      stays: { entries: 6, tokens: 60 },
      goes: { entries: 0, tokens: 0 },
      tokensAfter: 60,
      edits: [],
      openCalls: [],
    });
  });

  test('a cut says what goes, and which calls it leaves open until where', () => {
    expect(planOf(rows, noChanges(3))).toMatchObject({
      stays: { entries: 4, tokens: 40 },
      goes: { entries: 2, tokens: 20 },
      openCalls: [2],
      closeAt: 4,
    });
    expect(planOf(rows, noChanges(2))).toMatchObject({ openCalls: [1, 2], closeAt: 4 });
    expect(planOf(rows, noChanges(4))).toMatchObject({ openCalls: [], closeAt: undefined });
  });

  test('changes become the edits of the engine, in the order of the context', () => {
    const said = { role: 'user', kind: 'text', text: 'x'.repeat(38) } as const;
    const plan = planOf(rows, {
      cut: 4,
      dropped: new Set([key('call-a'), key('result-a')]),
      replaced: new Map([[key('p'), said]]),
      inserted: new Map([[key('call-b'), [said]]]),
      appended: [said],
    });
    expect(plan.edits).toEqual([
      { op: 'replace', key: 'p', entry: said },
      { op: 'drop', key: 'call-a' },
      { op: 'insert', key: 'call-b', entry: said },
      { op: 'drop', key: 'result-a' },
      { op: 'append', entry: said },
    ]);
    expect(plan.tokensAfter).toBe(10 + 10 + 3 * 10);
    expect(plan.openCalls).toEqual([]);
  });

  test('edits behind the cut are not sent: the engine refuses them', () => {
    const plan = planOf(rows, { ...noChanges(2), dropped: new Set([key('w')]) });
    expect(plan.edits).toEqual([]);
  });

  test('a dropped call opens nothing, a dropped result leaves its call open', () => {
    expect(planOf(rows, { ...noChanges(5), dropped: new Set([key('result-a')]) }).openCalls).toEqual([1]);
    expect(planOf(rows, { ...noChanges(5), dropped: new Set([key('call-a'), key('result-a')]) }).openCalls).toEqual([]);
  });

  test('halves of a tool pair know each other', () => {
    expect(rows.map((_, n) => partnerOf(rows, n))).toEqual([undefined, 3, 4, 1, 2, undefined]);
  });
});

import './page.js';
import { describe, expect, test } from 'vitest';
import type { EntryKey } from '../../src/core/contract/index.js';
import { noChanges, partnerOf, planOf, withDraft, withDropped, withoutChanges } from '../../src/renderer/views/fork/plan.js';
import { call, outlineRow, result } from './make.js';

const rows = [outlineRow('p', 'user', 'text'), call('a'), call('b'), result('a'), result('b'), outlineRow('w', 'assistant', 'text')];
const key = (name: string) => name as EntryKey;

describe('the plan of a fork', () => {
  test('without changes it is the context itself', () => {
    expect(planOf(rows, noChanges(5))).toMatchObject({
      kept: { entries: 6, tokens: 60 },
      removed: { entries: 0, tokens: 0 },
      tokensAfter: 60,
      edits: [],
      openCalls: [],
    });
  });

  test('a cut names what it removes and which calls it leaves open', () => {
    expect(planOf(rows, noChanges(3))).toMatchObject({
      kept: { entries: 4, tokens: 40 },
      removed: { entries: 2, tokens: 20 },
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

  test('edits after the cut are left out, because the engine refuses them', () => {
    const plan = planOf(rows, { ...noChanges(2), dropped: new Set([key('w')]) });
    expect(plan.edits).toEqual([]);
  });

  test('a dropped call leaves nothing open, a dropped result leaves its call open', () => {
    expect(planOf(rows, { ...noChanges(5), dropped: new Set([key('result-a')]) }).openCalls).toEqual([1]);
    expect(planOf(rows, { ...noChanges(5), dropped: new Set([key('call-a'), key('result-a')]) }).openCalls).toEqual([]);
  });

  test('the halves of a tool pair find each other', () => {
    expect(rows.map((_, n) => partnerOf(rows, n))).toEqual([undefined, 3, 4, 1, 2, undefined]);
  });
});

describe('the changes of a fork', () => {
  const draft = { role: 'user', kind: 'text', text: 'new' } as const;

  test('a written entry replaces, precedes or follows, and can be undone', () => {
    const replaced = withDraft(rows, noChanges(5), { kind: 'replace', index: 0 }, draft);
    const inserted = withDraft(rows, replaced, { kind: 'insert', index: 0 }, draft);
    const appended = withDraft(rows, inserted, { kind: 'append' }, draft);
    expect(planOf(rows, appended).edits.map(({ op }) => op)).toEqual(['insert', 'replace', 'append']);
    expect(planOf(rows, withoutChanges(appended, key('p'))).edits.map(({ op }) => op)).toEqual(['append']);
  });

  test('dropped entries are added to those dropped before', () => {
    const changes = withDropped(rows, withDropped(rows, noChanges(5), [1, 3]), [0]);
    expect([...changes.dropped]).toEqual(['call-a', 'result-a', 'p']);
    expect([...withoutChanges(changes, key('p')).dropped]).toEqual(['call-a', 'result-a']);
  });
});

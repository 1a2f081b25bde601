import './page.js';
import { describe, expect, test } from 'vitest';
import type { ContextId, SessionRow } from '../../src/core/contract/index.js';
import { joinPages } from '../../src/renderer/state/sessions.js';
import { partFound, refusals } from '../../src/renderer/views/sessions/refused.js';
import { arrangeRows, countValues, fromWords, joinSessions, type ListedHistory, narrow, sorted } from '../../src/renderer/views/sessions/rows.js';

const session = (sessionId: string, more: Partial<SessionRow> = {}): SessionRow => ({
  sessionId,
  agent: 'claude-code',
  title: `Title of ${sessionId}`,
  repository: '/work/api',
  lastAt: '2026-01-10T10:00:00.000Z' as SessionRow['lastAt'],
  turns: 1,
  branches: 1,
  peakTokens: null,
  limit: null,
  cost: null,
  errors: 0,
  live: false,
  sources: 1,
  continuedAs: [],
  tips: ['ctx-00000001' as ContextId],
  models: [],
  pinned: false,
  archived: false,
  tags: [],
  ...more,
});

const found = (sessionId: string, more: Partial<ListedHistory> = {}): ListedHistory => ({
  path: `/home/${sessionId}.jsonl`,
  sessionId,
  agent: 'codex',
  bytes: 10,
  modifiedAt: '2026-01-12T10:00:00.000Z' as ListedHistory['modifiedAt'],
  subagents: 0,
  imported: false,
  ...more,
});

const all: Parameters<typeof narrow>[1] = {
  text: '',
  chosen: { agent: new Set(), repository: new Set(), model: new Set() },
  days: undefined,
  archived: false,
  hits: new Map(),
};
const newest = { by: 'lastAt', ascending: false } as const;
const now = new Date('2026-01-12T12:00:00.000Z');

describe('[W7] the list of sessions', () => {
  test('a history that cannot be imported is counted once, apart from those that can', () => {
    const skipped = [
      { path: '/home/b.jsonl', line: 0, reason: 'it has too many lines' },
      { path: '/home/c.jsonl', line: 7, reason: 'it is not JSON' },
    ];
    const jobs = [{ result: { sessions: 1, commits: 1, entries: 1, bytes: 1, skipped, notes: [], tips: [], ms: 1 } }, {}];
    const parts = partFound([found('a', { problem: 'it is empty' }), found('b'), found('c')], refusals(jobs));
    expect(parts.importable.map(({ sessionId }) => sessionId)).toEqual(['c']);
    expect(parts.refused).toEqual([
      { path: '/home/a.jsonl', reason: 'it is empty' },
      { path: '/home/b.jsonl', reason: 'it has too many lines' },
    ]);
  });

  test('a grown file belongs to its session; other files are rows of their own', () => {
    const listed = joinSessions([session('a'), session('b')], [found('a', { agent: 'claude-code' }), found('c')]);
    expect(listed.map((one) => [one.key, one.session !== undefined, one.found !== undefined])).toEqual([
      ['a', true, true],
      ['b', true, false],
      ['/home/c.jsonl', false, true],
    ]);
  });

  test('subagents are inside their session and shown when it is open', () => {
    const listed = joinSessions([session('a'), session('a1', { parentSessionId: 'a', subagent: 'Explore' })], []);
    expect(listed.map(({ key }) => key)).toEqual(['a']);
    const keys = (opened: string[]) => arrangeRows(listed, newest, new Set(opened), now).map((row) => row.key);
    expect(keys([])).toEqual(['group Last 7 days', 'a']);
    expect(keys(['a'])).toEqual(['group Last 7 days', 'a', 'a1']);
  });

  test('text matches the title, the repository, tags, a subagent and the content', () => {
    const listed = joinSessions(
      [
        session('a', { tags: ['slow'] }),
        session('b', { repository: '/work/web' }),
        session('b1', { parentSessionId: 'b', title: 'Explore the queue' }),
      ],
      [],
    );
    const keys = (text: string, hits = new Map<string, string>()) => narrow(listed, { ...all, text, hits }).map(({ key }) => key);
    expect(keys('title OF a')).toEqual(['a']);
    expect(keys('slow')).toEqual(['a']);
    expect(keys('/web')).toEqual(['b']);
    expect(keys('queue')).toEqual(['b']);
    expect(keys('only in the content')).toEqual([]);
    expect(keys('only in the content', new Map([['a', '…']]))).toEqual(['a']);
  });

  test('chips narrow by agent, model and days, and archived sessions are apart', () => {
    const listed = joinSessions(
      [
        session('a', { models: ['opus'] }),
        session('b', { lastAt: '2025-01-01T00:00:00.000Z' as SessionRow['lastAt'] }),
        session('c', { archived: true }),
      ],
      [found('d')],
    );
    const keys = (more: Partial<typeof all>) => narrow(listed, { ...all, ...more }, now.getTime()).map(({ key }) => key);
    expect(keys({ chosen: { ...all.chosen, agent: new Set(['codex']) } })).toEqual(['/home/d.jsonl']);
    expect(keys({ chosen: { ...all.chosen, model: new Set(['opus']) } })).toEqual(['a']);
    expect(keys({ days: 7 })).toEqual(['a', '/home/d.jsonl']);
    expect(keys({ archived: true })).toEqual(['c']);
    expect(countValues(listed, 'agent')).toEqual([
      ['claude-code', 3],
      ['codex', 1],
    ]);
  });

  test('sorts by any column, pinned first, and what is not known last', () => {
    const cost = (amount: number) => ({ amount, currency: 'USD', priceDate: '2026-01-01' });
    const listed = joinSessions([session('a', { cost: cost(1) }), session('b'), session('c', { cost: cost(3) }), session('d', { pinned: true })], []);
    expect(sorted(listed, { by: 'cost', ascending: false }).map(({ key }) => key)).toEqual(['d', 'c', 'a', 'b']);
    expect(sorted(listed, { by: 'cost', ascending: true }).map(({ key }) => key)).toEqual(['d', 'a', 'c', 'b']);
    expect(arrangeRows(listed, { by: 'cost', ascending: true }, new Set(), now).every((row) => row.kind === 'session')).toBe(true);
  });
});

test('a snippet begins shortly before the words that were sought', () => {
  expect(fromWords('it was the first of many, and the shadow branch came last', 'Shadow branch')).toBe('and the shadow branch came last');
  expect(fromWords('shadow branch', 'shadow branch')).toBe('shadow branch');
  expect(fromWords('one word of two: the branch, later a shadow', 'shadow branch')).toBe('later a shadow');
  expect(fromWords(`${'x'.repeat(40)}shadow`, 'shadow')).toBe('shadow');
  expect(fromWords('stemmed words stand elsewhere', 'word of it')).toBe('stemmed words stand elsewhere');
});

test('a list of many sessions is whole once its older pages have arrived, each session once', () => {
  const rows = Array.from({ length: 600 }, (_, n) => session(`s${n}`));
  const first = { total: 600, sessions: rows.slice(0, 500) };
  expect(joinPages(first, undefined)).toEqual({ ...first, isWhole: false });
  // The session s499 was in the first page, too, when that was read.
  expect(joinPages(first, { total: 600, sessions: rows.slice(499) })).toEqual({ total: 600, sessions: rows, isWhole: true });
  const few = { total: 2, sessions: rows.slice(0, 2) };
  expect(joinPages(few, undefined)).toEqual({ ...few, isWhole: true });
  // Most of the sessions were deleted.
  expect(joinPages(few, { total: 600, sessions: rows.slice(500) })).toEqual({ ...few, isWhole: true });
});

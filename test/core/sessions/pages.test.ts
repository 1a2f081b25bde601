import { join } from 'node:path';
import { expect, test } from 'vitest';
import { toTimestamp } from '../../../src/core/base/index.js';
import { addCommit, dropRunSums, fork, storeRunSums, type WriteChain } from '../../../src/core/chain/index.js';
import type { InputOf } from '../../../src/core/contract/index.js';
import { changeSession, deleteSession, listSessions } from '../../../src/core/sessions/index.js';
import { prompt } from '../../support/claude-lines.js';
import { importInto } from '../../support/imports.js';
import { emptyChain } from '../../support/project.js';
import { countingReads } from '../../support/reads.js';

const root = join(import.meta.dirname, '../../..');
const folders = ['resources/sample/larder', 'test/fixtures/cases', 'test/fixtures/subagents', 'test/fixtures/claude-code', 'test/fixtures/codex'];

/** Stores a history whose commits are of these sessions, and returns its last commit. */
function history(chain: WriteChain, number: number, sessions: readonly (string | null)[]): ReturnType<typeof addCommit> | null {
  const { no, ref } = chain.artifacts.put(Buffer.from(prompt(`p${number}`, `Prompt ${number}`)), { contentType: 'application/x-ndjson' });
  return sessions.reduce<ReturnType<typeof addCommit> | null>(
    (parent, sessionId, at) =>
      addCommit(chain, {
        ...{
          parent,
          type: 'delta',
          artifact: no,
          ref,
          format: 'claude-code-v1',
          template: 'claude-code',

          checkpoint: 'turn_boundary',
        },
        ...{ sessionId: sessionId ?? undefined, messageCount: 1, tokenCount: 4, errors: 0, entries: 1, forked: false, summary: `Prompt ${number}` },
        createdAt: toTimestamp(Date.parse('2025-10-01T00:00:00.000Z') + number * 60_000 + at * 1_000),
      }),
    null,
  );
}

/** Histories of several agents: forks, subagents, copies, sessions that go on from others, and marks of a person. */
function varied(): WriteChain {
  const chain = emptyChain();
  for (const folder of folders) importInto(chain, join(root, folder));
  for (let number = 0; number < 8; number++) history(chain, number, [`plain-${number}`, `plain-${number}`]);
  history(chain, 8, ['two', 'sessions']);
  history(chain, 6, ['named', ...Array<null>(90).fill(null)]);
  history(chain, 10, [null, null]);
  const forked = history(chain, 1, ['forked', 'forked']);
  if (forked) fork(chain, { id: forked.id, edits: [{ op: 'append', entry: { role: 'user', kind: 'text', text: 'Do it another way.' } }] });
  changeSession(chain, { sessionId: 'plain-2', archived: true }, {});
  changeSession(chain, { sessionId: 'plain-3', pinned: true }, {});
  const [first, second, third, fourth] = listSessions(chain, {}).sessions.filter(
    ({ turns, branches, sources, parentSessionId }) => turns > 1 && branches === 1 && sources === 1 && !parentSessionId,
  );
  if (!first || !second || !third || !fourth) throw new Error('The fixtures have too few sessions.');
  deleteSession(chain, { sessionId: fourth.sessionId, deleted: true });
  changeSession(chain, { sessionId: first.sessionId, pinned: true }, {});
  changeSession(chain, { sessionId: second.sessionId, archived: true }, {});
  changeSession(chain, { sessionId: third.sessionId, tags: ['queue'] }, {});
  return chain;
}

const queries: readonly InputOf<'session.list'>[] = [
  {},
  { ascending: true },
  { sort: 'cost' },
  { filter: { pinned: true } },
  { filter: { pinned: false } },
  { filter: { archived: true } },
  { filter: { tag: 'queue' } },
  { filter: { from: '2026-02-01T00:00:00.000Z' as never } },
  { filter: { to: '2026-02-01T00:00:00.000Z' as never }, ascending: true },
  { filter: { agent: 'codex' } },
];

test('[T42] pages of sessions are those of the whole list, with stored sums and without', { tags: 'long' }, () => {
  const chain = varied();
  const compare = (): void => {
    for (const query of queries) {
      const whole = listSessions(chain, query);
      expect(whole.total).toBe(whole.sessions.length);
      const live = new Set(whole.sessions.slice(0, 3).flatMap(({ tips }) => tips));
      const shown = listSessions(chain, query, { live }).sessions;
      for (const limit of [3, 7, 100]) {
        const pages = Array.from({ length: Math.ceil(whole.total / limit) }, (_, page) =>
          listSessions(chain, { ...query, offset: page * limit, limit }, { live }),
        );
        expect(pages.flatMap(({ sessions }) => sessions)).toEqual(shown);
        for (const { total } of pages) expect(total).toBe(whole.total);
      }
    }
  };
  expect(listSessions(chain, {}).total).toBeGreaterThan(30);
  compare();
  for (const _ of storeRunSums(chain, 0));
  compare();
  dropRunSums(chain);
  compare();
});

test('[T42] a page of sessions reads the commits of its sessions only', () => {
  const chain = emptyChain();
  for (let number = 0; number < 20; number++) history(chain, number, [`plain-${number}`, `plain-${number}`]);
  const statementsFor = (query: InputOf<'session.list'>): number => {
    const counted = countingReads(chain);
    listSessions(counted.chain, query);
    return counted.reads.statements;
  };
  expect(statementsFor({ limit: 1 })).toBeLessThan(statementsFor({}) / 2);
});

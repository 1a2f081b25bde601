import { join } from 'node:path';
import { expect, test } from 'vitest';
import { analysisIsDue, catchUpAnalysis } from '../../../src/core/analysis/index.js';
import { atOnce, toTimestamp } from '../../../src/core/base/index.js';
import { addCommit, fork, graphMap, graphMapIsDue, storeGraphMap, tips, type WriteChain } from '../../../src/core/chain/index.js';
import type { InputOf } from '../../../src/core/contract/index.js';
import { changeBranch, changeSession, deleteSession, listSessions, titledGraph } from '../../../src/core/sessions/index.js';
import { prompt } from '../../support/claude-lines.js';
import { importInto } from '../../support/imports.js';
import { emptyChain } from '../../support/project.js';
import { countingReads } from '../../support/reads.js';

const fixtures = join(import.meta.dirname, '../../fixtures');

/** Stores a history of a session with these prompts. */
function history(chain: WriteChain, sessionId: string, prompts: number): void {
  const { no, ref } = chain.artifacts.put(Buffer.from(prompt('p', 'Do it')), { contentType: 'application/x-ndjson' });
  let parent: ReturnType<typeof addCommit> | null = null;
  for (let at = 0; at < prompts; at++)
    parent = addCommit(chain, {
      ...{ parent, type: 'delta', artifact: no, ref, format: 'claude-code-v1', template: 'claude-code', checkpoint: 'turn_boundary', sessionId },
      ...{ messageCount: 1, tokenCount: 4, errors: 0, entries: 1, forked: false, summary: `Do ${sessionId}` },
      createdAt: toTimestamp(Date.parse('2025-10-01T00:00:00.000Z') + at * 1_000),
    });
}

const queries: readonly InputOf<'session.list'>[] = [
  { limit: 10, sort: 'cost' },
  { limit: 10, sort: 'title' },
  { limit: 10, filter: { text: 'do' } },
  { limit: 10, filter: { agent: 'claude-code' } },
  { limit: 10 },
  { limit: 5, offset: 5, sort: 'errors', ascending: true },
];

const readsOf = (chain: WriteChain, query: InputOf<'session.list'>) => {
  const counted = countingReads(chain);
  listSessions(counted.chain, query);
  return counted.reads;
};

test('[T42] a list in any order and with any filter reads no commit of stored sessions', () => {
  const [few, many] = [emptyChain(), emptyChain()];
  for (let number = 0; number < 12; number++) history(few, `s${number}`, 2);
  for (let number = 0; number < 48; number++) history(many, `s${number}`, 10);
  for (const chain of [few, many]) atOnce(catchUpAnalysis(chain));
  for (const query of queries) {
    expect(readsOf(many, query).statements).toBe(readsOf(few, query).statements);
    // Per session: its place in the order.
    expect(readsOf(many, query).rows).toBeLessThan(48 + 40);
  }
});

test('[T42] stored sessions are those that are read from the commits, after every change', { tags: 'long' }, () => {
  const chain = emptyChain();
  for (const folder of ['cases', 'subagents', 'claude-code', 'codex']) importInto(chain, join(fixtures, folder));
  history(chain, 'plain', 3);
  const compare = (): void => {
    atOnce(catchUpAnalysis(chain));
    expect(analysisIsDue(chain)).toBe(false);
    const answers = () => [
      ...[{}, ...queries].map((query) => listSessions(countingReads(chain).chain, query)),
      titledGraph(countingReads(chain).chain, { offset: 0, limit: 5_000, together: true }, () => []).rows.map(({ commit, tipOf }) => [
        commit.id,
        tipOf,
      ]),
    ];
    const stored = answers();
    chain.db.run("UPDATE sessionCluster SET mark = 'other'");
    chain.db.run("DELETE FROM derivedProgress WHERE name = 'usage sessions'");
    expect(stored).toEqual(answers());
    atOnce(catchUpAnalysis(chain));
  };
  compare();
  const [first, second, third] = listSessions(chain, {}).sessions.filter(({ turns, parentSessionId }) => turns > 1 && !parentSessionId);
  if (!first || !second || !third) throw new Error('The fixtures have too few sessions.');
  const changes: readonly (() => unknown)[] = [
    () => changeSession(chain, { sessionId: first.sessionId, title: 'Renamed', tags: ['one'], pinned: true }, {}),
    () => changeSession(chain, { sessionId: second.sessionId, archived: true }, {}),
    () => deleteSession(chain, { sessionId: third.sessionId, deleted: true }),
    () => deleteSession(chain, { sessionId: third.sessionId, deleted: false }),
    () => fork(chain, { id: first.tips[0] as never, edits: [{ op: 'append', entry: { role: 'user', kind: 'text', text: 'Again' } }] }),
    () => changeBranch(chain, { commit: tips(chain, { sessionId: first.sessionId })[0]?.id as never, archived: true }),
    () => history(chain, 'plain', 5),
    () => importInto(chain, join(fixtures, 'usage')),
  ];
  for (const change of changes) {
    change();
    compare();
  }
});

test('[T42] a change stores the sessions of its own cluster anew, and no others', () => {
  const chain = emptyChain();
  for (let number = 0; number < 30; number++) history(chain, `s${number}`, 2);
  atOnce(catchUpAnalysis(chain));
  chain.db.run("UPDATE sessionCluster SET rules = 'applied'");
  history(chain, 'new', 2);
  changeSession(chain, { sessionId: 's3', title: 'Renamed' }, {});
  atOnce(catchUpAnalysis(chain));
  const anew = chain.db.all<{ session: string }>(
    'SELECT s.session FROM sessionCluster k JOIN usageSession s ON s.cluster = k.run WHERE k.rules IS NULL ORDER BY 1',
  );
  expect(anew.map(({ session }) => session)).toEqual(['new', 's3']);
});

test('[T42] a stored graph is the one that is read from the commits, after every change', { tags: 'long' }, () => {
  const chain = emptyChain();
  for (const folder of ['cases', 'subagents', 'claude-code', 'codex']) importInto(chain, join(fixtures, folder));
  for (let number = 0; number < 20; number++) history(chain, `s${number}`, 3);
  const mapOf = (): { readonly map: ReturnType<typeof graphMap>; readonly statements: number } => {
    const counted = countingReads(chain);
    return { map: graphMap(counted.chain, { together: true }), statements: counted.reads.statements };
  };
  const compare = (): { readonly readStatements: number; readonly storedStatements: number } => {
    const read = mapOf();
    atOnce(storeGraphMap(chain));
    const stored = mapOf();
    expect(stored.map).toEqual(read.map);
    expect(graphMapIsDue(chain)).toBe(false);
    return { readStatements: read.statements, storedStatements: stored.statements };
  };
  const { readStatements, storedStatements } = compare();
  expect(storedStatements).toBeLessThan(readStatements / 4);
  const [first, second] = listSessions(chain, {}).sessions.filter(({ turns, parentSessionId }) => turns > 1 && !parentSessionId);
  if (!first || !second) throw new Error('The fixtures have too few sessions.');
  const changes: readonly (() => unknown)[] = [
    () => deleteSession(chain, { sessionId: first.sessionId, deleted: true }),
    () => deleteSession(chain, { sessionId: first.sessionId, deleted: false }),
    () => changeSession(chain, { sessionId: second.sessionId, archived: true }, {}),
    () => fork(chain, { id: first.tips[0] as never, edits: [{ op: 'append', entry: { role: 'user', kind: 'text', text: 'Again' } }] }),
    () => history(chain, 's3', 2),
    () => importInto(chain, join(fixtures, 'usage')),
  ];
  for (const change of changes) {
    change();
    compare();
  }
});

import { join } from 'node:path';
import { expect, test } from 'vitest';
import { fork, tips, update, type WriteChain } from '../../../src/core/chain/index.js';
import { derive } from '../../../src/core/project/upkeep.js';
import { changeBranch, changeSession, deleteSession, listSessions, pageIsDue, titledGraph } from '../../../src/core/sessions/index.js';
import { unstoredWindows } from '../../../src/core/usage/index.js';
import { importInto } from '../../support/imports.js';
import { emptyChain } from '../../support/project.js';
import { countingReads } from '../../support/reads.js';

const fixtures = join(import.meta.dirname, '../../fixtures');
const pageOf = (chain: WriteChain, limit = 200) => titledGraph(countingReads(chain).chain, { offset: 0, limit }, unstoredWindows);

test('[T36] the stored first page of the graph is the one that is read, after every change', () => {
  const chain = emptyChain();
  for (const folder of ['subagents', 'claude-code']) importInto(chain, join(fixtures, folder));
  const [first, second, third] = listSessions(chain, {}).sessions.filter(({ turns, parentSessionId }) => turns > 1 && !parentSessionId);
  const [tip] = tips(chain, {});
  if (!first || !second || !third || !tip) throw new Error('The fixtures have too few sessions.');
  const changes: readonly (() => unknown)[] = [
    () => undefined,
    () => changeSession(chain, { sessionId: first.sessionId, title: 'Renamed' }, {}),
    () => changeSession(chain, { sessionId: second.sessionId, archived: true }, {}),
    () => deleteSession(chain, { sessionId: third.sessionId, deleted: true }),
    () => fork(chain, { id: tip.id, edits: [{ op: 'append', entry: { role: 'user', kind: 'text', text: 'Again' } }] }),
    () => changeBranch(chain, { commit: tip.id, title: 'Mine' }),
    () => update(chain, tip.id, { summary: 'Another summary' }),
    () => importInto(chain, join(fixtures, 'codex')),
  ];
  for (const change of changes) {
    change();
    for (const _ of derive(chain));
    expect(pageIsDue(chain)).toBe(false);
    const stored = pageOf(chain);
    expect(pageOf(chain, 3)).toEqual({ ...stored, rows: stored.rows.slice(0, 3) });
    chain.db.run("DELETE FROM graphGroup WHERE name = 'page'");
    expect(pageIsDue(chain)).toBe(true);
    expect(stored).toEqual(pageOf(chain));
  }
});

test('[T36] the stored first page is not shown once a commit in it is damaged', () => {
  const chain = emptyChain();
  importInto(chain, join(fixtures, 'claude-code'));
  for (const _ of derive(chain));
  const [row] = pageOf(chain).rows;
  chain.db.run('UPDATE commits SET rowSum = rowSum + 1 WHERE id = ?', row?.commit.id ?? '');
  expect(pageOf(chain).rows[0]?.commit).toMatchObject({ damaged: true });
});

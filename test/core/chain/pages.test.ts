import '../../support/properties.js';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { CommitSeq, Timestamp } from '../../../src/core/base/index.js';
import { addCommit, graph, graphMap, layOut, runSumsAreDue, storeRunSums, type WriteChain } from '../../../src/core/chain/index.js';
import { answer } from '../../support/claude-lines.js';
import { emptyChain } from '../../support/project.js';
import { countingReads } from '../../support/reads.js';

type Made = ReturnType<typeof addCommit>;

let contents = 0;

function add(chain: WriteChain, parent: Made | null, at: number, more: { readonly forked?: boolean; readonly sessionId?: string } = {}): Made {
  return chain.artifacts.transaction(() => {
    const text = answer(`a${contents++}`, 'Done.');
    const { no, ref } = chain.artifacts.put(Buffer.from(text), { contentType: 'application/x-ndjson' });
    return addCommit(chain, {
      ...{ parent, artifact: no, ref, type: 'delta', format: 'claude-code-v1', template: 'claude-code', checkpoint: 'turn_boundary' },
      ...{ messageCount: 1, tokenCount: 10, errors: 0, entries: 1, forked: more.forked ?? false, sessionId: more.sessionId },
      createdAt: new Date(1_700_000_000_000 + at * 1_000).toISOString() as Timestamp,
    });
  });
}

/** Sessions one after the other, each with a branch. */
function sessions(chain: WriteChain, count: number, turns: number): void {
  for (let session = 0; session < count; session++) {
    let parent: Made | null = null;
    let middle: Made | null = null;
    for (let turn = 0; turn < turns; turn++) {
      parent = add(chain, parent, session * 1_000 + turn, { sessionId: `s${session}` });
      if (turn === 1) middle = parent;
    }
    add(chain, middle, session * 1_000 + turns, { sessionId: `s${session}` });
  }
}

/** The layout of all commits at once. */
function whole(chain: WriteChain, together: boolean) {
  const nodes = chain.db
    .all<{ seq: CommitSeq; parent: CommitSeq | null; createdAt: number; forked: number; startedBy: CommitSeq | null }>(
      `SELECT seq, parent, createdAt, forked, (SELECT r.context FROM started s JOIN record r ON r.record = 'call:' || s.toolCallId WHERE s.context = seq) AS startedBy
         FROM commits ORDER BY seq`,
    )
    .map(({ forked, startedBy, ...node }) => ({ ...node, forked: forked === 1, ...(startedBy !== null && { startedBy }) }));
  return layOut(nodes, { together }).rows(0, nodes.length);
}

const seqOf = (chain: WriteChain, id: string): number => chain.db.one<{ seq: number }>('SELECT seq FROM commits WHERE id = ?', id)?.seq ?? 0;

const plans = fc.array(
  fc.record({
    parent: fc.option(fc.nat(), { freq: 3 }),
    at: fc.integer({ min: 0, max: 60 }),
    forked: fc.boolean(),
    starter: fc.option(fc.nat(), { freq: 2 }),
  }),
  { minLength: 1, maxLength: 40 },
);

/** The lane of each row in the map of a graph. */
const lanesIn = ({ rows, lanes }: ReturnType<typeof graphMap>): number[] => rows.flatMap((count, at) => Array<number>(count).fill(lanes[at] ?? -1));

test('[C34] the pages of a graph are the rows of the layout of all commits', { tags: 'long' }, () => {
  fc.assert(
    fc.property(plans, fc.boolean(), fc.integer({ min: 1, max: 9 }), fc.boolean(), (plan, together, size, isStored) => {
      const chain = emptyChain();
      const made: Made[] = [];
      for (const { parent, at, forked, starter } of plan) {
        const before = parent === null || made.length === 0 ? null : (made[parent % made.length] as Made);
        const commit = add(chain, before, at, { forked: forked && before !== null });
        if (before === null && starter !== null && made.length > 0) {
          const by = made[starter % made.length] as Made;
          chain.db.run('INSERT INTO started (context, project, toolCallId) VALUES (?, ?, ?)', commit.seq, chain.project, `t${commit.seq}`);
          chain.db.run('INSERT INTO record (project, record, context) VALUES (?, ?, ?)', chain.project, `call:t${commit.seq}`, by.seq);
        }
        made.push(commit);
      }
      if (isStored) for (const _ of storeRunSums(chain, 0));
      const expected = whole(chain, together);
      const rows = [];
      for (let offset = 0; offset < plan.length; offset += size) rows.push(...graph(chain, { offset, limit: size, together }).rows);
      const drawn = rows.map(({ commit, lane, edges, width }) => ({ seq: seqOf(chain, commit.id), lane, edges, width }));
      // Families whose newest rows have the same time may stand in either order.
      const sorted = <Row extends { seq: number }>(list: readonly Row[]): Row[] => (together ? list.toSorted((a, b) => a.seq - b.seq) : [...list]);
      expect(sorted(drawn)).toEqual(sorted(expected.map(({ start: _, ...row }) => row)));
      expect(lanesIn(graphMap(chain, { together }))).toEqual(rows.map(({ lane }) => lane));
    }),
    { numRuns: 60 },
  );
});

test('[C34] a page reads the sessions that it shows, whatever the project holds', { tags: 'long' }, () => {
  const read = (count: number, isStored: boolean): number => {
    const chain = emptyChain();
    sessions(chain, count, 12);
    if (isStored) for (const _ of storeRunSums(chain, 0));
    const { chain: counted, reads } = countingReads(chain);
    expect(graph(counted, { offset: 0, limit: 20, together: true }).rows).toHaveLength(20);
    return reads.rows;
  };
  // Only the sums of the runs are read for the other sessions: two for each session, and their origins.
  expect(read(60, true) - read(6, true)).toBeLessThanOrEqual(54 * 4);
  expect(read(6, true)).toBeLessThan(200);
});

test('[C34] after a new commit, only its session is read again', () => {
  const chain = emptyChain();
  sessions(chain, 40, 12);
  const { chain: counted, reads } = countingReads(chain);
  graph(counted, { offset: 0, limit: 20, together: true });
  graphMap(counted, { together: true });
  const before = { ...reads };
  add(chain, null, 50_000);
  expect(graph(counted, { offset: 0, limit: 5, together: true }).total).toBe(40 * 13 + 1);
  graphMap(counted, { together: true });
  expect(reads.rows - before.rows).toBeLessThan(100);
});

test('[C34] stored sums of runs that are wrong are not used', () => {
  const chain = emptyChain();
  sessions(chain, 3, 5);
  for (const _ of storeRunSums(chain, 0));
  expect(runSumsAreDue(chain)).toBe(false);
  chain.db.run('DELETE FROM runSum WHERE run = 1');
  expect(graph(countingReads(chain).chain, { offset: 0, limit: 100 }).rows).toHaveLength(18);
});

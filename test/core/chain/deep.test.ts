import { mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { describe, expect, test } from 'vitest';
import { type ArtifactNo, atOnce, type ContextId } from '../../../src/core/base/index.js';
import {
  assemble,
  checkpoint,
  compact,
  findCommit,
  fork,
  keepRestPoints,
  materialize,
  materializedBytes,
  readMaterialized,
  remakeSnapshot,
  type WriteChain,
  walk,
} from '../../../src/core/chain/index.js';
import { requireFormat } from '../../../src/core/formats/index.js';
import { prompt } from '../../support/claude-lines.js';
import { emptyChain, emptyProject } from '../../support/project.js';
import { countingReads } from '../../support/reads.js';
import { refusal } from '../../support/refusal.js';

const delta = (text: string) => ({ type: 'delta', format: 'claude-code-v1', text, template: 't', checkpoint: 'turn_boundary' }) as const;

function grow(chain: WriteChain, from: ContextId | null, count: number, name: string, more = ''): ContextId[] {
  const ids: ContextId[] = [];
  chain.artifacts.transaction(() => {
    for (let turn = 0; turn < count; turn++)
      ids.push(
        checkpoint(chain, {
          // Every other delta lacks its last newline, which concatenation must add.
          ...delta(prompt(`${name}${turn}`, `${name} ${turn}${more}`).slice(0, turn % 2 ? -1 : undefined)),
          parent: ids.at(-1) ?? from,
          messageCount: 1,
          tokenCount: 2,
        }).id,
      );
  });
  return ids;
}

const whole = (chain: WriteChain, id: ContextId): string =>
  Buffer.from(assemble(chain, walk(chain, findCommit(chain, id), 'root'), requireFormat('claude-code-v1')).bytes).toString();
const kept = (chain: WriteChain, id: ContextId): string => Buffer.from(materializedBytes(chain, { id, stop: 'root' }).bytes).toString();

/** The same chain, and how many deltas each result read. */
function watched(chain: WriteChain): { readonly chain: WriteChain; readonly read: number[] } {
  const read: number[] = [];
  const readInTurn = (nos: readonly ArtifactNo[]): Iterable<Uint8Array> => {
    read.push(nos.length);
    return chain.artifacts.readInTurn(nos);
  };
  return { chain: { ...chain, artifacts: { ...chain.artifacts, readInTurn } }, read };
}

describe('deep chains', () => {
  test('[C20] building from an earlier result gives the same bytes as the whole walk', () => {
    const chain = emptyChain();
    const main = grow(chain, null, 300, 'm');
    const at = (place: number): ContextId => main.at(place) as ContextId;
    const branch = grow(chain, at(180), 90, 'b');
    for (const id of [at(150), at(151), at(299), branch.at(-1) as ContextId, at(20), at(298)]) expect(kept(chain, id)).toBe(whole(chain, id));
    const cut = fork(chain, { id: at(299), at: 'm200.0' as never, edits: [{ op: 'append', entry: { role: 'user', kind: 'text', text: 'other' } }] });
    expect(kept(chain, cut.id)).toBe(whole(chain, cut.id));
  });

  test('[C20] an earlier result read in several parts keeps its lines', () => {
    const chain = emptyChain();
    const ids = grow(chain, null, 200, 'm', ' and so on'.repeat(2_000));
    const at = (place: number): ContextId => ids.at(place) as ContextId;
    expect(kept(chain, at(150)).length).toBeGreaterThan(2_500_000);
    expect(kept(chain, at(199)) === whole(chain, at(199))).toBe(true);
  });

  test('[C20] a dropped cache is rebuilt from the deltas', () => {
    const chain = emptyChain();
    const ids = grow(chain, null, 200, 'm');
    kept(chain, ids[100] as ContextId);
    const before = kept(chain, ids[199] as ContextId);
    const rows = chain.db.all<{ artifact: number }>('SELECT artifact FROM materialized');
    for (const { artifact } of rows) expect(remakeSnapshot(chain, artifact as never)).toBeDefined();
    for (const step of chain.artifacts.gc({ roots: [], budgetBytes: 0 })) expect(step).toBeUndefined();
    expect(kept(chain, ids[199] as ContextId)).toBe(before);
  });

  test('[C2] a chain of 5,000 commits can be walked, materialized and forked', { tags: 'long' }, () => {
    const chain = emptyChain();
    const ids = grow(chain, null, 5_000, 'm');
    expect(new Set(ids).size).toBe(5_000);
    expect(materializedBytes(chain, { id: ids.at(-1) as ContextId }).bytes.length).toBeGreaterThan(5_000 * 100);
    expect(fork(chain, { id: ids.at(-1) as ContextId, at: 'm5.0' as never }).parent).toBe(ids[4]);
  });

  test('[C23] long chains cache results; later commits and forks start from the nearest', () => {
    const { chain, dir } = emptyProject();
    const ids = grow(chain, null, 300, 'm');
    const limits = { commits: 32, tokens: 1_000_000 };
    expect(atOnce(keepRestPoints(chain, limits))).toBe(4);
    const restAt = chain.db.all<{ id: ContextId }>('SELECT c.id FROM materialized m JOIN commits c ON c.seq = m.context').map(({ id }) => id);
    expect(restAt).toEqual([32, 64, 128, 256].map((depth) => ids[depth]));
    // A second pass does not scan these commits again.
    expect(atOnce(keepRestPoints(chain, limits))).toBe(0);

    const { chain: counted, read } = watched(chain);
    const branch = grow(chain, ids[200] as ContextId, 3, 'b').at(-1) as ContextId;
    for (const [stop, from] of [
      ['root', 128],
      ['compaction', 128],
    ] as const) {
      const { bytes } = materializedBytes(counted, { id: branch, stop });
      expect([stop, Buffer.from(bytes).toString() === whole(chain, branch)]).toEqual([stop, true]);
      expect([stop, read.splice(0)]).toEqual([stop, [200 + 3 - from]]);
      chain.db.run('DELETE FROM materialized WHERE context = (SELECT seq FROM commits WHERE id = ?)', branch);
    }
    // With the nearest result dropped, reading starts from the one before it. Reading the dropped one rebuilds it.
    const rest = chain.db.one<{ artifact: ArtifactNo }>(
      'SELECT m.artifact FROM materialized m JOIN commits c ON c.seq = m.context WHERE c.id = ?',
      ids[128] ?? '',
    );
    const before = chain.artifacts.read(rest?.artifact as ArtifactNo);
    rmSync(join(dir, 'objects', 'snapshots', chain.artifacts.stat(rest?.artifact as ArtifactNo).ref.slice('blake3:'.length)));
    expect(kept(counted, branch) === whole(chain, branch)).toBe(true);
    expect(read.splice(0)).toEqual([200 + 3 - 128, 200 + 3 - 64]);
    expect(Buffer.from(chain.artifacts.read(rest?.artifact as ArtifactNo)).equals(before)).toBe(true);
  });

  test('[C23] a commit after a cached result is materialized without a walk to the root', () => {
    const made = emptyChain();
    const ids = grow(made, null, 600, 'm');
    atOnce(keepRestPoints(made, { commits: 32, tokens: 1_000_000 }));
    const id = ids.at(-1) as ContextId;
    const { chain, reads } = countingReads(made);
    const { commits, messageCount, tokenCount } = readMaterialized(chain, { id });
    expect([reads.rows < 400, commits, messageCount, tokenCount]).toEqual([true, ids, 600, 1_200]);
  });

  test('[S15] a result that continues an earlier one verifies the commits before it', () => {
    const { chain: made, dir } = emptyProject();
    const ids = grow(made, null, 300, 'm');
    const id = grow(made, ids[280] as ContextId, 3, 'b').at(-1) as ContextId;
    atOnce(keepRestPoints(made, { commits: 32, tokens: 1_000_000 }));
    const other = new Database(join(dir, 'stemma.db'));
    // Another program has none of the functions that keep checksums. The id of a commit does not cover its errors.
    other.prepare('UPDATE commits SET errors = 7 WHERE id = ?').run(ids[10]);
    expect(readMaterialized(made, { id }).commits).toHaveLength(284);
    const change = other.prepare('UPDATE commits SET id = ? WHERE id = ?');
    const changed = `${(ids[10] as ContextId).slice(0, -1)}${ids[10]?.endsWith('0') ? '1' : '0'}`;
    change.run(changed, ids[10]);
    expect(refusal(() => readMaterialized(made, { id }))).toEqual(expect.objectContaining({ code: 'CORRUPT' }));
    expect(refusal(() => materializedBytes(made, { id }))).toEqual(expect.objectContaining({ code: 'CORRUPT' }));
    change.run(ids[10], changed);
    other.pragma('foreign_keys = OFF');
    other.prepare('DELETE FROM commits WHERE id = ?').run(ids[10]);
    other.close();
    expect(refusal(() => readMaterialized(made, { id }))).toEqual(expect.objectContaining({ code: 'CORRUPT' }));
  });

  test('[C23] a result of the whole chain after a compaction starts from an earlier one', () => {
    const made = emptyChain();
    const ids = grow(made, null, 200, 'm');
    const first = ids.at(-1) as ContextId;
    kept(made, first);
    materialize(made, { id: first, stop: 'root' });
    const tip = grow(made, compact(made, first, 'the summary').id, 5, 'n').at(-1) as ContextId;
    const { chain, read } = watched(made);
    expect(kept(chain, tip) === whole(made, tip)).toBe(true);
    expect(read).toEqual([5]);
  });

  test('[C23] few of many earlier results are verified, and the chain is walked once', () => {
    const { chain: made, dir } = emptyProject();
    const ids = grow(made, null, 300, 'm');
    for (const id of ids.slice(100, 299)) materialize(made, { id, stop: 'root' });
    const { chain, reads } = countingReads(made);
    rmSync(join(dir, 'objects', 'snapshots'), { recursive: true });
    mkdirSync(join(dir, 'objects', 'snapshots'));
    expect(kept(chain, ids[299] as ContextId) === whole(made, ids[299] as ContextId)).toBe(true);
    expect(reads.rows).toBeLessThan(400);
  });

  test('[C23] short walks are not cached; large deltas count by their tokens', () => {
    const chain = emptyChain();
    const ids = grow(chain, null, 100, 'm');
    const after = grow(chain, compact(chain, ids[99] as ContextId, 'the summary').id, 40, 'n');
    expect(atOnce(keepRestPoints(chain, { commits: 64, tokens: 1_000_000 }))).toBe(1);
    const large = checkpoint(chain, { ...delta(prompt('l', 'many words '.repeat(2_000))), parent: after.at(-1) as ContextId });
    const next = checkpoint(chain, { ...delta(prompt('k', 'few')), parent: large.id });
    expect(atOnce(keepRestPoints(chain, { commits: 1_000, tokens: 4_096 }))).toBe(1);
    expect(chain.db.all('SELECT c.id FROM materialized m JOIN commits c ON c.seq = m.context WHERE c.depth > 100')).toEqual([{ id: large.id }]);
    expect(kept(chain, next.id) === whole(chain, next.id)).toBe(true);
  });
});

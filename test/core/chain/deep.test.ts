import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { type ArtifactNo, atOnce, type ContextId } from '../../../src/core/base/index.js';
import {
  assemble,
  checkpoint,
  compact,
  findCommit,
  fork,
  keepRestPoints,
  materializedBytes,
  remakeSnapshot,
  type WriteChain,
  walk,
} from '../../../src/core/chain/index.js';
import { requireFormat } from '../../../src/core/formats/index.js';
import { prompt } from '../../support/claude-lines.js';
import { emptyChain, emptyProject } from '../../support/project.js';

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

    const read: number[] = [];
    const watched: WriteChain = {
      ...chain,
      artifacts: {
        ...chain.artifacts,
        readInTurn: (nos) => {
          read.push(nos.length);
          return chain.artifacts.readInTurn(nos);
        },
      },
    };
    const branch = grow(chain, ids[200] as ContextId, 3, 'b').at(-1) as ContextId;
    for (const [stop, from] of [
      ['root', 128],
      ['compaction', 128],
    ] as const) {
      const { bytes } = materializedBytes(watched, { id: branch, stop });
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
    expect(kept(watched, branch) === whole(chain, branch)).toBe(true);
    expect(read.splice(0)).toEqual([200 + 3 - 128, 200 + 3 - 64]);
    expect(Buffer.from(chain.artifacts.read(rest?.artifact as ArtifactNo)).equals(before)).toBe(true);
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

import { describe, expect, test } from 'vitest';
import type { ContextId } from '../../../src/core/base/index.js';
import { assemble, type Chain, checkpoint, commitOf, fork, materializedBytes, remakeSnapshot, walk } from '../../../src/core/chain/index.js';
import { formatOf } from '../../../src/core/formats/index.js';
import { prompt } from '../../support/claude-lines.js';
import { emptyChain } from '../../support/project.js';

function grow(chain: Chain, from: ContextId | null, count: number, name: string, more = ''): ContextId[] {
  const ids: ContextId[] = [];
  chain.artifacts.transaction(() => {
    for (let turn = 0; turn < count; turn++)
      ids.push(
        checkpoint(chain, {
          parent: ids.at(-1) ?? from,
          type: 'delta',
          format: 'claude-code-v1',
          // Every other delta lacks its last newline, which only the whole can set right.
          text: prompt(`${name}${turn}`, `${name} ${turn}${more}`).slice(0, turn % 2 ? -1 : undefined),
          template: 't',
          checkpoint: 'turn_boundary',
          messageCount: 1,
          tokenCount: 2,
        }).id,
      );
  });
  return ids;
}

const whole = (chain: Chain, id: ContextId): string =>
  Buffer.from(assemble(chain, walk(chain, commitOf(chain, id), 'root'), formatOf('claude-code-v1')).bytes).toString();
const kept = (chain: Chain, id: ContextId): string => Buffer.from(materializedBytes(chain, { id, stop: 'root' }).bytes).toString();

describe('deep chains', () => {
  test('[C20] what goes on from an earlier result, its own or a fork’s, is what the whole walk gives', () => {
    const chain = emptyChain();
    const main = grow(chain, null, 300, 'm');
    const at = (place: number): ContextId => main.at(place) as ContextId;
    const branch = grow(chain, at(180), 90, 'b');
    for (const id of [at(150), at(151), at(299), branch.at(-1) as ContextId, at(20), at(298)]) expect(kept(chain, id)).toBe(whole(chain, id));
    const cut = fork(chain, { id: at(299), at: 'm200.0' as never, edits: [{ op: 'append', entry: { role: 'user', kind: 'text', text: 'other' } }] });
    expect(kept(chain, cut.id)).toBe(whole(chain, cut.id));
  });

  test('[C20] an earlier result that is read in several parts is one, and no line of it is broken', () => {
    const chain = emptyChain();
    const ids = grow(chain, null, 200, 'm', ' and so on'.repeat(2_000));
    const at = (place: number): ContextId => ids.at(place) as ContextId;
    expect(kept(chain, at(150)).length).toBeGreaterThan(2_500_000);
    expect(kept(chain, at(199)) === whole(chain, at(199))).toBe(true);
  });

  test('[C20] a dropped cache is made again from the deltas alone', () => {
    const chain = emptyChain();
    const ids = grow(chain, null, 200, 'm');
    kept(chain, ids[100] as ContextId);
    const before = kept(chain, ids[199] as ContextId);
    const rows = chain.db.all<{ artifact: number }>('SELECT artifact FROM materialized');
    for (const { artifact } of rows) expect(remakeSnapshot(chain, artifact as never)).toBeDefined();
    for (const step of chain.artifacts.gc({ roots: [], budgetBytes: 0 })) expect(step).toBeUndefined();
    expect(kept(chain, ids[199] as ContextId)).toBe(before);
  });

  test('[C2] a chain of 5,000 has no limit to run into: walk, materialize, fork, and ids that stay unambiguous', () => {
    const chain = emptyChain();
    const ids = grow(chain, null, 5_000, 'm');
    expect(new Set(ids).size).toBe(5_000);
    expect(materializedBytes(chain, { id: ids.at(-1) as ContextId }).bytes.length).toBeGreaterThan(5_000 * 100);
    expect(fork(chain, { id: ids.at(-1) as ContextId, at: 'm5.0' as never }).parent).toBe(ids[4]);
  }, 60_000);
});

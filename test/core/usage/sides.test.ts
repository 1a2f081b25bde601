import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { fork, tips } from '../../../src/core/chain/index.js';
import { prepareUsage } from '../../../src/core/usage/index.js';
import { usageCalls, usageSides } from '../../support/counted.js';
import { session } from '../../support/counted-lines.js';
import { importInto } from '../../support/imports.js';
import { emptyChain, scratch } from '../../support/project.js';

test('[N12] two branches share what was paid once, and each has its calls since they parted', async () => {
  const chain = emptyChain();
  await prepareUsage(chain);
  const dir = scratch();
  const lines = session('a', 4);
  // Claude Code branches in one file: another prompt after the second reply.
  const [prompt = '', answer = ''] = lines
    .slice(4, 6)
    .map((line) => line.replaceAll('"a-p2"', '"b-p2"').replaceAll('"a-a2"', '"b-a2"').replaceAll('msg_a-a2', 'msg_b'));
  writeFileSync(join(dir, 'session.jsonl'), [...lines, prompt, answer].join(''));
  importInto(chain, join(dir, 'session.jsonl'));
  const ends = tips(chain, {}).map(({ id }) => id);
  expect(ends).toHaveLength(2);
  const [long, short] = ends.toSorted((a, b) => usageCalls(chain, { id: b }).total - usageCalls(chain, { id: a }).total) as [never, never];
  const { shared, sides, base } = usageSides(chain, [long, short]);
  expect([shared.calls, sides[0].calls, sides[1].calls]).toEqual([2, 2, 1]);
  const costOf = (id: never): number => usageCalls(chain, { id }).calls.reduce((sum, { cost }) => sum + (cost?.amount ?? 0), 0);
  expect((shared.cost?.amount ?? 0) + (sides[0].cost?.amount ?? 0)).toBeCloseTo(costOf(long), 9);
  expect((shared.cost?.amount ?? 0) + (sides[1].cost?.amount ?? 0)).toBeCloseTo(costOf(short), 9);

  // A fork without a call of its own has paid nothing.
  const cut = fork(chain, { id: long, edits: [{ op: 'append', entry: { role: 'user', kind: 'text', text: 'more' } }] });
  const forked = usageSides(chain, [cut.id, long]);
  expect(forked.sides.map(({ calls }) => calls)).toEqual([0, 0]);
  expect(forked.shared.calls).toBe(4);
  expect(base).not.toBeNull();
});

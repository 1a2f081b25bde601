import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { beforeAll, expect, test } from 'vitest';
import type { ContextId, EntryKey } from '../../../src/core/base/index.js';
import { type Chain, entries, fork, snapshot, tips } from '../../../src/core/chain/index.js';
import { groupings } from '../../../src/core/contract/index.js';
import { callsByCommit, loadPrices, usageCalls, usageSessions, usageSides } from '../../../src/core/usage/index.js';
import { session } from '../../support/counted-lines.js';
import { importInto } from '../../support/imports.js';
import { emptyChain, scratch } from '../../support/project.js';

beforeAll(loadPrices);

/** Two sessions, of which the second repeats the first turns of the first one under its own id, as a fork of an agent does. */
function twoSessions(turns: number): Chain {
  const one = session('a', turns);
  const forked = [...one.slice(0, 4).map((line) => line.replaceAll('"sessionId":"a"', '"sessionId":"f"')), ...session('f', 2, 'f')];
  const chain = emptyChain();
  for (const [name, lines] of [['one', one] as const, ['two', forked] as const]) {
    const dir = join(scratch(), name);
    mkdirSync(dir);
    writeFileSync(join(dir, 'session.jsonl'), lines.join(''));
    importInto(chain, join(dir, 'session.jsonl'));
  }
  return chain;
}

/** Every sum of a project, by each grouping. */
const sumsOf = (chain: Chain): unknown => ({
  groups: [...groupings, null].map((groupBy) => usageSessions(chain, { groupBy })),
  calls: usageCalls(chain, {}).calls.map(({ requestId }) => requestId),
  cost: callsByCommit(chain).reduce((total, { cost }) => total + cost, 0),
});

/** What a person does with a branch: `branch` and `entry` choose from what exists. */
const step = fc.record({
  branch: fc.nat(100),
  entry: fc.nat(100),
  act: fc.constantFrom('cut', 'replace', 'drop', 'append', 'snapshot'),
});

function take(chain: Chain, branches: ContextId[], { branch, entry, act }: { branch: number; entry: number; act: string }): void {
  const id = branches[branch % branches.length] as ContextId;
  const keys = entries(chain, { id, stop: 'root' }).entries.map(({ key }) => key);
  const key = keys[entry % keys.length] as EntryKey;
  const text = { role: 'user', kind: 'text', text: `step ${branches.length}` } as const;
  if (act === 'snapshot') branches.push(snapshot(chain, id).id);
  else if (act === 'cut') branches.push(fork(chain, { id, at: key }).id);
  else if (act === 'append') branches.push(fork(chain, { id, edits: [{ op: 'append', entry: text }] }).id);
  else branches.push(fork(chain, { id, edits: [act === 'drop' ? { op: 'drop', key } : { op: 'replace', key, entry: text }] }).id);
}

test('[N2, N12] forks of forks add nothing to a sum, and no branch counts a call twice', () => {
  fc.assert(
    fc.property(fc.integer({ min: 2, max: 4 }), fc.array(step, { minLength: 1, maxLength: 6 }), (turns, steps) => {
      const chain = twoSessions(turns);
      const before = sumsOf(chain);
      const branches = tips(chain, {}).map(({ id }) => id);
      for (const each of steps) take(chain, branches, each);
      expect(sumsOf(chain)).toEqual(before);

      const all = new Set(usageCalls(chain, {}).calls.map(({ requestId }) => requestId));
      const ofBranch = new Map(branches.map((id) => [id, usageCalls(chain, { id }).calls] as const));
      for (const calls of ofBranch.values()) {
        expect(new Set(calls.map(({ at, tokens }) => JSON.stringify([at, tokens]))).size).toBe(calls.length);
        expect(calls.length).toBeLessThanOrEqual(all.size);
      }
      // What two branches share and what each has of its own are all of their calls, each once.
      const [first] = branches as [ContextId];
      for (const other of branches) {
        const { shared, sides } = usageSides(chain, [first, other]);
        expect(shared.calls + sides[0].calls).toBe(ofBranch.get(first)?.length);
        expect(shared.calls + sides[1].calls).toBe(ofBranch.get(other)?.length);
      }
    }),
    { numRuns: 12 },
  );
});

import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { beforeAll, expect, test } from 'vitest';
import type { ContextId, EntryKey } from '../../../src/core/base/index.js';
import { entries, familiesOf, fork, outlineRows, snapshot, tips, type WriteChain } from '../../../src/core/chain/index.js';
import { groupings } from '../../../src/core/contract/index.js';
import { catchUpUsage, loadPrices, sumSessions } from '../../../src/core/usage/index.js';
import { callsByCommit, usageCalls, usageSessions, usageSides } from '../../support/counted.js';
import { session } from '../../support/counted-lines.js';
import { importInto } from '../../support/imports.js';
import { emptyChain, scratch } from '../../support/project.js';

beforeAll(() => loadPrices());

/** A session whose replies each say the provider's id of their call. */
const named = (...given: Parameters<typeof session>): string[] =>
  session(...given).map((line) => line.replace('"text":"yes"', `"text":"${(JSON.parse(line) as { message: { id?: string } }).message.id}"`));

/** Lines under other ids and in another session. Their replies are the same calls. */
const copied = (lines: readonly string[], name: string, sessionId: string): string[] =>
  lines.map((line) => line.replaceAll('"a-', `"${name}-`).replace(/"sessionId":"\w+"/, `"sessionId":"${sessionId}"`));

/** A session that ends with its own turns again under new ids, as an agent writes it that repeats its history after a resume. */
function repeated(lines: readonly string[]): string[] {
  const { uuid } = JSON.parse(lines.at(-1) as string) as { uuid: string };
  return [...lines, ...copied(lines, 'again', 'a').map((line) => line.replace('"parentUuid":null', `"parentUuid":"${uuid}"`))];
}

/** Imports files with these lines, in this order, into one new project. */
function imported(files: readonly (readonly string[])[]): WriteChain {
  const chain = emptyChain();
  const dir = scratch();
  for (const [n, lines] of files.entries()) {
    const folder = join(dir, String(n));
    mkdirSync(folder);
    writeFileSync(join(folder, 'session.jsonl'), lines.join(''));
    importInto(chain, join(folder, 'session.jsonl'));
  }
  return chain;
}

/** The calls and tokens of lines, each reply once: read from the lines themselves. */
function countedIn(files: readonly (readonly string[])[]) {
  const replies = new Map<string, Record<string, number>>();
  for (const line of files.flat()) {
    const { message } = JSON.parse(line) as { message: { id?: string; usage?: Record<string, number> } };
    if (message.usage) replies.set(message.id as string, message.usage);
  }
  const sum = (name: string): number => [...replies.values()].reduce((total, usage) => total + (usage[name] as number), 0);
  return {
    calls: replies.size,
    tokens: {
      input: sum('input_tokens'),
      cacheRead: sum('cache_read_input_tokens'),
      cacheWrite: sum('cache_creation_input_tokens'),
      output: sum('output_tokens'),
    },
  };
}

/** The calls whose replies a branch shows. A copy of a reply says the same as the reply. */
const repliesIn = (chain: WriteChain, id: ContextId): Set<string> =>
  new Set(outlineRows(chain, { id, stop: 'root' }).rows.flatMap(({ role, head = '' }) => (role === 'assistant' ? [head] : [])));

const callsIn = (chain: WriteChain, id: ContextId) => usageCalls(chain, { id }).calls;

/** The sums that the imports added up, before a question prices the calls and sums them anew. */
const storedSums = ({ db }: WriteChain): unknown[] =>
  ['usageQuarter', 'usageSum'].map((table) => db.all(`SELECT * FROM ${table} ORDER BY session, agent, subagent, model, quarter`));

/** What each call costs, once all have a price: an import that finds prices itself finds the same. */
function costsIn(chain: WriteChain): unknown[] {
  for (const _ of catchUpUsage(chain));
  return chain.db.all('SELECT call, cost, flaw FROM usageCall ORDER BY call');
}

/** Files about the same calls: a session, a checkpoint of it, a fork that continues, a copy under new ids, and one that repeats itself. */
const files = (turns: number, cut: number) => {
  const one = named('a', turns);
  const forked = [...one.slice(0, 4).map((line) => line.replaceAll('"sessionId":"a"', '"sessionId":"f"')), ...named('f', 2, 'f')];
  return { one, two: named('b', 2), checkpoint: one.slice(0, cut), forked, copy: copied(one, 'copy', 'c'), repeated: repeated(one) };
};
const names = ['one', 'two', 'checkpoint', 'forked', 'copy', 'repeated'] as const;

test('[N2] totals are what the files count, in any order, with checkpoints and copies', { tags: 'long' }, () => {
  const orders = fc.shuffledSubarray([...names], { minLength: 2 }).chain((order) => fc.tuple(fc.constant(order), fc.constantFrom(...order)));
  fc.assert(
    fc.property(fc.integer({ min: 2, max: 3 }), fc.integer({ min: 1, max: 4 }), orders, (turns, cut, [order, again]) => {
      const all = files(turns, cut);
      const some = [...order, again].map((name) => all[name]);
      const chain = imported(some);
      const added = storedSums(chain);
      sumSessions(chain, ['a', 'b', 'c', 'f']);
      expect(added).toEqual(storedSums(chain));
      const found = costsIn(chain);
      chain.db.run('UPDATE usageCall SET cost = NULL, priced = NULL');
      expect(found).toEqual(costsIn(chain));
      const expected = countedIn(some);
      for (const groupBy of [...groupings, null]) expect(usageSessions(chain, { groupBy }).totals).toMatchObject(expected);
      expect(usageCalls(chain, {}).total).toBe(expected.calls);
      for (const { id } of tips(chain, {})) expect(callsIn(chain, id)).toHaveLength(repliesIn(chain, id).size);
    }),
    { numRuns: 8, examples: [[2, 4, [['repeated', 'one'], 'one']]] },
  );
});

/** Every sum of a project, by each grouping. */
const sumsOf = (chain: WriteChain): unknown => ({
  groups: [...groupings, null].map((groupBy) => usageSessions(chain, { groupBy })),
  calls: usageCalls(chain, {}).calls.map(({ requestId }) => requestId),
  cost: callsByCommit(chain, familiesOf(chain).all).reduce((total, { cost }) => total + cost, 0),
});

/** What a person does with a branch: `branch` and `entry` choose from what exists. */
const step = fc.record({
  branch: fc.nat(100),
  entry: fc.nat(100),
  act: fc.constantFrom('cut', 'replace', 'drop', 'append', 'snapshot'),
});

function take(chain: WriteChain, branches: ContextId[], { branch, entry, act }: { branch: number; entry: number; act: string }): void {
  const id = branches[branch % branches.length] as ContextId;
  const keys = entries(chain, { id, stop: 'root' }).entries.map(({ key }) => key);
  const key = keys[entry % keys.length] as EntryKey;
  const text = { role: 'user', kind: 'text', text: `step ${branches.length}` } as const;
  if (act === 'snapshot') branches.push(snapshot(chain, id).id);
  else if (act === 'cut') branches.push(fork(chain, { id, at: key }).id);
  else if (act === 'append') branches.push(fork(chain, { id, edits: [{ op: 'append', entry: text }] }).id);
  else branches.push(fork(chain, { id, edits: [act === 'drop' ? { op: 'drop', key } : { op: 'replace', key, entry: text }] }).id);
}

test('[N2, N12] forks of forks add nothing to a sum, and no branch counts a call twice', { tags: 'long' }, () => {
  fc.assert(
    fc.property(fc.integer({ min: 2, max: 3 }), fc.array(step, { minLength: 1, maxLength: 5 }), (turns, steps) => {
      const { forked, repeated: repeating } = files(turns, 1);
      const chain = imported([repeating, forked]);
      const before = sumsOf(chain);
      const branches = tips(chain, {}).map(({ id }) => id);
      for (const each of steps) take(chain, branches, each);
      expect(sumsOf(chain)).toEqual(before);

      const ofBranch = new Map(branches.map((id) => [id, callsIn(chain, id)] as const));
      for (const [id, calls] of ofBranch) expect(calls).toHaveLength(repliesIn(chain, id).size);
      // What two branches share and what each has of its own are all of their calls, each once.
      const [first] = branches as [ContextId];
      for (const other of branches) {
        const { shared, sides } = usageSides(chain, [first, other]);
        expect(shared.calls + sides[0].calls).toBe(ofBranch.get(first)?.length);
        expect(shared.calls + sides[1].calls).toBe(ofBranch.get(other)?.length);
      }
    }),
    { numRuns: 8 },
  );
});

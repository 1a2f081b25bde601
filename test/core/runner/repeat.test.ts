import { existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { expect, test, vi } from 'vitest';
import type { AgentProgram, MadeFolder, Workshop } from '../../../src/core/project/index.js';
import { cleanUp } from '../../../src/core/runner/index.js';
import { answer } from '../../support/claude-lines.js';
import { door } from '../../support/door.js';
import { model, says } from '../../support/model-of-jobs.js';
import { scratch } from '../../support/project.js';
import { refusalOf } from '../handover/world.js';

const asking = { op: 'append', entry: { role: 'user', kind: 'text', text: 'Fix it.' } };
const prompted = (client: ReturnType<typeof door>['client']) => client.context.fork({ id: null, edits: [asking] as never });

/** A workshop that only notes what it is asked to do. */
function noted(passes: (input: string) => boolean, left: MadeFolder[] = []) {
  const [made, removed, checked]: [string[], string[], string[]] = [[], [], []];
  const place = scratch();
  const workshop: Workshop = {
    async make(folder) {
      const own = join(place, String(made.push(folder)));
      mkdirSync(own);
      return own;
    },
    made: async (beginning) => left.filter(({ folder }) => basename(folder).startsWith(beginning)),
    async check(command, folder, input) {
      checked.push(`${command} in ${folder}`);
      return { passed: passes(input), output: `read ${input}` };
    },
    async remove(folder) {
      removed.push(basename(folder));
    },
  };
  return { workshop, made, removed, checked };
}

async function tried(
  stream: AsyncIterator<unknown, { tries: { number: number; commit: string | null; score: number | null; status: string; folder: string | null }[] }>,
) {
  for (;;) {
    const next = await stream.next();
    if (next.done) return next.value.tries;
  }
}

test('[U7] a model answers a context several times: each try is a branch with its score', async () => {
  let [running, most] = [0, 0];
  const provider = model(
    (_body, number) =>
      async function* () {
        most = Math.max(most, ++running);
        await new Promise((resolve) => setImmediate(resolve));
        yield* says(number === 1 ? 'wrong' : `right ${number}`);
        running--;
      },
  );
  const { workshop, checked } = noted((input) => input.startsWith('right'));
  const { client } = door({ providers: [provider], workshop });
  const asked = await prompted(client);
  const tries = await tried(
    await client.runner.repeat({
      commit: asked.id,
      times: 5,
      parallel: 2,
      performer: { provider: 'model' },
      limits: { calls: 1 },
      check: 'npm test',
    }),
  );
  expect(tries.map(({ number, status, score }) => [number, status, score])).toEqual(
    [1, 2, 3, 4, 5].map((number) => [number, 'success', number === 2 ? 0 : 1]),
  );
  expect(most).toBe(2);
  expect(checked).toHaveLength(5);
  const { children } = await client.context.show({ id: asked.id });
  expect(new Set(tries.map(({ commit }) => commit))).toEqual(new Set(children));
  const { tags } = await client.context.show({ id: tries[1]?.commit as never });
  expect(tags).toContain('score:0');
});

test('[U7] each try of an agent has a folder of its own, which is removed with its branch', async () => {
  const root = scratch();
  const folders: string[] = [];
  const program: AgentProgram = {
    ...{ agent: 'claude-code', title: 'Claude Code', resume: true, permissions: true, mcp: true, problem: () => null },
    async *run({ folder }) {
      const path = join(root, `${folders.push(folder)}.jsonl`);
      yield { kind: 'session', sessionId: path, path };
      writeFileSync(path, answer(folder, 'Fixed.'));
      yield { kind: 'end', text: 'Fixed.', isError: false };
    },
  };
  const { workshop, made, removed } = noted(() => true);
  const { client } = door({ agents: [program], agentRoots: [{ agent: 'claude-code', root }], workshop });
  const asked = await prompted(client);
  const tries = await tried(await client.runner.repeat({ commit: asked.id, times: 2, performer: { agent: 'claude-code', folder: '/' } }));
  expect(made).toEqual(['/', '/']);
  expect(tries.map(({ score }) => score)).toEqual([null, null]);
  expect((await client.runner.list({})).map(({ title }) => title.slice(0, 6)).toSorted()).toEqual(['Try 1:', 'Try 2:']);
  expect(folders.map((folder) => basename(folder)).toSorted()).toEqual(['1', '2']);
  const discarded = tries.find(({ folder }) => folder?.endsWith('2'));
  await client.branch.delete({ commit: discarded?.commit as never, deleted: true });
  expect(removed).toEqual(['2']);
});

test('[U7] a try without a commit leaves no folder', async () => {
  const program: AgentProgram = {
    ...{ agent: 'claude-code', title: 'Claude Code', resume: true, permissions: true, mcp: true, problem: () => null },
    // biome-ignore lint/correctness/useYield: it fails before it says anything
    async *run() {
      throw new Error('No login.');
    },
  };
  const { workshop, removed } = noted(() => true);
  const { client } = door({ agents: [program], agentRoots: [{ agent: 'claude-code', root: scratch() }], workshop });
  const { id } = await prompted(client);
  const tries = await tried(await client.runner.repeat({ commit: id, times: 2, performer: { agent: 'claude-code', folder: '/' } }));
  expect(tries.map(({ status, folder }) => [status, folder])).toEqual([
    ['failed', null],
    ['failed', null],
  ]);
  expect(removed.toSorted()).toEqual(['1', '2']);
});

test('[U4, U7] what a dead process left is removed: tries without a branch, and sessions', async () => {
  const [root, left]: [string, MadeFolder[]] = [scratch(), []];
  const silent: AgentProgram = {
    ...{ agent: 'claude-code', title: 'Claude Code', resume: true, permissions: true, mcp: true, problem: () => null },
    async *run(_order, signal) {
      const path = join(root, 'session-of-a-job.jsonl');
      writeFileSync(path, '');
      yield { kind: 'session', sessionId: 'session-of-a-job', path };
      await new Promise((resolve) => signal.addEventListener('abort', resolve));
    },
  };
  const { workshop, removed } = noted(() => true, left);
  const { client, engine, project, clock } = door({ agents: [silent], agentRoots: [{ agent: 'claude-code', root }], workshop });
  const { id } = await prompted(client);
  const start = (folder: string) => client.runner.start({ what: { commit: id }, performer: { agent: 'claude-code', folder } });
  const made = (name: string, isHeld: boolean): string => {
    const folder = join(scratch(), `${project.projectId}-${name}`);
    mkdirSync(folder);
    left.push({ folder, isHeld });
    return folder;
  };
  made('unfinished', false);
  made('being-made', true);
  await start(made('interrupted', false));
  await vi.waitFor(() => expect(existsSync(join(root, 'session-of-a-job.jsonl'))).toBe(true));
  const parts = engine.runner(project);
  await cleanUp(parts);
  // The job runs, and the folder that a living process makes has no job yet.
  expect(removed.map((name) => name.split('-').at(-1))).toEqual(['unfinished']);
  expect(existsSync(join(root, 'session-of-a-job.jsonl'))).toBe(true);
  for (const job of engine.jobs.jobs.values()) job.interrupt();
  clock.at += 60_000;
  left.shift();
  // Somebody adds rows to the project that name other sessions, or none, with the seal of a real one.
  const others = ['mine.jsonl', 'mine-session-of-a-job.jsonl'];
  for (const name of others) writeFileSync(join(root, name), 'not of a job');
  for (const name of ['mine', ''])
    project.db.run('INSERT INTO jobSession (project, sessionId, job, begun) SELECT project, ?, job, begun FROM jobSession LIMIT 1', name);
  await cleanUp(parts);
  expect(removed.map((name) => name.split('-').at(-1))).toEqual(['unfinished', 'interrupted']);
  expect(readdirSync(root).toSorted()).toEqual(others.toSorted());
});

test('[U7] a process without a workshop repeats no agent and runs no check', async () => {
  const { client } = door({ providers: [model(() => says('Hi.'))] });
  const { id } = await prompted(client);
  const stream = await client.runner.repeat({ commit: id, times: 2, performer: { provider: 'model' }, check: 'true' });
  expect(await refusalOf(stream.next())).toMatchObject({ code: 'UNAVAILABLE' });
  expect(await client.runner.list({})).toEqual([]);
});

import { join } from 'node:path';
import { createRouterClient } from '@orpc/server';
import { expect, onTestFinished, test } from 'vitest';
import type { WriteChain } from '../../src/core/chain/index.js';
import { entries } from '../../src/core/chain/index.js';
import { createEngine, createSession } from '../../src/core/project/index.js';
import { contextOf, router } from '../../src/core/router/index.js';
import { scratch } from '../support/project.js';
import { startWorker, type Worker } from './workers.js';

/** Few in the short form: test/core/runner/kills.test.ts stops after each transaction instead. */
const kills = Number(process.env.STEMMA_KILLS ?? (process.env.STEMMA_FAULTS === 'short' ? 4 : 50));
/** Longer than a lease. */
const stepMs = 60_000;

/** The marks of all replies that the project contains. */
function marksIn(chain: WriteChain): Set<string> {
  const cards = chain.db.all<{ content: string; toolCalls: string | null }>('SELECT content, toolCalls FROM card');
  const said = chain.db.all<{ id: never }>('SELECT id FROM commits').map(({ id }) => entries(chain, { id, stop: id }));
  return new Set(JSON.stringify([cards, said]).match(/mark-\d+-\d+/g));
}

/** A project with the people and agents of the story. */
async function story() {
  const folder = scratch();
  const options = { dataDir: join(folder, 'data'), agentRoots: [], sampleDir: folder, startup: { paths: [], project: null }, platform: 'linux' };
  const engine = createEngine(options);
  onTestFinished(() => engine.close());
  const session = createSession(engine);
  const { dir, chain } = session.use(engine.create({ dir: join(folder, 'story') }));
  const client = createRouterClient(router, { context: contextOf(session) });
  for (const name of ['Writer', 'Critic'])
    await client.profile.put({ name, card: { content: { kind: 'json', data: { name, system_prompt_template: `You are the ${name}.` } } } } as never);
  for (const entityId of ['sarah', 'ada', 'ben'])
    await client.space.addEntity({ entityId, name: entityId, type: entityId === 'sarah' ? 'human' : 'agent' });
  await client.space.create({ spaceId: 'team', name: 'Team', members: ['sarah', 'ada', 'ben'] });
  /** New work: a discussion and a report. */
  const ask = async (round: number): Promise<void> => {
    await client.space.post({ spaceId: 'team', senderId: 'sarah', text: `Discuss ${round}.` });
    await client.handover.launchPrincipal({ profileName: 'Writer', instruction: `Write report ${round}.` });
  };
  /** All work has ended well, and nothing is damaged. */
  const expectDone = async (): Promise<void> => {
    expect(new Set((await client.handover.map({})).turns.map(({ status }) => status))).toEqual(new Set(['success']));
    expect(new Set((await client.run.list({})).map(({ status }) => status))).toEqual(new Set(['completed']));
    expect((await client.project.check({})).problems).toEqual([]);
  };
  return { dir, chain, client, ask, expectDone };
}

/** The calls of the model in a process, each with its mark. */
const callsOf = (worker: Worker): string[][] => worker.lines().flatMap((line) => (line.startsWith('asked ') ? [line.split(' ').slice(1)] : []));
const problemsOf = (worker: Worker): string[] => worker.lines().filter((line) => /^(refused|crashed)/.test(line));

test(`[U2, U4] ${kills} kills lose no job, and no recorded call is made again`, async () => {
  const { dir, chain, client, ask, expectDone } = await story();
  let seed = 20260101;
  const chance = (): number => {
    seed = (Math.imul(seed, 1664525) + 1013904223) >>> 0;
    return seed / 4294967296;
  };

  const answered = new Map<string, string>();
  for (let round = 0; ; round++) {
    const isLast = round >= kills;
    // There is always work that a kill interrupts.
    if (!isLast && (await client.run.list({ status: 'running' })).length === 0) await ask(round);
    const worker = startWorker(['runner', dir, String((round + 1) * stepMs)]);
    if (!isLast) {
      await worker.said('asked');
      await new Promise((resolve) => setTimeout(resolve, chance() * 60));
      await worker.kill();
    } else expect(await worker.ended).toBe(0);
    const asked = callsOf(worker);
    expect(problemsOf(worker)).toEqual([]);
    expect(asked.flatMap(([call = '']) => answered.get(call) ?? [])).toEqual([]);
    const marks = marksIn(chain);
    for (const [call = '', mark = ''] of asked) if (marks.has(mark)) answered.set(call, mark);
    if (isLast) break;
  }
  await expectDone();
  const jobs = await client.runner.list({});
  expect(new Set(jobs.map(({ status }) => status))).toEqual(new Set(kills > 0 ? ['success', 'interrupted'] : ['success']));
});

test('[U4] two processes share the work: no job and no call is done twice', { tags: 'long' }, async () => {
  const { dir, client, ask, expectDone } = await story();
  for (let round = 0; round < 4; round++) await ask(round);
  const workers = [startWorker(['runner', dir, '0']), startWorker(['runner', dir, '0'])];
  expect(await Promise.all(workers.map(({ ended }) => ended))).toEqual([0, 0]);
  expect(workers.flatMap(problemsOf)).toEqual([]);
  const calls = workers.flatMap((worker) => callsOf(worker).map(([call]) => call));
  expect(calls.toSorted()).toEqual([...new Set(calls)].toSorted());
  await expectDone();
  const jobs = await client.runner.list({});
  expect(new Set(jobs.map(({ status }) => status))).toEqual(new Set(['success']));
  expect(jobs.map(({ what }) => JSON.stringify(what)).toSorted()).toEqual([...new Set(jobs.map(({ what }) => JSON.stringify(what)))].toSorted());
});

import { join } from 'node:path';
import { createRouterClient } from '@orpc/server';
import { expect, onTestFinished, test } from 'vitest';
import type { Chain } from '../../src/core/chain/index.js';
import { entries } from '../../src/core/chain/index.js';
import { createEngine, createSession } from '../../src/core/project/index.js';
import { router } from '../../src/core/router/index.js';
import { scratch } from '../support/project.js';
import { startWorker } from './workers.js';

const kills = Number(process.env.STEMMA_KILLS ?? 50);
/** The short form leaves it to test/core/runner/kills.test.ts, which stops after each transaction. A number of kills runs it in any form. */
const isLong = process.env.STEMMA_FAULTS !== 'short' || process.env.STEMMA_KILLS !== undefined;
/** Longer than a lease. */
const stepMs = 60_000;

/** The marks of all replies that the project contains. */
function marksIn(chain: Chain): Set<string> {
  const cards = chain.db.all<{ content: string; toolCalls: string | null }>('SELECT content, toolCalls FROM card');
  const said = chain.db.all<{ id: never }>('SELECT id FROM context').map(({ id }) => entries(chain, { id, stop: id }));
  return new Set(JSON.stringify([cards, said]).match(/mark-\d+-\d+/g));
}

test.runIf(isLong)(`[U2, U4] ${kills} kills lose no job, and no recorded call is made again`, async () => {
  const folder = scratch();
  const options = { dataDir: join(folder, 'data'), agentRoots: [], sampleDir: folder, startup: { paths: [], project: null }, platform: 'linux' };
  const engine = createEngine(options);
  onTestFinished(() => engine.close());
  const session = createSession(engine);
  const { dir, chain } = session.use(engine.create({ dir: join(folder, 'story') }));
  const client = createRouterClient(router, { context: { session } });
  for (const name of ['Writer', 'Critic'])
    await client.profile.put({ name, card: { content: { kind: 'json', data: { name, system_prompt_template: `You are the ${name}.` } } } } as never);
  for (const entityId of ['sarah', 'ada', 'ben'])
    await client.space.addEntity({ entityId, name: entityId, type: entityId === 'sarah' ? 'human' : 'agent' });
  await client.space.create({ spaceId: 'team', name: 'Team', members: ['sarah', 'ada', 'ben'] });
  let seed = 20260101;
  const chance = (): number => {
    seed = (Math.imul(seed, 1664525) + 1013904223) >>> 0;
    return seed / 4294967296;
  };

  const answered = new Map<string, string>();
  for (let round = 0; ; round++) {
    const isLast = round >= kills;
    // There is always work that a kill interrupts.
    if (!isLast && (await client.run.list({ status: 'running' })).length === 0) {
      await client.space.post({ spaceId: 'team', senderId: 'sarah', text: `Discuss ${round}.` });
      await client.handover.launchPrincipal({ profileName: 'Writer', instruction: `Write report ${round}.` });
    }
    const worker = startWorker(['runner', dir, String((round + 1) * stepMs)]);
    if (!isLast) {
      await worker.said('asked');
      await new Promise((resolve) => setTimeout(resolve, chance() * 60));
      await worker.kill();
    } else expect(await worker.ended).toBe(0);
    const asked = worker.lines().flatMap((line) => (line.startsWith('asked ') ? [line.split(' ').slice(1)] : []));
    expect(worker.lines().filter((line) => /^(refused|crashed)/.test(line))).toEqual([]);
    expect(asked.flatMap(([call = '']) => answered.get(call) ?? [])).toEqual([]);
    const marks = marksIn(chain);
    for (const [call = '', mark = ''] of asked) if (marks.has(mark)) answered.set(call, mark);
    if (isLast) break;
  }
  const turns = (await client.handover.map({})).turns.map(({ status }) => status);
  expect(new Set(turns)).toEqual(new Set(['success']));
  expect(new Set((await client.run.list({})).map(({ status }) => status))).toEqual(new Set(['completed']));
  const jobs = await client.runner.list({});
  expect(new Set(jobs.map(({ status }) => status))).toEqual(new Set(kills > 0 ? ['success', 'interrupted'] : ['success']));
  expect((await client.project.check({})).problems).toEqual([]);
});

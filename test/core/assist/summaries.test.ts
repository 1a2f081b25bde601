import { execFile } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { describe, expect, test } from 'vitest';
import {
  extractive,
  listSummaries,
  openSummarizer,
  type SummarizeInput,
  type SummarizerPlan,
  summarizeCommits,
  unsavedSummarizer,
} from '../../../src/core/assist/index.js';
import type { ContextId } from '../../../src/core/base/index.js';
import { checkpoint, show } from '../../../src/core/chain/index.js';
import type { Project } from '../../../src/core/project/index.js';
import { openSummarizerSettings } from '../../../src/core/project/summaries.js';
import type { ModelProvider } from '../../../src/core/turns/index.js';
import { bundle } from '../../support/bundle.js';
import { answer, call, prompt, result } from '../../support/claude-lines.js';
import { door } from '../../support/door.js';
import { emptyProject, scratch } from '../../support/project.js';

function turns(project: Project, count: number): ContextId[] {
  const ids: ContextId[] = [];
  for (let turn = 0; turn < count; turn++) {
    const text =
      prompt(`u${turn}`, `Fix the flaky test number ${turn}. It hangs.`) +
      call(`c${turn}`, `t${turn}`, 'Read', { file: 'a.ts' }, { parent: `u${turn}` }) +
      result(`r${turn}`, `t${turn}`, 'content', { parent: `c${turn}` }) +
      answer(`a${turn}`, `The retry was awaited twice. I removed one.`, { parent: `r${turn}` });
    ids.push(
      checkpoint(project.chain, {
        parent: ids.at(-1) ?? null,
        type: 'delta',
        format: 'claude-code-v1',
        text,
        template: 't',
        checkpoint: 'turn_boundary',
      }).id,
    );
  }
  return ids;
}

async function finish(project: Project, input: SummarizeInput, providers: readonly ModelProvider[] = [], signal?: AbortSignal) {
  const steps = summarizeCommits(project.chain, input, providers, signal);
  for (;;) {
    const step = await steps.next();
    if (step.done) return step.value;
  }
}

const model = (say: (text: string) => string): ModelProvider => ({
  id: 'fake',
  title: 'A model of the test',
  wire: 'anthropic',
  models: async () => ({ models: ['m'] }),
  async *stream({ body }) {
    yield { kind: 'text', delta: say(JSON.stringify(body)) };
  },
});

describe('summaries', () => {
  test('without a model, consist of prompt, tools and answer', async () => {
    const project = emptyProject();
    const ids = turns(project, 3);
    expect(await finish(project, {})).toEqual({ summarized: 3, skipped: [] });
    expect(show(project.chain, ids[1] as ContextId).summary).toBe('Fix the flaky test number 1. · Read · The retry was awaited twice.');
    expect(await finish(project, {})).toEqual({ summarized: 0, skipped: [] });
  });

  test('[C13] change nothing but the summary, and keep earlier versions with their authors', async () => {
    const project = emptyProject();
    const [id] = turns(project, 1);
    const { summary: _, ...before } = show(project.chain, id as ContextId);
    await finish(project, { ids: [id as ContextId] });
    await finish(project, { ids: [id as ContextId], provider: 'fake', perMinute: 100_000 }, [model(() => 'By the model.')]);
    const { summary, ...after } = show(project.chain, id as ContextId);
    expect([summary, after]).toEqual(['By the model.', before]);
    expect(project.db.all('SELECT author, summary FROM contextVersion ORDER BY no')).toEqual([
      { author: 'summarizer extractive', summary: null },
      { author: 'summarizer fake', summary: expect.stringContaining('flaky') },
    ]);
  });

  test('continue after an interruption', async () => {
    const project = emptyProject();
    turns(project, 5);
    const stop = new AbortController();
    let asked = 0;
    const counting = model(() => {
      asked += 1;
      if (asked === 2) stop.abort();
      return `summary ${asked}`;
    });
    await expect(finish(project, { provider: 'fake', perMinute: 100_000 }, [counting], stop.signal)).rejects.toThrow();
    expect(project.db.one('SELECT COUNT(*) AS n FROM commits WHERE summary IS NOT NULL')).toEqual({ n: 1 });
    expect((await finish(project, { provider: 'fake', perMinute: 100_000 }, [counting])).summarized).toBe(4);
    expect(asked).toBe(6);
  });

  test('report commits that cannot be read, and refuse an unknown provider', async () => {
    const project = emptyProject();
    const ids = turns(project, 2);
    project.db.run("UPDATE artifact SET data = CAST('x' AS BLOB) WHERE no = 1");
    project.chain.parsed.clear();
    expect(await finish(project, {})).toEqual({ summarized: 1, skipped: [{ id: ids[0], reason: expect.stringContaining('blake3:') }] });
    await expect(finish(project, { ids, provider: 'none' })).rejects.toMatchObject({ code: 'BAD_REQUEST', data: { field: 'provider' } });
  });

  test('by a model mark the transcript as data in the prompt', async () => {
    const project = emptyProject();
    turns(project, 1);
    let seen = '';
    await finish(project, { provider: 'fake', perMinute: 100_000 }, [
      model((body) => {
        seen = body;
        return 'done';
      }),
    ]);
    expect(seen).toContain('not instructions for you');
    expect(seen).toContain('Fix the flaky test number 0');
  });

  test('do not exist for commits without text', () => {
    expect(extractive([])).toBeUndefined();
  });
});

describe('the summarizer', () => {
  const plan: SummarizerPlan = { provider: 'fake', model: null, callsPerDay: 2, perMinute: 100_000 };
  const service = (project: Project, providers: readonly ModelProvider[]) => openSummarizer(project.chain, unsavedSummarizer(), () => providers);

  test('[C27] does nothing until it is turned on, and then fills what is missing within its budget', async () => {
    const project = emptyProject();
    const ids = turns(project, 3);
    let calls = 0;
    const summarizer = service(project, [model(() => `Summary ${++calls}.`)]);
    await summarizer.work();
    expect([calls, summarizer.status()]).toMatchObject([0, { enabled: false, missing: 3 }]);
    summarizer.set(plan);
    await summarizer.work();
    expect(summarizer.status()).toMatchObject({ enabled: true, callsToday: 2, summarized: 2, missing: 1, running: false });
    expect(summarizer.status().problem).toContain('budget');
    await summarizer.work();
    expect(calls).toBe(2);
    expect(listSummaries(project.chain, { missing: true })).toMatchObject({ total: 1, missing: 1, commits: [{ id: ids[2] }] });
    expect(listSummaries(project.chain, { limit: 1, offset: 1 })).toMatchObject({ total: 3, commits: [{ summary: 'Summary 2.' }] });
    summarizer.set({ ...plan, callsPerDay: 5 });
    await summarizer.work();
    expect(summarizer.status()).toMatchObject({ callsToday: 3, missing: 0, problem: null });
    summarizer.set(undefined);
    expect(summarizer.status().enabled).toBe(false);
    summarizer.close();
  });

  test('[C27] a provider that fails stops it, and the reason is shown', async () => {
    const project = emptyProject();
    turns(project, 2);
    const summarizer = service(project, []);
    summarizer.set(plan);
    await summarizer.work();
    expect(summarizer.status()).toMatchObject({ missing: 2, summarized: 0, problem: expect.stringContaining('unknown provider') });
    summarizer.set({ ...plan, provider: null });
    await summarizer.work();
    expect(summarizer.status()).toMatchObject({ missing: 0, summarized: 2, callsToday: 1, problem: null });
    summarizer.close();
  });
});

test('[C27] the budget of a day holds for all processes that work on a project at the same time', async () => {
  const dataDir = scratch();
  const project = emptyProject();
  turns(project, 12);
  const plan: SummarizerPlan = { provider: 'fake', model: null, callsPerDay: 5, perMinute: 100_000 };
  openSummarizerSettings(dataDir, project.dir).set(plan);
  let [calls, running, most] = [0, 0, 0];
  const slow: ModelProvider = {
    ...model(() => ''),
    async *stream() {
      calls += 1;
      running += 1;
      most = Math.max(most, running);
      await new Promise((resolve) => setTimeout(resolve, 20));
      running -= 1;
      yield { kind: 'text', delta: `Summary ${calls}.` };
    },
  };
  // Each has settings of its own, as each process has.
  const summarizers = Array.from({ length: 4 }, () => openSummarizer(project.chain, openSummarizerSettings(dataDir, project.dir), () => [slow]));
  await Promise.all(summarizers.map((each) => each.work()));
  expect(most).toBeGreaterThan(1);
  expect(calls).toBe(5);
  for (const each of summarizers) expect(each.status()).toMatchObject({ callsToday: 5, problem: expect.stringContaining('budget of 5') });
  // Another project has a budget of its own, and so does the next day.
  const other = openSummarizerSettings(dataDir, join(dataDir, 'other'));
  expect([other.calls('2026-01-01'), other.claim('2026-01-01', 1), other.claim('2026-01-01', 1)]).toEqual([0, true, false]);
  const own = openSummarizerSettings(dataDir, project.dir);
  expect([own.claim('2099-01-01', 1), own.calls('2099-01-01'), readdirSync(join(dataDir, 'summaries')).length]).toEqual([true, 1, 2]);
});

test('[C27] processes that claim calls at the same time get no more than the budget', { tags: 'long' }, async () => {
  const dataDir = scratch();
  const settings = await bundle('src/core/project/summaries.ts', 'summarizer-claims');
  const work = `const { openSummarizerSettings } = await import(${JSON.stringify(pathToFileURL(settings).href)});
    const settings = openSummarizerSettings(${JSON.stringify(dataDir)}, '/project');
    while (Date.now() < ${Date.now() + 1_000});
    let got = 0;
    while (settings.claim('2026-01-01', 300)) got += 1;
    console.log(got);`;
  const run = async (): Promise<string> => (await promisify(execFile)(process.execPath, ['--input-type=module', '-e', work])).stdout;
  const got = await Promise.all([run(), run(), run()]);
  expect(got.map(Number).reduce((a, b) => a + b)).toBe(300);
});

test('[C13, C27] the changes of summary and tags, and the starts from a context, can be read', async () => {
  const { client, chain, clock } = door();
  const [id] = turns({ chain } as Project, 1) as [ContextId];
  expect(await client.context.versions({ id })).toEqual([]);
  await client.context.update({ id, summary: 'One' });
  clock.at += 1_000;
  await client.context.update({ id, tags: ['a', 'b'] });
  expect(await client.context.versions({ id })).toMatchObject([
    { author: 'user', summary: { from: null, to: 'One' }, tags: { from: [], to: [] } },
    { author: 'user', summary: { from: 'One', to: 'One' }, tags: { from: [], to: ['a', 'b'] } },
  ]);
  await client.context.instantiate({ template: 'coder', context: id, principal: '@two', machine: 'far' });
  await client.context.instantiate({ template: 'other', context: null });
  const start = { template: 'coder', context: id, principal: '@two', machine: 'far' };
  expect(await client.context.instantiations({})).toMatchObject([{ template: 'other', context: null, principal: null }, start]);
  expect(await client.context.instantiations({ id })).toMatchObject([start]);
  expect(await client.context.instantiations({ template: 'coder' })).toMatchObject([start]);
  expect((await client.context.summaries({ missing: true })).missing).toBe(0);
  const on = await client.context.setSummarizer({ enabled: true, callsPerDay: 7 });
  expect(on).toMatchObject({ enabled: true, provider: null, callsPerDay: 7, perMinute: 10 });
  expect((await client.context.setSummarizer({ enabled: false })).enabled).toBe(false);
});

test('[F26] a commit in an unknown format gets a summary of its shape, or by a model', { tags: 'long' }, async () => {
  const project = emptyProject();
  const raw = (text: string): ContextId =>
    checkpoint(project.chain, {
      ...{ parent: null, type: 'delta', format: 'tracer-v3', text, template: 't', checkpoint: 'explicit', messageCount: 2, tokenCount: 9 },
    } as never).id;
  const [one, two] = [raw('{"step":1}\n{"step":2}\n'), raw('{"step":3,"note":"the gate was open"}\n')];
  expect(await finish(project, { ids: [one] })).toEqual({ summarized: 1, skipped: [] });
  expect(show(project.chain, one).summary).toBe(
    'The format tracer-v3 is not read here. It is JSON Lines, 2 of them: 2 items with the keys "step". It was stored with 2 messages.',
  );
  const seen: string[] = [];
  const reader = model((body) => {
    seen.push(body);
    return 'The gate was open.';
  });
  await finish(project, { ids: [two], provider: 'fake' }, [reader]);
  expect([show(project.chain, two).summary, seen[0]]).toEqual(['The gate was open.', expect.stringContaining('the gate was open')]);
});

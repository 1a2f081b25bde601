import { mkdirSync, utimesSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { createRouterClient } from '@orpc/server';
import { beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { finished } from '../../../src/core/base/index.js';
import { checkpoint, type WriteChain } from '../../../src/core/chain/index.js';
import { type AheadOrder, type FilesAhead, importPaths, listSources, proveSource } from '../../../src/core/import/index.js';
import { atOnce, checkProject, createEngine, createSession, filesAhead, orderFor, type Project } from '../../../src/core/project/index.js';
import { openUpkeep } from '../../../src/core/project/upkeep.js';
import { runInWorker, WorkerFailed } from '../../../src/core/project/worker.js';
import { contextOf, router } from '../../../src/core/router/index.js';
import { openDatabase } from '../../../src/core/store/index.js';
import { nameIn } from '../../../src/core/usage/index.js';
import { ensureBuilt } from '../../support/built.js';
import { answer, prompt } from '../../support/claude-lines.js';
import { importInto } from '../../support/imports.js';
import { largestOf } from '../../support/largest.js';
import { built } from '../../support/machine.js';
import { emptyProject, objectTotals, scratch } from '../../support/project.js';

/** The script of the product's worker threads. */
const worker = built('engine', 'work.js');
beforeAll(ensureBuilt);

/** An engine on the real clock, with an open project. */
function engineWith(script: string | undefined) {
  const folder = scratch();
  const engine = createEngine({
    dataDir: join(folder, 'data'),
    agentRoots: [],
    sampleDir: folder,
    startup: { paths: [], project: null },
    platform: 'linux',
    worker: script,
  });
  onTestFinished(() => engine.close());
  const session = createSession(engine);
  const project = session.use(engine.create({ dir: join(folder, 'test') }));
  return { client: createRouterClient(router, { context: contextOf(session) }), project, engine };
}

async function importWith(client: ReturnType<typeof engineWith>['client'], path: string) {
  const events = await client.import.run({ paths: [path] });
  for (;;) {
    const step = await events.next();
    if (step.done) return step.value;
  }
}

const session = (name: string, turns: number, filler = ''): string =>
  Array.from(
    { length: turns },
    (_, n) =>
      prompt(`${name}-u${n}`, `question ${n} ${name}`, { parent: n === 0 ? null : `${name}-a${n - 1}` }) +
      answer(`${name}-a${n}`, `answer ${filler} ${n}`, { parent: `${name}-u${n}` }),
  ).join('');

function filesOf(count: number, turns: number, filler = ''): string {
  const folder = join(scratch(), 'files');
  mkdirSync(folder);
  for (let at = 0; at < count; at++) writeFileSync(join(folder, `${at}.jsonl`), session(`s${at}`, turns, filler));
  return folder;
}

/** All that an import writes, without what is chance. */
const stored = ({ db }: WriteChain): unknown =>
  [
    'SELECT seq, id, parent, artifact, summary, entries FROM commits ORDER BY seq',
    'SELECT no, key, size FROM artifact ORDER BY no',
    'SELECT * FROM record ORDER BY record',
    'SELECT no, path, size, hash, tips, pieces FROM source ORDER BY no',
  ].map((sql) => db.all(sql));

const usageIn = ({ db }: WriteChain): unknown =>
  db.all(`SELECT context, call, key, ${nameIn('u.session')} AS session, at, input, output FROM usageCall u ORDER BY context, call`);

const order = (project: Project, paths: string[]) => orderFor(project, { kind: 'import', ahead: worker, input: { paths } });

describe('a thread that works in a project', () => {
  test('[S19] a thread imports the same as the engine itself', { tags: 'long' }, async () => {
    const folder = filesOf(3, 20);
    const alone = emptyProject();
    const { commits, sessions } = importInto(alone.chain, folder);
    const { client, project } = engineWith(worker);
    expect(await importWith(client, folder)).toMatchObject({ commits, sessions, skipped: [] });
    expect(stored(project.chain)).toEqual(stored(alone.chain));
    expect(atOnce(checkProject(project)).problems).toEqual([]);
    expect(await importWith(client, folder)).toMatchObject({ commits: 0, sessions });
  });

  /** Sessions of 5 MB, among them one that forks another, one that repeats the fork, one of 3 MB, one that cannot be read and one that is no session. */
  function manySessions(): string {
    const folder = filesOf(40, 30, 'x'.repeat(4_000));
    const line = (name: string, parent: string) =>
      prompt(`${name}-u`, `another question ${name}`, { parent }) + answer(`${name}-a`, 'no', { parent: `${name}-u` });
    const fork = session('s3', 20, 'x'.repeat(4_000)) + line('fork', 's3-a19');
    writeFileSync(join(folder, 'fork.jsonl'), fork);
    writeFileSync(join(folder, 'fork-of-fork.jsonl'), fork + line('again', 'fork-a'));
    writeFileSync(join(folder, 'other.jsonl'), '{"kind":"no session"}\n');
    writeFileSync(join(folder, 'large.jsonl'), session('large', 40, 'y'.repeat(70_000)));
    writeFileSync(join(folder, 'torn.jsonl'), `${session('torn', 2)}{"uuid":"half`);
    for (const [at, name] of ['s3', 'fork', 'fork-of-fork', 'torn'].entries()) {
      const file = name === 's3' ? '3' : name;
      utimesSync(join(folder, `${file}.jsonl`), 1_700_000_000 + at, 1_700_000_000 + at);
    }
    return folder;
  }

  /** Imports with threads that read ahead. Returns the result, and how many files were taken from them. */
  function importAhead(chain: WriteChain, folder: string, script: string) {
    let taken = 0;
    const counted = (orders: readonly AheadOrder[]): FilesAhead => {
      const ahead = filesAhead(script, orders);
      const take: FilesAhead['take'] = (file) => {
        const read = ahead.take(file);
        if (read) taken += 1;
        return read;
      };
      return { ...ahead, take };
    };
    const result = atOnce(importPaths(chain, { paths: [folder] }, counted));
    return { result, taken };
  }

  test('[S19] files that threads read ahead are stored as those of one thread', { tags: 'long' }, async () => {
    const folder = manySessions();
    const alone = emptyProject();
    const { tips: _, ms: __, ...expected } = importInto(alone.chain, folder);
    const { chain } = emptyProject();
    const { result, taken } = importAhead(chain, folder, worker);
    expect(result).toMatchObject(expected);
    expect(result.skipped.map(({ path }) => basename(path))).toContain('other.jsonl');
    expect(stored(chain)).toEqual(stored(alone.chain));
    expect(chain.db.all('SELECT artifact, data FROM outline ORDER BY artifact')).toEqual(
      alone.chain.db.all('SELECT artifact, data FROM outline ORDER BY artifact'),
    );
    expect(usageIn(chain)).toEqual(usageIn(alone.chain));
    // The thread compressed the contents of the large file.
    expect(chain.db.one('SELECT SUM(size) > 2800000 AS isLarge, SUM(storedSize) < 100000 AS isSmaller FROM block')).toEqual({
      isLarge: 1,
      isSmaller: 1,
    });
    for (const { sourceId } of listSources(chain)) proveSource(chain, sourceId);
    expect(taken).toBeGreaterThanOrEqual(42);
    expect(importAhead(chain, folder, worker)).toMatchObject({ result: { commits: 0, sessions: expected.sessions }, taken: 0 });
  });

  test('[S19] an import goes on alone if the threads that read ahead do not start', { tags: 'long' }, async () => {
    const folder = manySessions();
    const script = join(scratch(), 'throws.mjs');
    writeFileSync(script, "throw new Error('no')");
    const { chain } = emptyProject();
    const { result } = importAhead(chain, folder, script);
    expect(result.sessions).toBe(44);
  });

  test('[S19] an error of the thread has its code and data, and bad input is refused', async () => {
    const { client } = engineWith(worker);
    const run = async () => {
      const events = await client.import.run({ paths: ['/nowhere'], format: 'no-format' });
      await events.next();
    };
    await expect(run()).rejects.toMatchObject({ code: 'BAD_REQUEST', data: { field: 'format' } });
  });

  test.each([
    ['missing.mjs', undefined],
    ['syntax.mjs', 'not a script'],
    ['throws.mjs', "throw new Error('no')"],
    ['ends.mjs', 'process.exit(1)'],
  ])('[S19] the engine imports by itself if the thread does not start: %s', async (name, text) => {
    const folder = filesOf(1, 2);
    const script = join(scratch(), name);
    if (text !== undefined) writeFileSync(script, text);
    const { client } = engineWith(script);
    expect(await importWith(client, folder)).toMatchObject({ commits: 2 });
  });

  test('[S19] a thread that dies in the middle fails the import and leaves complete files', { tags: 'long' }, async () => {
    // Small files share a transaction.
    const folder = filesOf(2, 3, 'x'.repeat(400_000));
    const { project } = engineWith(undefined);
    const script = join(scratch(), 'dies.mjs');
    writeFileSync(
      script,
      `import { parentPort } from 'node:worker_threads';
       const { postMessage } = parentPort;
       parentPort.postMessage = (message) => { if (message.event?.done === 1) process.exit(1); postMessage.call(parentPort, message); };
       await import(${JSON.stringify(worker)});`,
    );
    const run = finished(runInWorker(script, order(project, [folder])));
    await expect(run).rejects.toMatchObject({ hadBegun: true });
    await expect(run).rejects.toBeInstanceOf(WorkerFailed);
    expect(project.chain.db.one('SELECT COUNT(*) AS n FROM commits')).toEqual({ n: 3 });
    expect(atOnce(checkProject(project)).problems).toEqual([]);
  });

  test('[S19] a stopped import ends after the current file', { tags: 'long' }, async () => {
    const folder = filesOf(150, 30, 'x'.repeat(4_000));
    const { project } = engineWith(undefined);
    const stopping = new AbortController();
    const run = runInWorker<{ done: number }, unknown>(worker, order(project, [folder]), stopping.signal);
    const all = (async () => {
      for await (const { done } of run) if (done >= 2) stopping.abort();
    })();
    await expect(all).rejects.toMatchObject({ name: 'AbortError' });
    const { n } = project.chain.db.one<{ n: number }>('SELECT COUNT(*) AS n FROM source') ?? { n: 0 };
    expect(n).toBeGreaterThan(1);
    expect(n).toBeLessThan(150);
    expect(atOnce(checkProject(project)).problems).toEqual([]);
  });

  test('[S19] eight imports into one project at once all end, and store each file once', { tags: 'long' }, async () => {
    const { client, project } = engineWith(worker);
    const folders = Array.from({ length: 4 }, () => filesOf(2, 10));
    const results = await Promise.all([...folders, ...folders].map((folder) => importWith(client, folder)));
    expect(results.reduce((sum, { commits }) => sum + commits, 0)).toBe(20);
    expect(results.flatMap(({ skipped }) => skipped)).toEqual([]);
    expect(atOnce(checkProject(project)).problems).toEqual([]);
  });

  test('[S19] a thread refuses a folder that holds another project by now', async () => {
    const { project } = engineWith(undefined);
    const other = { ...order(project, [filesOf(1, 1)]), projectId: '00000000-0000-4000-8000-000000000000' };
    await expect(finished(runInWorker(worker, other))).rejects.toMatchObject({ code: 'CONFLICT', data: { reason: 'replaced' } });
  });

  test('[S20] while another connection writes, reads are answered and writes wait without blocking', async () => {
    const { client, project } = engineWith(undefined);
    const { id } = checkpoint(project.chain, {
      parent: null,
      type: 'delta',
      format: 'claude-code-v1',
      text: session('first', 1),
      template: 'claude-code',
      checkpoint: 'turn_boundary',
    });
    const other = openDatabase(join(project.dir, 'stemma.db'));
    onTestFinished(() => other.close());
    other.run('BEGIN IMMEDIATE');
    let isWritten = false;
    const writing = client.context.update({ id, tags: ['kept'] }).then(() => {
      isWritten = true;
    });
    const from = performance.now();
    await client.context.show({ id });
    await client.context.outline({ id });
    // Lists that also store facts of usage show what is stored so far.
    expect((await client.context.graph({ offset: 0, limit: 10 })).total).toBe(1);
    await client.session.list({});
    await pause(30);
    // A call that waits for the lock waits for a minute.
    expect(performance.now() - from).toBeLessThan(30_000);
    expect(isWritten).toBe(false);
    other.run('COMMIT');
    await writing;
    expect((await client.context.show({ id })).tags).toEqual(['kept']);
  });

  test('[S21] an idle project is packed by a thread, and its database gives the space back', { tags: 'long' }, async () => {
    const { project } = engineWith(undefined);
    importInto(project.chain, filesOf(8, 60, 'the same words '.repeat(60)));
    const before = objectTotals(project.chain).stored;
    project.chain.db.run('UPDATE artifact SET createdAt = createdAt - 60000');
    let packing: Promise<unknown> = Promise.resolve();
    const upkeep = openUpkeep(project.chain, { quiet: 1, between: 1, soon: 60_000 }, (kind, signal) => {
      packing = finished(runInWorker(worker, orderFor(project, { kind }), signal));
      return packing;
    });
    onTestFinished(upkeep.close);
    upkeep.wake();
    while (project.chain.artifacts.loose().objects > 0) await pause(20);
    await packing;
    expect(objectTotals(project.chain).stored).toBeLessThan(before / 10);
    expect(project.chain.db.one<{ n: number }>('SELECT freelist_count AS n FROM pragma_freelist_count')?.n).toBeLessThan(50);
    expect(atOnce(checkProject(project)).problems).toEqual([]);
  });
});

test('[N20] threads that import and derive find the costs at the prices of a person', async () => {
  const { client, project, engine } = engineWith(worker);
  mkdirSync(engine.options.dataDir, { recursive: true });
  writeFileSync(join(engine.options.dataDir, 'usage.json'), '{"models":{"claude-*":{"input":1000,"output":1000}}}');
  const priced = () =>
    project.chain.db.all("SELECT cost, priced FROM usageCall UNION ALL SELECT value, 0 FROM derivedProgress WHERE name = 'usage prices'");
  await importWith(client, join(import.meta.dirname, '../../fixtures/usage/branches.jsonl'));
  const imported = priced();
  expect(imported.length).toBeGreaterThan(2);
  expect(project.chain.db.one('SELECT MIN(cost) AS least FROM usageCall')).not.toEqual({ least: null });
  await finished(runInWorker(worker, orderFor(project, { kind: 'derive' })));
  expect(priced()).toEqual(imported);
  const { calls } = await client.usage.calls({});
  expect(calls.map(({ cost }) => cost?.amount).sort()).toEqual(
    project.chain.db
      .all<{ cost: number }>('SELECT cost FROM usageCall')
      .map(({ cost }) => cost)
      .sort(),
  );
  expect(priced()).toEqual(imported);
});

test('[N8] an engine counts tokens with the tokenizer, packed or not', { tags: 'long' }, async () => {
  const { client, project } = engineWith(worker);
  importInto(project.chain, join(import.meta.dirname, '../../fixtures/usage/branches.jsonl'));
  const [tip] = await client.context.tips({});
  const id = tip?.id ?? '';
  const [context, series] = await Promise.all([client.usage.context({ id }), client.usage.series({ id })]);
  expect(context.parts[0]?.basis).toBe('calibrated');
  expect(series.calls.at(-1)).toMatchObject({ counted: context.counted });
  const { calls } = await client.usage.calls({ id });
  const inText = await Promise.all([client.usage.series({ id, packed: true }), client.usage.calls({ id, packed: true })]);
  expect(inText.map(({ packed = '' }) => JSON.parse(packed))).toEqual([series.calls, calls]);
  expect(inText.flatMap((answer): unknown[] => answer.calls)).toEqual([]);
  const { steps, packed: replay = '' } = await client.turn.steps({ id, packed: true });
  expect([steps, JSON.parse(replay)]).toEqual([[], { ...(await client.turn.steps({ id })), turns: await client.turn.list({ id }) }]);
  expect(await client.usage.largest({ id, limit: 3 })).toEqual(largestOf(await client.usage.fillers({ id }), 3));
  expect(context.parts.reduce((sum, { tokens }) => sum + tokens, context.notRecorded ?? 0)).toBe(context.counted);
  await expect(client.usage.context({ id: 'ctx-00000000' })).rejects.toMatchObject({ code: 'NOT_FOUND' });

  const alone = engineWith(undefined);
  importInto(alone.project.chain, join(import.meta.dirname, '../../fixtures/usage/branches.jsonl'));
  expect(await alone.client.usage.context({ id: (await alone.client.context.tips({}))[0]?.id ?? '' })).toEqual({
    ...context,
    requestId: expect.any(String),
  });
});

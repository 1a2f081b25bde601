/**
 * Large projects, and the cost of one call on them, each in a process of its own.
 *
 *   scale make KIND FOLDER SIZE     KIND is commits, entries, turns or sessions
 *   scale derive FOLDER             derives its data again
 *   scale ask FOLDER PROCEDURE [INPUT…]
 *   scale views FOLDER [PROCEDURE…]  a table of what the views of a context ask, twice each
 *
 * `ask` opens the project in FOLDER like an engine and makes the call of each input in turn. It prints a list of milliseconds, processor
 * milliseconds and bytes of each answer, and the peak memory. In an input, `$tip`, `$first` and `$session` stand for ids of the project.
 */
import { spawnSync } from 'node:child_process';
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { createRouterClient } from '@orpc/server';
import { catchUpFindings, findingsWithin, openScopedViews } from '../../src/core/analysis/index.js';
import type { Timestamp } from '../../src/core/base/index.js';
import { addCommit } from '../../src/core/chain/index.js';
import { createEngine, createSession, type Engine, type Project } from '../../src/core/project/index.js';
import { derive } from '../../src/core/project/upkeep.js';
import { contextOf, router } from '../../src/core/router/index.js';
import { loadPrices, loadTokenizer } from '../../src/core/usage/index.js';
import { importAll } from './engine.js';
import { librarySession } from './library.js';
import { largeSession, turns } from './material.js';
import { peakKilobytes } from './peak.js';
import { views } from './views.js';

type Kind = 'commits' | 'entries' | 'turns' | 'sessions';

type Made = ReturnType<typeof addCommit>;

/** Commits in sessions of 1,000, of few different contents. Every session has a branch from its middle; that of every tenth is a fork. */
function makeCommits({ chain }: Project, count: number): void {
  const contents = turns(64, 9);
  let parent: Made | null = null;
  let middle: Made | null = null;
  for (let from = 0; from < count; from += 10_000)
    chain.artifacts.transaction(() => {
      for (let number = from; number < Math.min(count, from + 10_000); number++) {
        const place = number % 1_000;
        const isFork = place === 950 && Math.floor(number / 1_000) % 10 === 0;
        if (place === 0) parent = null;
        if (place === 950) parent = middle;
        const { no, ref } = chain.artifacts.put(Buffer.from(contents[number % 64] ?? ''), { contentType: 'application/x-ndjson' });
        parent = addCommit(chain, {
          ...{ parent, type: 'delta', artifact: no, ref, format: 'claude-code-v1', template: `t${number % 7}` },
          ...{ principal: `p${number % 50}`, checkpoint: 'turn_boundary', sessionId: `s${Math.floor(number / 1_000)}` },
          ...{ messageCount: 5, tokenCount: 400, errors: 0, entries: 3, forked: isFork },
          createdAt: new Date(1_700_000_000_000 + number * 1_000).toISOString() as Timestamp,
        });
        if (place === 500) middle = parent;
      }
    });
}

/** A session file whose import makes the project, or 250 files at a time. */
function makeSessions({ chain }: Project, folder: string, kind: Exclude<Kind, 'commits'>, size: number): void {
  const files = join(folder, 'files');
  const count = kind === 'sessions' ? size : 1;
  const shape = kind === 'entries' ? { turns: Math.ceil(size / 30), calls: 14 } : { turns: size, calls: 1 };
  for (let from = 0; from < count; from += 250) {
    mkdirSync(files, { recursive: true });
    const paths = Array.from({ length: Math.min(250, count - from) }, (_, place) => {
      const path = join(files, `${String(from + place).padStart(8, '0')}-0000-4000-8000-000000000041.jsonl`);
      writeFileSync(path, kind === 'sessions' ? librarySession(from + place) : largeSession(shape, 0));
      return path;
    });
    importAll(chain, paths);
    rmSync(files, { recursive: true });
  }
}

/** An engine of the machine on which the project was made: derived data of another machine is not believed. */
const engineOn = (folder: string): Engine =>
  createEngine({
    dataDir: join(folder, 'data'),
    agentRoots: [],
    sampleDir: folder,
    startup: { paths: [], project: null },
    platform: process.platform,
  });

function openIn(engine: Engine, folder: string): Project {
  const dir = join(folder, 'project');
  engine.trust(dir);
  return engine.open(dir);
}

async function make(kind: Kind, folder: string, size: number): Promise<void> {
  const project = engineOn(folder).create({ dir: join(folder, 'project') });
  if (kind === 'commits') makeCommits(project, size);
  else makeSessions(project, folder, kind, size);
  await deriveAll(project);
}

/** Derives data as the idle time after an import does. */
async function deriveAll(project: Project): Promise<void> {
  await Promise.all([loadPrices(), loadTokenizer()]);
  for (const _ of derive(project.chain));
  if (project.place) {
    const views = await openScopedViews(project.chain, project.place);
    for await (const _ of catchUpFindings(project.chain, async (runs) => findingsWithin(views, runs)));
    views.close();
  }
  project.close();
}

async function ask(folder: string, procedure: string, inputs: readonly string[]): Promise<void> {
  const engine = engineOn(folder);
  const session = createSession(engine);
  const project = session.use(openIn(engine, folder));
  const ids = idsIn(project);
  const client = createRouterClient(router, { context: contextOf(session) });
  const call = procedure.split('.').reduce<unknown>((at, name) => (at as Record<string, unknown>)[name], client) as (
    input: unknown,
  ) => Promise<unknown>;
  const startMegabytes = peakKilobytes() / 1024;
  const answers = [];
  for (const input of inputs.length > 0 ? inputs : ['{}']) {
    const given = JSON.parse(input.replaceAll(/\$(tip|first|session)/g, (_, name: keyof typeof ids) => ids[name]));
    const [from, cpu] = [performance.now(), process.cpuUsage()];
    const answer = await firstOf(await call(given));
    // An answer is sent as JSON.
    const bytes = (JSON.stringify(answer) ?? '').length;
    const { user, system } = process.cpuUsage(cpu);
    answers.push({ ms: performance.now() - from, cpuMs: (user + system) / 1_000, bytes });
  }
  console.log(JSON.stringify({ answers, startMegabytes, peakMegabytes: peakKilobytes() / 1024 }));
  engine.close();
  process.exit(0);
}

/** Prints what the views of a context cost: processor milliseconds of the first and the second call, peak megabytes, and bytes of the answer. */
function measureViews(folder: string, wanted: readonly string[]): void {
  for (const { procedure, input } of views.filter(({ procedure }) => wanted.length === 0 || wanted.includes(procedure))) {
    const words = [...process.execArgv, fileURLToPath(import.meta.url), 'ask', folder, procedure, JSON.stringify(input), JSON.stringify(input)];
    const { status, stdout, stderr } = spawnSync(process.execPath, words, { encoding: 'utf8' });
    if (status !== 0) throw new Error(`${procedure}: ${stderr}`);
    const { answers, peakMegabytes } = JSON.parse(stdout) as { answers: { cpuMs: number; bytes: number }[]; peakMegabytes: number };
    const figures = [...answers.map(({ cpuMs }) => cpuMs), peakMegabytes, answers[0]?.bytes ?? 0];
    console.log([procedure.padEnd(24), ...figures.map((figure) => Math.round(figure).toLocaleString('en').padStart(12))].join(''));
  }
}

/** The first result of a stream, and any other answer whole. */
async function firstOf(answer: unknown): Promise<unknown> {
  if (typeof answer !== 'object' || answer === null || !(Symbol.asyncIterator in answer)) return answer;
  const stream = answer as AsyncIterableIterator<unknown>;
  const { value } = await stream.next();
  await stream.return?.(undefined);
  return value;
}

/** The ids that inputs may name: the newest commit, the first one, and a session. */
function idsIn({ chain }: Project): { readonly tip: string; readonly first: string; readonly session: string } {
  const idAt = (order: string): string =>
    chain.db.one<{ id: string }>(`SELECT id FROM commits WHERE forked = 0 ORDER BY seq ${order} LIMIT 1`)?.id ?? '';
  const { sessionId } = chain.db.one<{ sessionId: string }>('SELECT sessionId FROM commits ORDER BY seq DESC LIMIT 1') ?? { sessionId: '' };
  return { tip: idAt('DESC'), first: idAt('ASC'), session: sessionId };
}

const [work, ...words] = process.argv.slice(2);
if (work === 'make') await make(words[0] as Kind, words[1] ?? '', Number(words[2]));
else if (work === 'derive') await deriveAll(openIn(engineOn(words[0] ?? ''), words[0] ?? ''));
else if (work === 'ask') await ask(words[0] ?? '', words[1] ?? '', words.slice(2));
else if (work === 'views') measureViews(words[0] ?? '', words.slice(1));
else
  throw new Error('usage: scale make KIND FOLDER SIZE, scale derive FOLDER, scale ask FOLDER PROCEDURE [INPUT…], or scale views FOLDER [PROCEDURE…]');

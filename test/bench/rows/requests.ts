import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import type { Project } from '../../../src/core/project/index.js';
import { getRequest, listRequests } from '../../../src/core/requests/index.js';
import { discard, importAll, openEngine, scratchEngine } from '../engine.js';
import { medians, type Part, plain, type Row, type Run, timed } from '../measure.js';

/** The real agent on loopback, with its own bodies and records. */
const tools = resolve('../shared/tools');
const hasAgent = existsSync(join(tools, 'agent-live'));
const note = 'not measured: the tools that run a real agent (../shared/tools) are not on this machine';

interface Session {
  readonly transcript: string;
  /** The bodies as they went over the wire, in order. */
  readonly bodies: readonly string[];
}

/** A session with a number of prompts, each with one tool call and one answer. */
function sessionOf(folder: string, prompts: number): Session {
  const home = join(folder, `session-${prompts}`);
  mkdirSync(home, { recursive: true });
  const script = join(home, 'script.json');
  writeFileSync(script, execFileSync(process.execPath, [join(tools, 'scenarios/long.mjs'), String(prompts)]));
  execFileSync(join(tools, 'agent-live'), ['claude', script, home], { stdio: 'pipe', timeout: 600_000, maxBuffer: 1e9 });
  const projects = join(home, '.claude/projects');
  const [transcript] = readdirSync(projects, { recursive: true, encoding: 'utf8' }).filter((path) => path.endsWith('.jsonl'));
  if (transcript === undefined) throw new Error('the agent left no transcript');
  const requests = join(home, 'requests');
  const bodies = readdirSync(requests)
    .sort((a, b) => Number.parseInt(a, 10) - Number.parseInt(b, 10))
    .map((file) => join(requests, file));
  return { transcript: join(projects, transcript), bodies };
}

/** The same session from a runtime that records no requests. */
function withoutRecords(folder: string, transcript: string): string {
  const path = join(folder, 'without-records.jsonl');
  const lines = readFileSync(transcript, 'utf8').split('\n');
  writeFileSync(path, lines.filter((line) => !line.startsWith('{"type":"api-request')).join('\n'));
  return path;
}

const importedAfresh = (folder: string, file: string) =>
  timed({
    prepare: () => scratchEngine(folder),
    run: (engine: Project) => importAll(engine.chain, [file]),
    clean: discard,
  });

function rebuilding(folder: string, { quick }: Run): Row[] {
  const rows: Pick<Row, 'id' | 'what' | 'must' | 'stretch' | 'better'>[] = [
    {
      id: 'T27',
      what: `rebuild and prove the last of ${quick ? '40' : '1,000'} calls over JSON.parse + sha256 of its body`,
      must: 2.5,
      stretch: 1.5,
      better: 'less',
    },
    { id: 'T28', what: 'import with request records, MB/s over that of the same file without', must: 0.9, stretch: 1.2, better: 'more' },
  ];
  if (!hasAgent) return rows.map((row) => ({ ...row, ratio: undefined, note }));
  const { transcript, bodies } = sessionOf(folder, quick ? 20 : 500);
  const engine = openEngine(join(folder, 'rebuilding'));
  importAll(engine.chain, [transcript]);
  const last = listRequests(engine.chain, {}).at(-1);
  if (last?.proof !== 'digest') throw new Error(`the last call is not verified: ${last?.problem}`);
  const wire = readFileSync(bodies.at(-1) ?? '');
  const call = medians(
    {
      floor: plain(() => {
        JSON.parse(wire.toString());
        createHash('sha256').update(wire).digest('hex');
      }),
      ours: plain(() => getRequest(engine.chain, last.requestId)),
    },
    25,
  );
  discard(engine);
  const bare = withoutRecords(folder, transcript);
  const ms = medians({ records: importedAfresh(folder, transcript), bare: importedAfresh(folder, bare) }, 9);
  const speed = (file: string, time: number): number => statSync(file).size / 1e3 / time;
  const [records, plainly] = [speed(transcript, ms.records), speed(bare, ms.bare)];
  const ratios = [call.ours / call.floor, records / plainly];
  const figures = [
    { messages: last.messageCount, floorMs: call.floor, oursMs: call.ours },
    { recordsMBs: records, bareMBs: plainly },
  ];
  return rows.map((row, at) => ({ ...row, ratio: ratios[at], figures: figures[at] ?? {} }));
}

function storing(folder: string, { quick }: Run): Row[] {
  const row = {
    id: 'W12',
    what: `bytes stored for ${quick ? 40 : 240} calls, repacked, over the bytes of their bodies`,
    must: 1 / 80,
    stretch: 1 / 250,
    better: 'less',
  } as const;
  if (!hasAgent) return [{ ...row, ratio: undefined, note }];
  const { transcript, bodies } = sessionOf(folder, quick ? 20 : 120);
  const sent = bodies.reduce((sum, file) => sum + statSync(file).size, 0);
  const weigh = (file: string, repacked: boolean): number => {
    const engine = scratchEngine(folder);
    importAll(engine.chain, [file]);
    if (repacked) for (const _ of engine.chain.artifacts.repack());
    engine.close();
    const bytes = bytesUnder(engine.dir);
    rmSync(engine.dir, { recursive: true, force: true });
    return bytes;
  };
  const bare = withoutRecords(folder, transcript);
  const [fresh, packed] = [false, true].map((repacked) => weigh(transcript, repacked) - weigh(bare, repacked)) as [number, number];
  return [
    {
      ...row,
      ratio: packed / sent,
      figures: { bodiesMB: sent / 1e6, repackedMB: packed / 1e6, asImportedMB: fresh / 1e6 },
    },
  ];
}

const bytesUnder = (folder: string): number =>
  readdirSync(folder, { recursive: true, withFileTypes: true }).reduce(
    (sum, file) => sum + (file.isFile() ? statSync(join(file.parentPath, file.name)).size : 0),
    0,
  );

export const requestParts: readonly Part[] = [
  { rows: ['T27', 'T28'], run: rebuilding },
  { rows: ['W12'], run: storing },
];

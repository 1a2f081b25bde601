import { spawn, spawnSync } from 'node:child_process';
import { appendFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { graph } from '../../../src/core/chain/index.js';
import { openProject } from '../../../src/core/project/index.js';
import { builtRoot } from '../built.js';
import { importAll, openEngine } from '../engine.js';
import { sessionFile, turns } from '../material.js';
import { medians, type Part, plain, type Row, type Run, timed } from '../measure.js';

/** A temporary machine with one imported Claude Code session and later turns. */
function machine(folder: string, session: string, next: readonly string[]) {
  const at = mkdtempSync(join(folder, 'hook-'));
  const config = join(at, '.claude');
  mkdirSync(join(config, 'projects', '-app'), { recursive: true });
  const path = join(config, 'projects', '-app', '00000004-0000-4000-8000-000000000000.jsonl');
  writeFileSync(path, session);
  const project = openEngine(join(at, 'bench'));
  importAll(project.chain, [path]);
  project.close();
  const commits = (): number => {
    const opened = openProject(project.dir, Date.now);
    const { total } = graph(opened.chain, { offset: 0, limit: 1 });
    opened.close();
    return total;
  };
  const env = { ...process.env, CLAUDE_CONFIG_DIR: config, STEMMA_HOME: join(at, 'home') };
  const event = JSON.stringify({ session_id: 'bench', transcript_path: path, cwd: at, hook_event_name: 'Stop' });
  let turn = 0;
  return {
    at,
    turns: () => turn,
    commits,
    /** Writes the next turn, as the agent does before it calls the hook. */
    write: () => appendFileSync(path, next[turn++] ?? ''),
    /** A hook records into trusted projects only. */
    trust: (root: string) => spawnSync(process.execPath, [join(root, 'out', 'cli', 'stemma.js'), 'trust', project.dir], { cwd: at, env }),
    hook: (root: string) =>
      spawnSync(process.execPath, [join(root, 'out', 'cli', 'stemma.js'), 'hook', '--project', project.dir], { cwd: at, env, input: event }),
  };
}

const rounds = 15;

function hook(folder: string): Row[] {
  const root = builtRoot(folder);
  const all = turns(200 + rounds + 1, 4);
  const usual = machine(folder, all.slice(0, 200).join(''), all.slice(200));
  const last = { first: sessionFile(18 * 1024 * 1024, 18), next: turns(rounds + 1, 44) };
  const lastUuid = /"uuid":"([^"]+)"[^\n]*\n$/.exec(last.first.slice(-4_096))?.[1];
  const big = machine(
    folder,
    last.first,
    last.next.map((text, n) => (n === 0 ? text.replace('"parentUuid":null', `"parentUuid":"${lastUuid}"`) : text)),
  );
  for (const each of [usual, big]) each.trust(root);
  const before = [usual.commits(), big.commits()];
  const ms = medians(
    {
      nothing: plain(() => spawnSync(process.execPath, ['-e', '0'])),
      hook: timed({ prepare: usual.write, run: () => usual.hook(root) }),
      big: timed({ prepare: big.write, run: () => big.hook(root) }),
    },
    rounds,
  );
  const made = [usual.commits(), big.commits()].map((count, place) => count - (before[place] ?? 0));
  if (made.some((count) => count !== usual.turns())) throw new Error(`the hook made ${made.join(' and ')} commits of ${usual.turns()} turns`);
  for (const { at } of [usual, big]) rmSync(at, { recursive: true, force: true });
  return [
    {
      id: 'T43 hook',
      what: 'hook to durable checkpoint, whole process, over `node -e 0`',
      ratio: ms.hook / ms.nothing,
      must: 4,
      stretch: 2.5,
      better: 'less',
      note: `the 201st turn and more of a session of 660 KB; in a session of 18 MB ${(ms.big / ms.nothing).toFixed(2)}`,
      figures: { nodeMs: ms.nothing, hookMs: ms.hook, bigSessionMs: ms.big },
    },
  ];
}

const sleep = (ms: number): void => void Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);
const minute = 60;
/** Clock ticks per second of Linux's CPU times. */
const ticksPerSecond = 100;

interface Idle {
  readonly row: Pick<Row, 'id' | 'what' | 'must' | 'stretch' | 'better'>;
  readonly files: number;
  /** The turns of each file. */
  readonly turns: number;
}

/** `stemma capture` over idle sessions, for a minute; for a second with `quick`. */
function idle(folder: string, { row, files, turns: size }: Idle, { quick }: Run): Row[] {
  const seconds = quick ? 1 : minute;
  if (process.platform !== 'linux') return [{ ...row, ratio: undefined, note: 'it is read from /proc, which only Linux has' }];
  const root = builtRoot(folder);
  const at = mkdtempSync(join(folder, 'idle-'));
  const text = turns(size, 7).join('');
  for (let n = 0; n < files; n++) {
    const sessions = join(at, '.claude', 'projects', `-app-${n % 40}`);
    mkdirSync(sessions, { recursive: true });
    writeFileSync(join(sessions, `00000007-0000-4000-8000-${String(n).padStart(12, '0')}.jsonl`), text);
  }
  const env = { ...process.env, CLAUDE_CONFIG_DIR: join(at, '.claude'), STEMMA_HOME: join(at, 'home') };
  const words = [join(root, 'out', 'cli', 'stemma.js'), 'capture', '--project', join(at, 'bench.stemma')];
  const child = spawn(process.execPath, words, { cwd: at, env, stdio: 'ignore' });
  const ticks = (): number => {
    const fields = readFileSync(`/proc/${child.pid}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? [];
    return Number(fields[11]) + Number(fields[12]);
  };
  sleep(quick ? 1_500 : 8_000);
  // It has read the files, and has done the work that waits for idle time.
  for (let quiet = 0, last = ticks(), tries = 0; quiet < 3 && tries < maxTries; tries++) {
    sleep(quick ? 400 : 5_000);
    quiet = ticks() - last < ticksPerSecond / 10 ? quiet + 1 : 0;
    last = ticks();
  }
  const before = ticks();
  sleep(seconds * 1_000);
  const used = (ticks() - before) / ticksPerSecond;
  child.kill('SIGKILL');
  sleep(500);
  rmSync(at, { recursive: true, force: true });
  return [{ ...row, ratio: used / seconds, note: `${files} sessions of ${size.toLocaleString('en')} turns`, figures: { cpuMs: used * 1_000 } }];
}

/** Waits of five seconds for an idle program. */
const maxTries = 60;

const captured = 'processor over a minute, capture on and nothing written';
const many: Idle = { row: { id: 'W7', what: captured, must: 0.005, stretch: 0, better: 'less' }, files: 400, turns: 3 };
const long = (quick: boolean): Idle => ({
  row: { id: 'T37', what: `${captured}: long sessions`, must: 0.005, stretch: 0.001, better: 'less' },
  files: 50,
  turns: quick ? 200 : 2_000,
});

export const captureParts: readonly Part[] = [
  { rows: ['T43 hook'], run: hook },
  { rows: ['W7'], run: (folder, how) => idle(folder, many, how) },
  { rows: ['T37'], run: (folder, how) => idle(folder, long(how.quick), how) },
];

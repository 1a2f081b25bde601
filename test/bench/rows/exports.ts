import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { importAll, openEngine } from '../engine.js';
import { sessionFile } from '../material.js';
import { median, type Part, type Row } from '../measure.js';

const here = dirname(fileURLToPath(import.meta.url));
const megabyte = 1024 * 1024;

interface Ran {
  readonly ms: number;
  readonly megabytes: number;
}

/** Runs a process, and returns its duration and peak memory. */
function ran(command: string, words: readonly string[]): Ran {
  const from = performance.now();
  // The system reports peak memory only for ended processes; `time` reads it for this one.
  const { status, stderr } = spawnSync('/usr/bin/time', ['-f', 'peak %M', command, ...words], { encoding: 'utf8' });
  if (status !== 0) throw new Error(stderr);
  return { ms: performance.now() - from, megabytes: Number(/peak (\d+)/.exec(stderr)?.[1]) / 1_024 };
}

/** The peer's command from its package; undefined if it is not installed. */
function peer(): string | undefined {
  try {
    const require = createRequire(join(process.cwd(), 'test', 'peers', 'package.json'));
    const manifest = require.resolve('claude-replay/package.json');
    const { bin } = JSON.parse(readFileSync(manifest, 'utf8')) as { bin: Record<string, string> };
    return join(dirname(manifest), bin['claude-replay'] ?? '');
  } catch {
    return undefined;
  }
}

function exports(folder: string, quick: boolean): Row[] {
  const at = mkdtempSync(join(folder, 'exports-'));
  const script = peer();
  const size = quick ? 5 : 50;
  if (script === undefined || !existsSync('/usr/bin/time'))
    return rows(size, undefined, undefined, {}, { note: script === undefined ? 'claude-replay is not installed' : 'there is no /usr/bin/time' });
  const file = join(at, '00000050-0000-4000-8000-000000000000.jsonl');
  writeFileSync(file, sessionFile(size * megabyte, 50));
  const stored = openEngine(join(at, 'stored'));
  const tip = importAll(stored.chain, [file]).tips.at(-1) ?? '';
  stored.close();
  const ways = {
    peer: (out: string) => ran(process.execPath, [script, file, '-o', out]),
    // The whole process, from the project on disk to the file.
    ours: (out: string) => ran(process.execPath, [join(here, 'memory.js'), 'export', stored.dir, tip, out]),
    // A process that only opens the project.
    idle: () => ran(process.execPath, [join(here, 'memory.js'), 'idle', stored.dir]),
    // The same from the transcript, with a new project.
    fromFile: (out: string) =>
      ran(process.execPath, [join(here, 'memory.js'), 'import-export', join(at, `new-${out.length}-${performance.now()}`), file, out]),
  };
  const names = Object.keys(ways) as (keyof typeof ways)[];
  const taken = Object.fromEntries(names.map((name) => [name, [] as Ran[]])) as Record<keyof typeof ways, Ran[]>;
  const sizes: Record<string, number> = {};
  for (let round = quick ? 4 : -1; round < 5; round++)
    for (const [place] of names.entries()) {
      const name = names[(place + round + 1) % names.length] as keyof typeof ways;
      const out = join(at, `${name}.html`);
      rmSync(out, { force: true });
      const one = ways[name](out);
      if (name !== 'idle') sizes[`${name}PageMB`] = statSync(out).size / 1e6;
      if (round >= 0) taken[name].push(one);
    }
  rmSync(at, { recursive: true, force: true });
  const middle = (name: keyof typeof ways, of: keyof Ran): number => median(taken[name].map((one) => one[of]));
  const figures = Object.fromEntries(
    names.flatMap((name) => [
      [`${name}Ms`, middle(name, 'ms')],
      [`${name}PeakMB`, middle(name, 'megabytes')],
    ]),
  );
  const overPeer = (name: keyof typeof ways, of: keyof Ran): number => middle(name, of) / middle('peer', of);
  const floor = { of: 'a process that only opens the project', ratio: overPeer('idle', 'megabytes') };
  return rows(size, overPeer('ours', 'ms'), overPeer('ours', 'megabytes'), { ...figures, ...sizes }, { floor });
}

const rows = (
  size: number,
  wall: number | undefined,
  peak: number | undefined,
  figures: Record<string, number>,
  { floor, note }: Pick<Row, 'floor' | 'note'>,
): Row[] =>
  [
    { id: 'T22 wall', what: `HTML export of a ${size} MB transcript over claude-replay: wall, process and all`, ratio: wall },
    { id: 'T22 peak', what: 'the same: peak memory', ratio: peak, figures, ...(floor && { floor }) },
  ].map((row) => ({ ...row, must: 0.5, stretch: 0.3, better: 'less' as const, ...(note && { note }) }));

export const exportParts: readonly Part[] = [{ rows: ['T22'], run: (folder, { quick }) => exports(folder, quick) }];

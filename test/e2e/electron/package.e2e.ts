import { spawn, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import type { Page } from '@playwright/test';
import type { Machine, Ran } from '../../support/machine.js';
import { expect, filesIn, type Package, test } from '../../support/package.js';
import { releaseOf, startFeed } from '../../support/update-feed.js';
import { entries, importAll, openContext, shownKeys } from '../../support/window.js';

// One package for all of them: building it takes most of the time.
test.describe.configure({ mode: 'serial' });

/** Keeps a picture of a window if `STEMMA_PICTURES` names a folder. */
async function picture(page: Page, name: string): Promise<void> {
  if (process.env.STEMMA_PICTURES) await page.screenshot({ path: join(process.env.STEMMA_PICTURES, `${name}.png`) });
}

/** Runs a command of the package, on a machine without a display. */
const run = ({ launcher }: Package, machine: Machine, words: readonly string[], input = ''): Ran => {
  const { status, stdout, stderr } = spawnSync(launcher, words, { cwd: machine.cwd, env: machine.env, encoding: 'utf8', input });
  return { code: status, out: stdout, err: stderr };
};

test('[D1] the package has the app, the launcher, licenses and this system only', ({ packaged: { folder, launcher, resources } }) => {
  const binaries = filesIn(folder).filter((path) => path.endsWith('.node'));
  expect(binaries.filter((path) => !path.includes(`${process.platform}-${process.arch}`))).toEqual([]);
  expect(binaries.map((path) => /better-sqlite3|blake-hash/.exec(path)?.[0]).toSorted()).toEqual(['better-sqlite3', 'blake-hash']);
  const size = filesIn(resources).reduce(
    (sum, path) => sum + (statSync(join(resources, path)).isFile() ? statSync(join(resources, path)).size : 0),
    0,
  );
  expect(size).toBeLessThan(25_000_000);
  expect(readFileSync(launcher, 'utf8')).toMatch(/^#!\/bin\/sh\n/);
  for (const name of ['THIRD-PARTY-NOTICES.txt', 'sbom.cdx.json', 'app.asar']) expect(existsSync(join(resources, name))).toBe(true);
});

/** The fuses of Electron's program, by number: `1` is on, `0` off. They follow a fixed text, the version and the count. */
function fusesOf(program: string): string {
  const bytes = readFileSync(program);
  const start = bytes.indexOf('dL7pKGdnNz796PbbjQWNKmHXBZaB9tsX') + 34;
  return bytes.subarray(start, start + (bytes[start - 1] ?? 0)).toString('latin1');
}

test('[D2] the program of the package cannot be used as Node, debugged, or given other code', ({ packaged: { program } }) => {
  const [runAsNode, cookies, options, inspect, integrity, archive, , privileges] = fusesOf(program);
  expect({ runAsNode, options, inspect, privileges }).toEqual({ runAsNode: '0', options: '0', inspect: '0', privileges: '0' });
  expect({ cookies, integrity, archive }).toEqual({ cookies: '1', integrity: '1', archive: '1' });
});

test('[D3] the command line of the package: import, log, show, hook, web, without a display', async ({ packaged, machine }) => {
  const history = machine.giveHistory();
  expect(run(packaged, machine, ['--version']).out.trim()).toBe('0.1.0');
  expect(run(packaged, machine, ['init', 'work.stemma'])).toMatchObject({ code: 0, err: '' });
  expect(run(packaged, machine, ['import', history, '--json'])).toMatchObject({ code: 0 });
  expect(run(packaged, machine, ['log']).out).toContain('Fix it, please. Test first.');
  // An option that Chromium would take for its own.
  const created = run(packaged, machine, ['ticket', 'create', 'A bug', '--type', 'bug', '--json']);
  expect(JSON.parse(created.out)).toMatchObject({ title: 'A bug', type: 'bug' });
  expect(run(packaged, machine, ['no-such-command'])).toMatchObject({ code: 2, out: '' });
  expect(run(packaged, machine, ['show', 'ctx-00000000']).code).toBe(1);
  const event = { session_id: 'x', transcript_path: '/nowhere/x.jsonl', cwd: machine.cwd, hook_event_name: 'Stop' };
  expect(run(packaged, machine, ['hook'], JSON.stringify(event))).toMatchObject({ code: 0, out: '' });
  const large = 'x'.repeat(300_000);
  const stored = run(packaged, machine, ['call', 'artifact.put', '--input', '-'], JSON.stringify({ text: large, contentType: 'text/plain' }));
  const { ref } = JSON.parse(stored.out) as { ref: string };
  const got = run(packaged, machine, ['call', 'artifact.get', '--input', JSON.stringify({ ref })]);
  expect(Buffer.from((JSON.parse(got.out) as { data: string }).data, 'base64').toString()).toBe(large);
});

test('[D3] the package serves the window to a browser, and ends with its signal', async ({ packaged, machine }) => {
  const host = spawn(packaged.launcher, ['web', '--no-open'], { cwd: machine.cwd, env: machine.env });
  const link = await new Promise<string>((resolve, reject) => {
    let text = '';
    host.stdout.on('data', (chunk: Buffer) => {
      text += chunk.toString();
      const found = /http:\S+/.exec(text)?.[0];
      if (found) resolve(found);
    });
    host.once('exit', () => reject(new Error('The host ended.')));
  });
  const answer = await fetch(link, { redirect: 'manual' });
  expect(answer.status).toBe(303);
  const cookie = answer.headers.get('set-cookie')?.split(';')[0] ?? '';
  const page = await fetch(new URL('/', link), { headers: { cookie } });
  expect(await page.text()).toContain('<div id="root">');
  const ended = new Promise((resolve) => host.once('exit', resolve));
  host.kill('SIGTERM');
  await ended;
});

test('[D4] the packaged app: open, import, read, while agents use its tools', async ({ packaged, machine, open }) => {
  machine.giveHistory();
  const app = await open();
  const page = await app.page();
  await importAll(page);
  await openContext(page, page.getByRole('option', { name: /^Fix it, please\. Test first\./ }));
  await expect(entries(page).getByText('Fix it, please. Test first.').first()).toBeVisible();
  expect((await shownKeys(page)).length).toBeGreaterThan(3);

  // The project of the open window, served to an agent by the same package.
  const project = new URLSearchParams(new URL(page.url()).hash.split('?')[1]).get('project') ?? '';
  const client = new Client({ name: 'agent', version: '1' });
  const env = machine.env as Record<string, string>;
  await client.connect(new StdioClientTransport({ command: packaged.launcher, args: ['mcp', '--project', project], env, cwd: machine.cwd }));
  const { tools } = await client.listTools();
  expect(tools.map(({ name }) => name)).toContain('checkpoint');
  const found = await client.callTool({ name: 'search', arguments: { text: 'Fix it' } });
  expect(JSON.stringify(found.content)).toContain('Test first');
  await client.close();
  expect(app.pages()).toHaveLength(1);
  // The same program without the launcher.
  const direct = spawnSync(packaged.program, ['--no-sandbox', '--log-level=3', 'log', '-p', project], { env: machine.env, encoding: 'utf8' });
  expect(direct).toMatchObject({ status: 0, stdout: expect.stringContaining('Fix it, please') });
  expect(app.pages()).toHaveLength(1);
});

test('[D5] a second start of the packaged app passes its paths to the first and ends', async ({ packaged, machine, open, displayName }) => {
  for (const name of ['one', 'two']) expect(run(packaged, machine, ['init', `${name}.stemma`]).code).toBe(0);
  const app = await open(join(machine.cwd, 'one.stemma'));
  await expect(await app.page()).toHaveURL(/one\.stemma/);
  const words = ['--no-sandbox', join(machine.cwd, 'two.stemma')];
  const second = spawnSync(packaged.program, words, { env: { ...machine.env, DISPLAY: displayName } });
  expect(second.status).toBe(0);
  await expect(await app.page(1)).toHaveURL(/two\.stemma/);
  await picture(await app.page(1), 'second');
});

test('[D13] the packaged app refuses an update that is unsigned, changed, old or from elsewhere', async ({ packaged, machine, open }) => {
  await using feed = await startFeed();
  test.skip(feed === undefined, 'this machine has no openssl, which makes the certificate of the feed');
  if (feed === undefined) return;
  // What an AppImage has around it: its own path, and the file that its builder writes.
  const image = machine.path('Stemma.AppImage');
  writeFileSync(image, 'the old version');
  writeFileSync(join(packaged.resources, 'app-update.yml'), 'updaterCacheDirName: stemma-updater\n');
  machine.env.APPIMAGE = image;
  mkdirSync(machine.path('stemma'), { recursive: true });
  writeFileSync(machine.path('stemma', 'updates.json'), JSON.stringify({ on: false, feed: feed.address }));
  const app = await open('--ignore-certificate-errors');
  const page = await app.page();
  await page.getByRole('navigation', { name: 'Places' }).getByRole('link', { name: 'Settings' }).click();
  await page.getByRole('link', { name: 'Updates and diagnostics' }).click();
  const button = page.getByRole('button', { name: 'Check for updates' });
  const check = async (): Promise<string> => {
    await button.click();
    await expect(button).toBeEnabled();
    return (
      (await page
        .getByRole('status')
        .filter({ hasText: /update|version|feed/i })
        .last()
        .textContent()) ?? ''
    );
  };
  expect(feed.asked).toEqual([]);
  const next = Buffer.from('the new version');
  const good = releaseOf('9.0.0', next);
  feed.offer({ ...good, signature: '' });
  expect(await check()).toContain('The update was refused: the manifest of the feed is not signed');
  feed.offer({ ...good, manifest: good.manifest.replace('9.0.0', '9.0.1') });
  expect(await check()).toContain('The update was refused: the signature of the manifest does not fit');
  feed.offer(releaseOf('9.0.0', next, 'https://other.example/Stemma-9.0.0.AppImage'));
  expect(await check()).toContain('The update was refused: it names a file on another server');
  feed.offer(releaseOf('0.0.1', next));
  expect(await check()).toContain('is the newest version');
  feed.offer({ ...good, file: Buffer.from('another version') });
  expect(await check()).toContain('The feed could not be read: sha512 checksum mismatch');
  expect(readFileSync(image, 'utf8')).toBe('the old version');
});

test('[T54] a package ignores STEMMA_ENGINE_NODE in its commands, too', ({ packaged, machine }) => {
  const marker = machine.path('ran');
  const program = machine.path('engine-node');
  writeFileSync(program, `#!/bin/sh\ntouch '${marker}'\n`, { mode: 0o700 });
  machine.env.STEMMA_ENGINE_NODE = program;
  expect(run(packaged, machine, ['init', 'own.stemma']).code).toBe(0);
  expect(existsSync(marker)).toBe(false);
});

import { spawn, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import type { Page } from '@playwright/test';
import type { Machine, Ran } from '../../support/machine.js';
import { expect, filesIn, type Package, test } from '../../support/package.js';
import { type Feed, releaseOf, startFeed } from '../../support/update-feed.js';
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

test('[D3] the command line of the package: import, log, show, hook, web, without a display', { tag: '@long' }, async ({ packaged, machine }) => {
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

test('[D5, D6, D9] a second start passes paths and links to the first, and a crash is repaired', { tag: '@long' }, async ({
  packaged,
  machine,
  open,
  displayName,
}) => {
  for (const name of ['one', 'two']) expect(run(packaged, machine, ['init', `${name}.stemma`]).code).toBe(0);
  const one = join(machine.cwd, 'one.stemma');
  expect(run(packaged, machine, ['import', machine.giveHistory(), '-p', one]).code).toBe(0);
  const app = await open(one);
  const page = await app.page();
  await expect(page).toHaveURL(/one\.stemma/);
  await expect(page.getByRole('option').first()).toBeVisible();
  await picture(page, 'start');
  const startWith = (word: string): void => {
    const { status } = spawnSync(packaged.program, ['--no-sandbox', word], { env: { ...machine.env, DISPLAY: displayName } });
    expect(status).toBe(0);
  };
  const [, commit = ''] = /(ctx-[0-9a-f]{8,})/.exec(run(packaged, machine, ['log', '-p', one]).out) ?? [];
  const { projectId } = JSON.parse(readFileSync(join(one, 'project.json'), 'utf8')) as { projectId: string };
  startWith(`stemma://commit/${commit}?project=${projectId}`);
  await expect(page).toHaveURL(new RegExp(`#/context\\?.*commit=${commit}`));
  await expect(entries(page)).toBeVisible();
  await picture(page, 'link');
  const place = page.url();
  // The page crashes before it can answer.
  void (await page.context().newCDPSession(page)).send('Page.crash').catch(() => undefined);
  const again = await app.pageAnew();
  await expect(again.getByText('This page crashed and was loaded again. Your place and your drafts are kept.')).toBeVisible();
  expect(again.url()).toBe(place);
  await expect(entries(again)).toBeVisible();
  await picture(again, 'crash');
  startWith(join(machine.cwd, 'two.stemma'));
  const second = (): Page | undefined => app.pages().find((each) => each.url().includes('two.stemma'));
  await expect.poll(second).toBeDefined();
  await expect((second() as Page).getByText('This project has no commits yet')).toBeVisible();
  await picture(second() as Page, 'second');
});

/** Makes the package the AppImage that this returns, by what an AppImage has around it: its own path, and the file that its builder writes. */
function asAppImage({ resources }: Package, machine: Machine, feed: Feed): string {
  const image = machine.path('Stemma.AppImage');
  writeFileSync(image, 'the old version');
  writeFileSync(join(resources, 'app-update.yml'), 'updaterCacheDirName: stemma-updater\n');
  machine.env.APPIMAGE = image;
  mkdirSync(machine.path('stemma'), { recursive: true });
  writeFileSync(machine.path('stemma', 'updates.json'), JSON.stringify({ on: false, feed: feed.address }));
  return image;
}

/** Checks for updates in the window's Settings, and returns what it says. */
async function checkForUpdates(page: Page): Promise<string> {
  const section = page.getByRole('region', { name: 'Updates and diagnostics' });
  if (!(await section.isVisible())) {
    await page.getByRole('navigation', { name: 'Places' }).getByRole('link', { name: 'Settings' }).click();
    await page.getByRole('link', { name: 'Updates' }).click();
  }
  const button = section.getByRole('button', { name: 'Check for updates' });
  await button.click();
  await expect(button).toBeEnabled();
  return (await section.getByRole('status').textContent()) ?? '';
}

const noFeed = 'this machine has no openssl, which makes the certificate of the feed';

test('[D13] the packaged app refuses an update that is unsigned, changed, old or from elsewhere', { tag: '@long' }, async ({
  packaged,
  machine,
  open,
}) => {
  await using feed = await startFeed();
  test.skip(feed === undefined, noFeed);
  if (feed === undefined) return;
  const image = asAppImage(packaged, machine, feed);
  const app = await open('--ignore-certificate-errors');
  const page = await app.page();
  const check = (): Promise<string> => checkForUpdates(page);
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

test('[D13] the packaged app takes a signed update from its feed, and installs it when it quits', { tag: '@long' }, async ({
  packaged,
  machine,
  open,
}) => {
  await using feed = await startFeed();
  test.skip(feed === undefined, noFeed);
  if (feed === undefined) return;
  const image = asAppImage(packaged, machine, feed);
  const app = await open('--ignore-certificate-errors');
  const page = await app.page();
  // The updater starts the new version once, so that it finds its place on the desktop.
  const next = Buffer.from(`#!/bin/sh\necho "$APPIMAGE_EXIT_AFTER_INSTALL" > '${machine.path('started')}'\n`);
  feed.offer(releaseOf('9.0.0', next));
  expect(await checkForUpdates(page)).toBe('Stemma 9.0.0 is downloaded. It is installed when you quit Stemma.');
  await picture(page, 'update');
  expect(feed.asked.filter((path) => path.endsWith('.AppImage'))).toEqual(['/stemma/Stemma-9.0.0.AppImage']);
  // A second check has it already.
  expect(await checkForUpdates(page)).toContain('Stemma 9.0.0 is downloaded');
  expect(feed.asked.filter((path) => path.endsWith('.AppImage'))).toHaveLength(1);
  expect(readFileSync(image, 'utf8')).toBe('the old version');
  process.kill(app.pid, 'SIGTERM');
  await app.ended;
  expect(readFileSync(image)).toEqual(next);
  expect(statSync(image).mode & 0o111).not.toBe(0);
  expect(readFileSync(machine.path('started'), 'utf8')).toBe('true\n');
});

test('[T54] a package ignores STEMMA_ENGINE_NODE in its commands, too', { tag: '@long' }, ({ packaged, machine }) => {
  const marker = machine.path('ran');
  const program = machine.path('engine-node');
  writeFileSync(program, `#!/bin/sh\ntouch '${marker}'\n`, { mode: 0o700 });
  machine.env.STEMMA_ENGINE_NODE = program;
  expect(run(packaged, machine, ['init', 'own.stemma']).code).toBe(0);
  expect(existsSync(marker)).toBe(false);
});

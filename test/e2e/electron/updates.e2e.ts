import { execFileSync } from 'node:child_process';
import { createHash, sign } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:https';
import type { AddressInfo } from 'node:net';
import type { Machine } from '../../support/machine.js';
import { expect, test } from '../../support/package.js';
import { openSettings } from '../../support/window.js';

const newer = Buffer.from('#!/bin/sh\nexit 0\n');

/** A manifest as electron-builder writes it for an AppImage. */
const manifest = (version: string, url = `Stemma-${version}-linux-x86_64.AppImage`): string =>
  [
    `version: ${version}`,
    'files:',
    `  - url: ${url}`,
    `    sha512: ${createHash('sha512').update(newer).digest('base64')}`,
    `    size: ${newer.length}`,
    "releaseDate: '2026-12-01T00:00:00.000Z'",
    '',
  ].join('\n');

/** A feed over HTTPS with a certificate of its own. */
async function feed(machine: Machine, files: Map<string, Buffer>): Promise<{ readonly url: string; readonly server: Server }> {
  const [key, cert] = [machine.path('feed.key'), machine.path('feed.pem')];
  const words = ['req', '-x509', '-newkey', 'rsa:2048', '-nodes', '-days', '2', '-subj', '/CN=127.0.0.1', '-keyout', key, '-out', cert];
  execFileSync('openssl', words, { stdio: 'ignore' });
  const server = createServer({ key: readFileSync(key), cert: readFileSync(cert) }, ({ url = '' }, response) => {
    const body = files.get(new URL(url, 'https://feed.example').pathname.slice(1));
    response.writeHead(body ? 200 : 404, { 'content-length': body?.length ?? 0 });
    response.end(body);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return { url: `https://127.0.0.1:${(server.address() as AddressInfo).port}/`, server };
}

test('[D13] the packaged app takes an update only from a signed feed, and says what happened', async ({ packaged, machine, open }) => {
  const files = new Map<string, Buffer>();
  const { url, server } = await feed(machine, files);
  const offer = (text: string, signed = true): void => {
    files.set('latest-linux.yml', Buffer.from(text));
    files.delete('latest-linux.yml.sig');
    if (signed) files.set('latest-linux.yml.sig', Buffer.from(sign(null, Buffer.from(text), packaged.updateSecret).toString('base64')));
  };
  machine.env.APPIMAGE = machine.path('Stemma.AppImage');
  writeFileSync(machine.env.APPIMAGE, 'the old version');
  const app = await open('--ignore-certificate-errors');
  const page = await app.page();
  await openSettings(page, 'Updates and diagnostics');
  const check = async (): Promise<void> => page.getByRole('button', { name: 'Check for updates' }).click();
  const said = page.getByRole('region', { name: 'Updates and diagnostics' }).getByRole('status');

  await check();
  await expect(said).toHaveText('No feed is set. Enter its address in Settings, Updates.');
  await page.getByRole('textbox', { name: 'Address of the feed' }).fill(url);
  await page.getByRole('button', { name: 'Save' }).click();
  await expect(page.getByRole('button', { name: 'Save' })).toBeDisabled();
  expect(JSON.parse(readFileSync(machine.path('stemma', 'updates.json'), 'utf8'))).toEqual({ on: false, feed: url });

  offer(manifest('9.0.0').replace('9.0.0', '9.0.1'), false);
  files.set('latest-linux.yml.sig', Buffer.from(sign(null, Buffer.from(manifest('9.0.0')), packaged.updateSecret).toString('base64')));
  await check();
  await expect(said).toHaveText('The update was refused: the signature of the manifest does not fit the key in this package.');
  offer(manifest('9.0.0'), false);
  await check();
  await expect(said).toHaveText(/^The feed could not be read: /);
  offer(manifest('9.0.0', 'https://evil.example/Stemma-9.0.0.AppImage'));
  await check();
  await expect(said).toHaveText('The update was refused: it names a file on another server, https://evil.example.');
  offer(manifest('0.1.0'));
  await check();
  await expect(said).toHaveText('Stemma 0.1.0 is the newest version.');
  // The file has other bytes than the manifest says.
  offer(manifest('9.0.0'));
  files.set('Stemma-9.0.0-linux-x86_64.AppImage', Buffer.from('#!/bin/sh\nexit 1\n'));
  await check();
  await expect(said).toHaveText(/^The feed could not be read: .*sha512/);
  files.set('Stemma-9.0.0-linux-x86_64.AppImage', newer);
  await check();
  await expect(said).toHaveText('Stemma 9.0.0 is downloaded. It is installed when you quit Stemma.');
  expect(readFileSync(machine.path('stemma', 'logs', 'app.log'), 'utf8')).toContain(' update status=ready version=9.0.0');
  server.close();
});

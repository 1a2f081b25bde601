import { generateKeyPairSync, sign } from 'node:crypto';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createRouterClient } from '@orpc/server';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { createSession, type EngineOptions } from '../../src/core/project/index.js';
import { contextOf, router } from '../../src/core/router/index.js';
import { NotSigned, verifiedText } from '../../src/main/electron/signature.js';
import { startEngine } from '../../src/main/engine/index.js';
import { type ContractClient, diagnosticsOf, logEvent } from '../../src/main/launch/index.js';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'stemma-test-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

/** An engine on this machine's folder, and a client. */
function started() {
  const options: EngineOptions = {
    dataDir: join(folder, 'data'),
    agentRoots: [],
    sampleDir: folder,
    startup: { paths: [], project: null },
    platform: 'linux',
  };
  const engine = startEngine(options);
  return { engine, client: createRouterClient(router, { context: contextOf(createSession(engine)) }) as ContractClient };
}

describe('links of Stemma', () => {
  test('[D8] a link leads to a recent project that is trusted here, by its id', async () => {
    const { engine, client } = started();
    const { projectId, dir } = await client.project.create({ dir: join(folder, 'work.stemma') });
    const url = `stemma://commit/ctx-3f9a12c4?project=${projectId}`;
    expect(await client.desktop.link({ url })).toEqual({ kind: 'commit', dir, commit: 'ctx-3f9a12c4' });
    expect(await client.desktop.link({ url: 'stemma://session/ses-1' })).toEqual({ kind: 'session', dir, session: 'ses-1' });
    await expect(client.desktop.link({ url: `stemma://session/ses-1?project=${projectId}1` })).rejects.toMatchObject({ code: 'NOT_FOUND' });
    await expect(client.desktop.link({ url: 'stemma://run/x' })).rejects.toMatchObject({ code: 'BAD_REQUEST', data: { field: 'url' } });
    engine.close();
    // The same project, known here but not trusted any more.
    rmSync(join(folder, 'data', 'trusted'), { recursive: true });
    mkdirSync(join(folder, 'data', 'trusted'));
    writeFileSync(join(folder, 'data', 'trusted', 'adopted'), '');
    const again = started();
    const tried = again.client.desktop.link({ url });
    await expect(tried).rejects.toMatchObject({ code: 'NOT_FOUND', data: { id: projectId } });
    again.engine.close();
  });

  test('[D8] a link to a share reaches no hub', async () => {
    const { engine, client } = started();
    const share = 'https://127.0.0.1:9/share/web-shop/stm_abc';
    expect(await client.desktop.link({ url: `stemma://share?link=${encodeURIComponent(share)}` })).toEqual({ kind: 'share', share });
    engine.close();
  });
});

describe("the application's log", () => {
  const file = (): string => join(folder, 'logs', 'app.log');

  test('[D11] it writes codes and no other text, for its owner alone', () => {
    logEvent('page-gone', { reason: 'crashed', exitCode: 5, path: '/home/me/secret plan.jsonl', text: 'a\nb' }, folder);
    const [line = ''] = readFileSync(file(), 'utf8').split('\n');
    expect(line).toMatch(/^\d{4}-\S+Z page-gone reason=crashed exitCode=5 path=text:\d+ text=text:3$/);
    if (process.platform !== 'win32') expect(statSync(file()).mode & 0o777).toBe(0o600);
  });

  test('[D11] it begins a new file at 256 KiB and keeps two', () => {
    logEvent('app-start', {}, folder);
    writeFileSync(file(), 'x'.repeat(256 * 1024 + 1));
    logEvent('app-start', {}, folder);
    logEvent('app-end', {}, folder);
    expect(readFileSync(file(), 'utf8').trim().split('\n')).toHaveLength(2);
    expect(statSync(`${file()}.old`).size).toBeGreaterThan(256 * 1024);
    writeFileSync(file(), 'y'.repeat(256 * 1024 + 1));
    logEvent('app-start', {}, folder);
    expect(readFileSync(`${file()}.old`, 'utf8')[0]).toBe('y');
  });

  test('[D11] a log that cannot be written keeps nothing from working', () => {
    writeFileSync(join(folder, 'logs'), '');
    expect(() => logEvent('app-start', {}, folder)).not.toThrow();
  });

  test('[D12] diagnostics have versions, the system and the end of the log, at every door', async () => {
    for (let n = 0; n < 300; n++) logEvent('page-gone', { exitCode: n }, folder);
    const { log, ...facts } = diagnosticsOf('1.2.3', folder);
    expect(log).toHaveLength(200);
    expect(log.at(-1)).toMatch(/ page-gone exitCode=299$/);
    expect(facts).toMatchObject({ version: '1.2.3', versions: { node: process.versions.node }, system: { platform: process.platform } });
    const { engine, client } = started();
    expect(await client.desktop.diagnostics({})).toMatchObject({ installed: expect.any(String), log: [] });
    expect(JSON.stringify(await client.desktop.diagnostics({}))).not.toContain(folder);
    engine.close();
  });
});

describe('updates', () => {
  test('[D13] they are off until a person turns them on, and a feed is read over HTTPS only', async () => {
    const { engine, client } = started();
    expect(await client.desktop.updates({})).toEqual({ on: false, feed: null });
    const feed = 'https://updates.example/stemma';
    expect(await client.desktop.setUpdates({ feed })).toEqual({ on: false, feed });
    expect(await client.desktop.setUpdates({ on: true })).toEqual({ on: true, feed });
    for (const bad of ['http://updates.example/', 'file:///tmp/feed', 'updates.example'])
      await expect(client.desktop.setUpdates({ feed: bad })).rejects.toMatchObject({ code: 'BAD_REQUEST', data: { field: 'feed' } });
    // Another program changed the file.
    writeFileSync(join(folder, 'data', 'updates.json'), '{"on": "yes", "feed": "http://evil.example/"}');
    expect(await client.desktop.updates({})).toEqual({ on: false, feed: null });
    await expect(client.desktop.checkForUpdates({})).rejects.toMatchObject({ code: 'UNAVAILABLE' });
    engine.close();
  });

  test('[D13] a manifest counts only with a signature by the key of the package', () => {
    const { publicKey, privateKey } = generateKeyPairSync('ed25519');
    const key = publicKey.export({ format: 'der', type: 'spki' }).toString('base64');
    const text = 'version: 9.0.0\n';
    const signature = sign(null, Buffer.from(text), privateKey).toString('base64');
    expect(verifiedText(text, `${signature}\n`, key)).toBe(text);
    expect(() => verifiedText(text.replace('9', '8'), signature, key)).toThrow(NotSigned);
    expect(() => verifiedText(text, '', key)).toThrow(/not signed/);
    expect(() => verifiedText(text, sign(null, Buffer.from(text), generateKeyPairSync('ed25519').privateKey).toString('base64'), key)).toThrow(
      NotSigned,
    );
    const other = generateKeyPairSync('rsa', { modulusLength: 2048 }).publicKey.export({ format: 'der', type: 'spki' }).toString('base64');
    expect(() => verifiedText(text, signature, other)).toThrow(/Ed25519/);
  });
});

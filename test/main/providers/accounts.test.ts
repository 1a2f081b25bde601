import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import type { Vault } from '../../../src/core/project/index.js';
import { openAccounts } from '../../../src/main/providers/index.js';
import { completionEvents, modelServer, stream } from '../../support/model-server.js';
import { scratch } from '../../support/project.js';

const flipped = (bytes: Buffer): Buffer => Buffer.from(bytes.map((byte) => byte ^ 0x5a));

/** Seals as an operating system does: the sealed text does not look like the secret. */
const vault: Vault = {
  seal: async (text) => flipped(Buffer.from(text)).toString('base64'),
  unseal: async (sealed) => flipped(Buffer.from(sealed, 'base64')).toString(),
};

describe('providers in the settings', () => {
  test('a key is stored sealed, never returned, and sent to its provider only', async () => {
    const server = await modelServer((response) => stream(response, completionEvents('hi')));
    onTestFinished(() => server.close());
    const dataDir = scratch();
    const accounts = openAccounts({ dataDir, env: {}, vault });
    await accounts.set({ title: 'My server', wire: 'openai', url: server.url, key: 'sk-secret' });
    expect((await accounts.list()).providers.at(-1)).toEqual({
      id: 'my-server',
      title: 'My server',
      wire: 'openai',
      url: server.url,
      hasKey: true,
      from: 'settings',
    });
    for (const file of readdirSync(dataDir)) expect(readFileSync(join(dataDir, file), 'utf8')).not.toContain('sk-secret');
    for await (const _ of accounts
      .providers()
      .find(({ id }) => id === 'my-server')
      ?.stream({ model: 'm', body: {}, headers: {} }, undefined) ?? []);
    expect(server.asked[0]?.headers.authorization).toBe('Bearer sk-secret');
  });

  test('a new address does not get the key of the old one', async () => {
    const accounts = openAccounts({ dataDir: scratch(), env: {}, vault });
    await accounts.set({ title: 'A', wire: 'openai', url: 'http://127.0.0.1:1', key: 'k' });
    await accounts.set({ id: 'a', title: 'A2', wire: 'openai', url: 'http://127.0.0.1:1' });
    expect((await accounts.list()).providers.at(-1)).toMatchObject({ title: 'A2', hasKey: true });
    await accounts.set({ id: 'a', title: 'A2', wire: 'openai', url: 'http://127.0.0.1:2' });
    expect((await accounts.list()).providers.at(-1)).toMatchObject({ hasKey: false });
    await accounts.remove('a');
    expect((await accounts.list()).providers.map(({ from }) => from)).toEqual(['machine', 'machine']);
  });

  test('without a vault, a key is refused and the error names the environment', async () => {
    const accounts = openAccounts({ dataDir: scratch(), env: { ANTHROPIC_API_KEY: 'sk-env' }, vault: undefined });
    await expect(accounts.set({ title: 'A', wire: 'openai', url: 'http://127.0.0.1:1', key: 'k' })).rejects.toThrow(/ANTHROPIC_API_KEY/);
    const listed = await accounts.list();
    expect(listed.providers[0]).toMatchObject({ id: 'anthropic', hasKey: true, from: 'environment' });
    expect(JSON.stringify(listed)).not.toContain('sk-env');
    await expect(accounts.set({ id: 'anthropic', title: 'A', wire: 'anthropic', url: 'http://127.0.0.1:1' })).rejects.toThrow(/environment/);
  });
});

import { existsSync, mkdirSync, readFileSync, symlinkSync } from 'node:fs';
import { createORPCClient } from '@orpc/client';
import { RPCLink } from '@orpc/client/websocket';
import type { ContractRouterClient } from '@orpc/contract';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { WebSocket } from 'ws';
import type { Contract } from '../../src/core/contract/index.js';
import { ensureBuilt } from '../support/built.js';
import { type Machine, machine, type WebHost } from '../support/machine.js';
import { ask, signIn } from '../support/raw-web.js';

type Client = ContractRouterClient<Contract>;

let own: Machine;
let host: WebHost;
let dir: string;
let page: { cookie: string; origin: string };
let commit: string;
let sourceId: string;
/** A connection of a window, as a page that hostile text has taken over has it. */
let window: Client;
let script: Client;

beforeAll(async () => {
  await ensureBuilt();
  own = machine();
  host = await own.web();
  dir = own.path('work', 'p.stemma');
  await own.run('init', dir);
  await own.run('import', own.giveHistory(), '--project', dir);
  page = await signIn(host);
  window = await connect(page);
  script = await connect({ authorization: `Bearer ${host.bearer}` });
  commit = (await window.context.tips({}))[0]?.id ?? '';
  sourceId = (await window.source.list({}))[0]?.sourceId ?? '';
});

afterAll(() => own?.[Symbol.asyncDispose]());

async function connect(headers: Record<string, string>): Promise<Client> {
  const socket = new WebSocket(`ws://127.0.0.1:${host.port}/rpc`, { headers });
  const client: Client = createORPCClient(new RPCLink({ websocket: socket as never }));
  await client.project.open({ dir });
  return client;
}

const refused = (path: string) => ({ code: 'UNAUTHORIZED', data: { path, field: 'path' } });

describe('a window writes no file that its person has not confirmed', () => {
  test('[T47] with any procedure that takes a path', async () => {
    // Text that breaks out of a transcript plants a program that starts with the desktop.
    const path = own.path('.config', 'autostart', 'evil.desktop');
    mkdirSync(own.path('.config', 'autostart'), { recursive: true });
    const attempts = [
      () => window.export.context({ id: commit as never, format: 'markdown', path }),
      () => window.export.context({ id: commit as never, format: 'markdown', path, redact: true }),
      () => window.export.comparison({ ids: [commit, commit] as never, path }),
      () => window.experiment.export({ experimentId: 'any', format: 'csv', path }),
      () => window.source.get({ sourceId, path }),
    ];
    for (const attempt of attempts) await expect(attempt()).rejects.toMatchObject(refused(path));
    expect(existsSync(path)).toBe(false);
  });

  test('[T47] and no session in the folder of an agent', async () => {
    await expect(window.export.resume({ id: commit as never, agent: 'codex' })).rejects.toMatchObject({ code: 'UNAUTHORIZED' });
    expect(existsSync(own.path('.codex'))).toBe(false);
  });

  test('[T47] over HTTP with the cookie neither', async () => {
    const path = own.path('over-http.md');
    const headers = { ...page, 'content-type': 'application/json', 'stemma-project': encodeURIComponent(dir) };
    const reply = await ask(host.port, '/api/export/context', headers, 'POST', JSON.stringify({ id: commit, format: 'markdown', path }));
    expect(reply.status).toBe(401);
    expect(JSON.parse(reply.body)).toMatchObject(refused(path));
    expect(existsSync(path)).toBe(false);
  });

  test('[T47] a link to an allowed folder is that folder, a link in it to another one is not', async () => {
    const [allowed, other] = [own.path('allowed'), own.path('other')];
    for (const folder of [allowed, other]) mkdirSync(folder);
    symlinkSync(other, own.path('allowed', 'way-out'));
    symlinkSync(allowed, own.path('same'));
    await window.library.allowWrite({ path: own.path('allowed', 'first.md') });
    await window.export.context({ id: commit as never, format: 'markdown', path: own.path('same', 'second.md') });
    expect(existsSync(own.path('allowed', 'second.md'))).toBe(true);
    const outside = own.path('allowed', 'way-out', 'third.md');
    await expect(window.export.context({ id: commit as never, format: 'markdown', path: outside })).rejects.toMatchObject(
      refused(own.path('other', 'third.md')),
    );
    await expect(
      window.export.context({ id: commit as never, format: 'markdown', path: own.path('allowed', 'x', '..', '..', 'other', 'up.md') }),
    ).rejects.toMatchObject(refused(own.path('other', 'up.md')));
    await expect(window.export.context({ id: commit as never, format: 'markdown', path: own.path('allowed', '.bashrc') })).rejects.toMatchObject(
      refused(own.path('allowed', '.bashrc')),
    );
  });

  test('[T47] a script with the bearer and the command line write what their person says', { tags: 'long' }, async () => {
    const [one, two] = [own.path('script.md'), own.path('cli.md')];
    await script.export.context({ id: commit as never, format: 'markdown', path: one });
    expect(await own.run('export', commit, '-o', two, '--to', 'markdown', '--project', dir)).toMatchObject({ code: 0 });
    expect(readFileSync(one, 'utf8')).toBe(readFileSync(two, 'utf8'));
  });
});

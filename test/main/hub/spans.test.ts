import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { tips } from '../../../src/core/chain/index.js';
import { openStore } from '../../../src/core/replicas/index.js';
import { pull } from '../../../src/core/sync/index.js';
import { openHubDatabase, openHubObjects, serveHub } from '../../../src/main/hub/index.js';
import { startTestHub, type TestHub } from '../../support/hub.js';
import { said } from '../../support/imports.js';
import { emptyChain, scratch } from '../../support/project.js';

let hub: TestHub;
beforeAll(async () => {
  hub = await startTestHub();
});
afterAll(() => hub?.close());

const turn = (n: number): Buffer => readFileSync(join(import.meta.dirname, `../../fixtures/otlp/made-here-turn-${n}.pb`));

/** A hub that receives spans. */
async function receiving() {
  const database = await openHubDatabase(hub.databaseUrl);
  const objects = openHubObjects(openStore('hub', { kind: 'folder', dir: hub.objectsDir }));
  const problems: string[] = [];
  const running = await serveHub({
    database,
    objects,
    port: 0,
    host: '127.0.0.1',
    spans: join(scratch(), 'spans'),
    onProblem: (problem) => void problems.push(problem),
  });
  let isClosed = false;
  const close = async (): Promise<void> => {
    if (isClosed) return;
    isClosed = true;
    await running.close();
    await database.close();
  };
  onTestFinished(close);
  const send = (body: Buffer, token: string, headers: Record<string, string> = {}): Promise<Response> =>
    fetch(`http://127.0.0.1:${running.port}/v1/traces`, {
      method: 'POST',
      body: body as never,
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/x-protobuf', connection: 'close', ...headers },
    });
  return { send, close, problems };
}

describe('spans of a fleet', () => {
  test('[E40] spans that a machine sends become a session of its project, which grows by turns', async () => {
    const remote = await hub.project('fleet');
    const { token } = await hub.client().members.add({ project: 'fleet', name: 'build 7', role: 'pusher' });
    const { send, close, problems } = await receiving();
    for (const n of [1, 2]) expect((await send(turn(n), token)).status).toBe(200);
    await close();
    expect(problems).toEqual([]);
    const theirs = emptyChain();
    expect((await pull(theirs, remote)).refused).toEqual([]);
    const [tip, ...others] = tips(theirs, {});
    expect(others).toEqual([]);
    const texts = said(theirs, tip?.id as never, 'root');
    expect(texts).toContain('user text  List the files');
    expect(texts.at(-1)).toContain('not allowed');
    expect((await hub.client().audit.list({ project: 'fleet' })).some(({ by, action }) => by === 'build 7' && action === 'push')).toBe(true);
  });

  test('[E40] only tokens that may push send spans, into their project alone', async () => {
    await hub.project('fleet-a');
    await hub.project('fleet-b');
    const tokenFor = async (role: 'reader' | 'reviewer' | 'pusher') =>
      (await hub.client().members.add({ project: 'fleet-a', name: role, role })).token;
    const { send } = await receiving();
    expect((await send(turn(1), 'stm_unknown')).status).toBe(401);
    for (const role of ['reader', 'reviewer'] as const) expect((await send(turn(1), await tokenFor(role))).status, role).toBe(401);
    const token = await tokenFor('pusher');
    expect((await send(turn(1), token, { 'x-stemma-project': 'fleet-b' })).status).toBe(404);
    expect((await send(turn(1), token, { 'x-stemma-project': "../x'; DROP TABLE item" })).status).toBe(404);
    expect((await send(Buffer.from('no spans'), token)).status).toBe(400);
    // The admin of the hub opens every project, and names one.
    expect((await send(turn(1), hub.admin)).status).toBe(400);
    expect((await send(turn(1), hub.admin, { 'x-stemma-project': 'fleet-b' })).status).toBe(200);
  });
});

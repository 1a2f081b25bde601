import { mkdirSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { generateKeyPair, SignJWT, UnsecuredJWT } from 'jose';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { openStore } from '../../../src/core/replicas/index.js';
import { openMachineHubs, pull } from '../../../src/core/sync/index.js';
import { openHubDatabase, openHubObjects, openOidc, serveHub } from '../../../src/main/hub/index.js';
import { hubAt, hubClient, openLogins } from '../../../src/main/team/index.js';
import { startTestHub, type TestHub } from '../../support/hub.js';
import { startTestIssuer, type TestIssuer } from '../../support/issuer.js';
import { emptyChain, scratch, scratchUntilEnd } from '../../support/project.js';

let hub: TestHub;
let issuer: TestIssuer;
/** A process of the hub that accepts sign-ins. */
let address = '';
const ended: (() => Promise<void>)[] = [];
beforeAll(async () => {
  [hub, issuer] = await Promise.all([startTestHub(), startTestIssuer()]);
  const objectsDir = join(scratchUntilEnd(), 'objects');
  mkdirSync(objectsDir);
  const database = await openHubDatabase(hub.databaseUrl);
  const running = await serveHub({
    database,
    objects: openHubObjects(openStore('hub', { kind: 'folder', dir: objectsDir })),
    port: 0,
    host: '127.0.0.1',
    oidc: openOidc({ issuer: issuer.url, audience: 'stemma' }),
  });
  ended.push(running.close, database.close);
  address = `http://127.0.0.1:${running.port}`;
  for (const project of ['web', 'shop', 'other']) await hub.client().projects.create({ project });
  await hub.client().members.grant({ project: 'web', name: 'Sarah', role: 'reader', identity: 'Sarah@example.com' });
  await hub.client().members.grant({ project: 'shop', name: 'Sarah', role: 'admin', identity: 'sarah@example.com' });
  await hub.client().members.grant({ project: 'web', name: 'Robot', role: 'writer', identity: 'subject-7' });
});
beforeEach(() => Object.assign(issuer, { person: sarah, seconds: 600, pending: 0 }));
afterAll(async () => {
  for (const end of ended) await end();
  await issuer?.close();
  await hub?.close();
});

const sarah = { sub: 'subject-1', email: 'sarah@Example.com', email_verified: true };
const as = (token: string) => hubClient({ hub: address, token });

describe('signing in at an issuer', () => {
  test('[E31] a verified name has the roles that an admin gave it, each in its project only', async () => {
    const client = as(await issuer.token(sarah));
    expect((await client.projects.list({})).map(({ project, role }) => [project, role])).toEqual([
      ['shop', 'admin'],
      ['web', 'reader'],
    ]);
    expect(await client.sync.hello({ project: 'web' })).toMatchObject({ name: 'Sarah', role: 'reader' });
    await expect(client.members.list({ project: 'web' })).rejects.toMatchObject({ code: 'UNAUTHORIZED' });
    expect((await client.members.list({ project: 'shop' })).map(({ identity }) => identity)).toContain('sarah@example.com');
    await expect(client.sync.hello({ project: 'other' })).rejects.toMatchObject({ code: 'NOT_FOUND' });
    await expect(client.audit.list({ project: 'other' })).rejects.toMatchObject({ code: 'NOT_FOUND' });
    await expect(client.projects.create({ project: 'mine' })).rejects.toMatchObject({ code: 'UNAUTHORIZED' });
    await expect(client.members.grant({ project: null, name: 'me', role: 'admin', identity: 'me' })).rejects.toMatchObject({ code: 'UNAUTHORIZED' });
    // A subject without an e-mail address names a member too.
    expect(await as(await issuer.token({ sub: 'subject-7' })).sync.hello({ project: 'web' })).toMatchObject({ name: 'Robot', role: 'writer' });
  });

  test('[E31] a new role replaces the earlier one, and a revoked member has none', async () => {
    const identity = 'kim@example.com';
    const client = as(await issuer.token({ sub: 'subject-2', email: identity, email_verified: true }));
    const { id } = await hub.client().members.grant({ project: 'web', name: 'Kim', role: 'admin', identity });
    await hub.client().members.grant({ project: 'web', name: 'Kim', role: 'reader', identity });
    expect((await client.sync.hello({ project: 'web' })).role).toBe('reader');
    const { id: other } = await hub.client().members.add({ project: 'web', name: 'a token', role: 'reader' });
    await expect(as(await issuer.token(sarah)).members.revoke({ id: other })).rejects.toMatchObject({ code: 'NOT_FOUND' });
    const now = (await hub.client().members.list({ project: 'web' })).find((each) => each.identity === identity && !each.revoked);
    expect(now?.id).not.toBe(id);
    await hub.client().members.revoke({ id: now?.id ?? 0 });
    await expect(client.sync.hello({ project: 'web' })).rejects.toMatchObject({ code: 'UNAUTHORIZED' });
  });

  test('[E76] what a new role could not make ends with the earlier one', async () => {
    const identity = 'lee@example.com';
    const client = as(await issuer.token({ sub: 'subject-3', email: identity, email_verified: true }));
    const grant = (role: 'admin' | 'reader', expiresAt?: string) =>
      hub.client().members.grant({ project: 'other', name: 'Lee', role, identity, expiresAt: expiresAt as never });
    await grant('admin');
    const made = await client.members.add({ project: 'other', name: 'door of Lee', role: 'admin' });
    const below = await hub.client(made.token).members.add({ project: 'other', name: 'door of the door', role: 'reader' });
    const soon = '2099-01-01T00:00:00.000Z';
    await grant('admin', soon);
    const endOf = async () =>
      (await hub.client().members.list({ project: 'other' }))
        .filter(({ id, revoked }) => !revoked && [made.id, below.id].includes(id))
        .map(({ expiresAt }) => expiresAt);
    expect(await endOf()).toEqual([soon, soon]);
    await grant('reader');
    expect(await endOf()).toEqual([]);
    const [line] = await hub.client().audit.list({ project: 'other' });
    expect([line?.action, line?.count, line?.what]).toEqual(['add reader Lee', 3, expect.stringContaining('door of Lee')]);
    expect(await client.sync.hello({ project: 'other' })).toMatchObject({ role: 'reader' });
  });

  test('[E31] false, foreign, expired, unsigned and unverified sign-ins are refused', async () => {
    const { privateKey: foreign } = await generateKeyPair('ES256');
    const good = await issuer.token(sarah);
    const [header = '', , signature = ''] = good.split('.');
    const other = Buffer.from(JSON.stringify({ ...sarah, iss: issuer.url, aud: 'stemma', exp: 4e9 })).toString('base64url');
    const unsigned = new UnsecuredJWT(sarah).setIssuer(issuer.url).setAudience('stemma').setExpirationTime('10m').encode();
    const tokens = {
      'another issuer': await issuer.token(sarah, { issuer: 'https://evil.example' }),
      'another audience': await issuer.token(sarah, { audience: 'another' }),
      'another key': await issuer.token(sarah, { key: foreign }),
      'no signature': unsigned,
      'a shared secret': await sharedSecret(),
      'other content': `${header}.${other}.${signature}`,
      expired: await issuer.token(sarah, { expires: -3_600 }),
      'unverified address': await issuer.token({ ...sarah, email_verified: false }),
      'address as a text': await issuer.token({ ...sarah, email_verified: 'true' }),
      'address as the subject': await issuer.token({ sub: 'sarah@example.com' }),
      'unknown member': await issuer.token({ sub: 'subject-9', email: 'nobody@example.com', email_verified: true }),
    };
    for (const [name, token] of Object.entries(tokens))
      await expect(as(token).projects.list({}), name).rejects.toMatchObject({ code: 'UNAUTHORIZED' });
    expect(await as(good).projects.list({})).toHaveLength(2);
    // A hub without an issuer takes none of them.
    await expect(hub.client(good).projects.list({})).rejects.toMatchObject({ code: 'UNAUTHORIZED' });
    expect(() => openOidc({ issuer: 'http://sso.example', audience: 'stemma' })).toThrow(/https/);
  });

  test('[E32] a person signs in with a code, and the sign-in is renewed before it ends', async () => {
    const dataDir = scratch();
    const logins = openLogins(dataDir);
    issuer.pending = 2;
    issuer.seconds = 1;
    const { entered, ...told } = await logins.signIn(`${address}/`);
    expect(told).toEqual({ issuer: issuer.url, code: 'ABCD-EFGH', address: `${issuer.url}/enter` });
    await entered();
    const remote = hubAt({ hub: address, project: 'web', token: undefined }, logins);
    issuer.seconds = 600;
    // Two calls at once: the loser of the race for the refresh token uses what the winner got.
    await Promise.all([remote.hello(), remote.hello()]);
    expect((await pull(emptyChain(), remote)).refused).toEqual([]);
    const bearer = await logins.bearer(address);
    expect(await openLogins(dataDir).bearer(address)).toBe(bearer);
    const [file = ''] = readdirSync(join(dataDir, 'logins'));
    expect(statSync(join(dataDir, 'logins', file)).mode & 0o077).toBe(0);
    logins.signOut(address);
    await expect(remote.hello()).rejects.toThrow(/stemma login/);
  });

  test('[E32] a sign-in is sealed where the machine can, and a project remembers that it uses it', async () => {
    const dataDir = scratch();
    const vault = {
      seal: async (text: string) => Buffer.from(text).toString('base64'),
      unseal: async (text: string) => Buffer.from(text, 'base64').toString(),
    };
    const logins = openLogins(dataDir, vault);
    await (await logins.signIn(address)).entered();
    const [file = ''] = readdirSync(join(dataDir, 'logins'));
    expect(readFileSync(join(dataDir, 'logins', file), 'utf8')).not.toContain('refresh-');
    expect(await hubAt({ hub: address, project: 'web', token: undefined }, logins).hello()).toMatchObject({ role: 'reader' });
    const hubs = openMachineHubs(dataDir, vault);
    await hubs.set('project', { hub: address, project: 'web', token: undefined });
    expect(await hubs.of('project')).toEqual({ hub: address, project: 'web', token: undefined });
    await expect(logins.signIn(hub.address)).rejects.toMatchObject({ code: 'NOT_FOUND' });
  });
});

/** A token signed with a secret that everyone knows: the text of the public key. */
async function sharedSecret(): Promise<string> {
  const keys = await (await fetch(`${issuer.url}/keys`)).text();
  return new SignJWT(sarah)
    .setProtectedHeader({ alg: 'HS256', kid: 'one' })
    .setIssuer(issuer.url)
    .setAudience('stemma')
    .setExpirationTime('10m')
    .sign(new TextEncoder().encode(keys));
}

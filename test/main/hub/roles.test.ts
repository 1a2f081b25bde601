import { isContractProcedure } from '@orpc/contract';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { packParcel, push } from '../../../src/core/sync/index.js';
import { hubContract } from '../../../src/main/team/index.js';
import { chainWith, digestsOf, startTestHub, type TestHub } from '../../support/hub.js';

let hub: TestHub;
beforeAll(async () => {
  // These tests show hundreds of tokens that are refused. The usual limit would make each further one wait.
  hub = await startTestHub({ refused: { atOnce: 10_000, perSecond: 1 } });
});
afterAll(() => hub?.close());

const namesIn = (node: object, path: string[] = []): string[] =>
  isContractProcedure(node) ? [path.join('.')] : Object.entries(node).flatMap(([name, below]) => namesIn(below as object, [...path, name]));
const procedures = namesIn(hubContract);

const roles = ['reader', 'reviewer', 'writer', 'admin', 'pusher', 'link', 'reviewer link', 'hub admin'] as const;
type Role = (typeof roles)[number];

const pullers: readonly Role[] = ['reader', 'reviewer', 'writer', 'admin', 'link', 'reviewer link', 'hub admin'];
const senders: readonly Role[] = ['reviewer', 'writer', 'admin', 'pusher', 'reviewer link', 'hub admin'];
const admins: readonly Role[] = ['admin', 'hub admin'];
/** Which roles may call a procedure in their own project. A new procedure needs a line here. */
const may: Readonly<Record<string, readonly Role[]>> = {
  'sync.hello': roles,
  'sync.lack': senders,
  'sync.send': senders,
  'sync.items': pullers,
  'sync.objects': pullers,
  'sync.outlines': pullers,
  'sync.about': pullers,
  'sync.join': ['writer', 'admin', 'pusher', 'hub admin'],
  'projects.list': ['reader', 'reviewer', 'writer', 'admin', 'pusher', 'hub admin'],
  'projects.create': ['hub admin'],
  'projects.retain': admins,
  'members.list': admins,
  'members.add': admins,
  'members.grant': admins,
  'members.share': ['writer', 'admin', 'hub admin'],
  'members.revoke': admins,
  'audit.list': admins,
};

describe('the procedures of a hub by role', () => {
  test('[E9, E19] every procedure of the contract has a line for its roles', () => {
    expect(procedures.sort()).toEqual(Object.keys(may).sort());
  });

  test.each(procedures)('[E9, E19] %s answers the roles that may call it, in their project only', async (procedure) => {
    const project = `roles-${procedure.replace('.', '-').toLowerCase()}`;
    const mine = chainWith(`content of ${project}`);
    await push(mine, await hub.project(project));
    await push(chainWith('of others'), await hub.project('others'));
    const [commit = ''] = digestsOf(mine);
    const [hash = ''] = mine.db.all<{ hash: Buffer }>('SELECT hash FROM artifact').map((row) => row.hash.toString('hex'));
    const { members } = hub.client();
    const tokenOf = async (role: Role): Promise<string> => {
      if (role === 'hub admin') return hub.admin;
      if (role === 'link') return (await members.share({ project, commit, name: role, role: 'reader' })).token;
      if (role === 'reviewer link') return (await members.share({ project, commit, name: role, role: 'reviewer' })).token;
      return (await members.add({ project, name: role, role })).token;
    };
    const inputFor = async (name: string): Promise<Record<string, unknown>> => {
      const inputs: Readonly<Record<string, () => Promise<Record<string, unknown>> | Record<string, unknown>>> = {
        'sync.hello': () => ({ project: name }),
        'sync.lack': () => ({ project: name, items: [['context', commit, commit]], objects: [hash] }),
        'sync.send': () => ({ project: name, parcel: new Blob([packParcel({ items: [], objects: [] }) as Uint8Array<ArrayBuffer>]) }),
        'sync.items': () => ({ project: name, after: 0 }),
        'sync.objects': () => ({ project: name, hashes: [hash] }),
        'sync.outlines': () => ({ project: name, contents: [[hash, 'raw-text']] }),
        'sync.about': () => ({ project: name, hashes: [hash] }),
        'sync.join': () => ({ project: name, hash, contentType: 'text/plain', size: `content of ${project}`.length, parts: [hash] }),
        'projects.list': () => ({}),
        'projects.create': () => ({ project: `${name}-new` }),
        'projects.retain': () => ({ project: name, days: null }),
        'members.list': () => ({ project: name }),
        'members.add': () => ({ project: name, name: 'new', role: 'reader' }),
        'members.grant': () => ({ project: name, name: 'new', role: 'reader', identity: 'new@example.com' }),
        'members.share': () => ({ project: name, commit, name: 'new', role: 'reader' }),
        'members.revoke': async () => ({ id: (await members.add({ project: name, name: 'to revoke', role: 'reader' })).id }),
        'audit.list': () => ({ project: name }),
      };
      return (await inputs[procedure]?.()) ?? {};
    };
    const call = async (token: string, input: object): Promise<string> => {
      const [namespace = '', name = ''] = procedure.split('.');
      const client = hub.client(token) as unknown as Record<string, Record<string, (input: object) => Promise<unknown>>>;
      return (
        client[namespace]?.[name]?.(input).then(
          () => 'ok',
          ({ code }: { code: string }) => code,
        ) ?? 'missing'
      );
    };
    for (const role of roles) {
      const token = await tokenOf(role);
      const own = await call(token, await inputFor(project));
      if (may[procedure]?.includes(role)) expect(own, role).toBe('ok');
      else expect(['UNAUTHORIZED', 'NOT_FOUND'], role).toContain(own);
      if (role === 'hub admin' || procedure === 'projects.list' || procedure === 'projects.create') continue;
      expect(['UNAUTHORIZED', 'NOT_FOUND'], `${role} elsewhere`).toContain(await call(token, await inputFor('others')));
    }
    for (const token of ['', 'stm_none', `${hub.admin}x`]) expect(await call(token, await inputFor(project))).toBe('UNAUTHORIZED');
  });
});

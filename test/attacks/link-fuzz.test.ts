// What the holder of a share link may ask and send, with every value that it could be: it reads what was shared, and adds tickets.
import { join } from 'node:path';
import { createRouterClient } from '@orpc/server';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import type { JsonObject } from '../../src/core/base/index.js';
import type { WriteChain } from '../../src/core/chain/index.js';
import { createEngine, createSession } from '../../src/core/project/index.js';
import { contextOf, router } from '../../src/core/router/index.js';
import { itemKey, packParcel, pull, push, type SentItem, ticketKinds, unpackParcel } from '../../src/core/sync/index.js';
import { createTicket } from '../../src/core/tickets/index.js';
import { hubAt } from '../../src/main/team/index.js';
import { commitText, startTestHub, type TestHub } from '../support/hub.js';
import { emptyChain, scratch, scratchUntilEnd } from '../support/project.js';

let hub: TestHub;
const project = 'fuzzed';
const secret = 'qWhatStaysPrivateq';
/** The digest and object of a commit that is shared, and of one that is not. */
const shared = { digest: '', hash: '' };
const hidden = { digest: '', hash: '' };

const numbersOf = (chain: WriteChain, id: string): { digest: string; hash: string } => {
  const row = chain.db.one<{ digest: Buffer; hash: Buffer }>(
    'SELECT c.digest, a.hash FROM commits c JOIN artifact a ON a.no = c.artifact WHERE c.id = ?',
    id,
  );
  return { digest: row?.digest.toString('hex') ?? '', hash: row?.hash.toString('hex') ?? '' };
};

function openSample() {
  const sampleDir = join(import.meta.dirname, '../../resources/sample');
  const engine = createEngine({ dataDir: scratchUntilEnd(), agentRoots: [], sampleDir, startup: { paths: [], project: null }, platform: 'linux' });
  const session = createSession(engine);
  return { engine, session, client: createRouterClient(router, { context: contextOf(session) }) };
}

beforeAll(async () => {
  hub = await startTestHub();
  const { engine, session, client } = openSample();
  await client.project.open(await client.library.sample({}));
  const { chain } = session.project();
  Object.assign(shared, numbersOf(chain, commitText(chain, 'what is shared').id));
  Object.assign(hidden, numbersOf(chain, commitText(chain, secret).id));
  createTicket(chain, { title: secret, type: 'task', body: secret });
  await push(chain, await hub.project(project));
  engine.close();
});
afterAll(() => hub?.close());

const linkOf = async (role: 'reader' | 'reviewer') => (await hub.client().members.share({ project, commit: shared.digest, name: role, role })).token;

/** The items of the project as a token sees them, by their names. */
async function itemsOf(token: string): Promise<Map<string, SentItem>> {
  const all = new Map<string, SentItem>();
  for (let after = 0, isLast = false; !isLast; ) {
    const page = await hub.client(token).sync.items({ project, after });
    for (const item of unpackParcel(new Uint8Array(await page.parcel.arrayBuffer()), itemKey).items) all.set(`${item.kind} ${item.key}`, item);
    [after, isLast] = [page.seq, page.isLast];
  }
  return all;
}

const values: readonly unknown[] = [
  ...[null, true, -1, 1.5, 2 ** 53, 1e300, '', 'x', '\0', '\ud800', '../../etc', "' OR 1=1 --", '__proto__', 'x'.repeat(401), 'f'.repeat(64)],
  ...['null', '[]', '{}', '[null]', '{"type":"x"}', `${'['.repeat(2_000)}${']'.repeat(2_000)}`, [], {}, [[1]]],
];

/** Everything that a result says, with what is packed in it. */
async function textOf(value: unknown): Promise<string> {
  if (value instanceof Blob) {
    const bytes = Buffer.from(await value.arrayBuffer());
    let unpacked = '';
    try {
      const { items, objects } = unpackParcel(bytes, itemKey);
      unpacked = JSON.stringify(items) + objects.map((object) => Buffer.from(object.bytes).toString('latin1')).join('\n');
    } catch {
      // Outlines are packed in another way, and checked as they are.
    }
    return bytes.toString('latin1') + unpacked;
  }
  if (Array.isArray(value)) return (await Promise.all(value.map(textOf))).join('\n');
  if (typeof value === 'object' && value !== null) return (await Promise.all(Object.entries(value).flat().map(textOf))).join('\n');
  return String(value);
}

const refusals = ['BAD_REQUEST', 'NOT_FOUND', 'UNAUTHORIZED', 'CONFLICT'];

describe('the holder of a share link', () => {
  test.each([
    ['reader', 1],
    ['reviewer', 0],
  ] as const)('[E18] [E66] a %s asks with any value, and learns nothing of what is not shared', { tags: 'long' }, async (role, half) => {
    const token = await linkOf(role);
    const client = hub.client(token) as unknown as Record<string, Record<string, (input: unknown) => Promise<unknown>>>;
    const hashes = [shared.hash, hidden.hash, hidden.digest, 'f'.repeat(64)];
    const asked: Readonly<Record<string, JsonObject>> = {
      hello: { project },
      items: { project, after: 0 },
      objects: { project, hashes },
      about: { project, hashes },
      outlines: { project, contents: hashes.map((hash) => [hash, 'raw-text']), objects: hashes },
      lack: { project, items: hashes.map((hash) => ['context', hash, hash]), objects: hashes },
    };
    const said: string[] = [];
    for (const [name, input] of Object.entries(asked)) {
      const inputs = [
        input,
        ...Object.keys(input).flatMap((field) =>
          [...values.filter((_, at) => at % 2 === half), ...hashes, [hidden.hash], [hidden.digest]].map((value) => ({ ...input, [field]: value })),
        ),
      ];
      for (const each of inputs)
        await client.sync?.[name]?.(each).then(
          async (answer) => said.push(await textOf(answer)),
          ({ code }: { code?: string }) => expect(refusals, `${name} ${JSON.stringify(each).slice(0, 200)}`).toContain(code),
        );
    }
    expect(said.length).toBeGreaterThan(10);
    expect(said.join('\n')).toContain('what is shared');
    expect(said.join('\n')).not.toContain(secret);
    for (const rest of ['', '/page', '/page/', '/', '/page?commit=', '/%00', '/..%2f', `/page?digest=${hidden.digest}`, `?${'a[b]='.repeat(500)}`]) {
      const answer = await fetch(`${hub.address}/share/${project}/${token}${rest}`);
      expect(answer.status, rest).toBeLessThan(500);
      expect(await answer.text(), rest).not.toContain(secret);
    }
  });

  test('[E19] [E50] [E51] a link sends any value in any field, and changes nothing that is there', { tags: 'long', timeout: 240_000 }, async () => {
    const before = await itemsOf(hub.admin);
    const kinds = new Map([...before.values()].map((item) => [item.kind, item]));
    expect([...ticketKinds].filter((kind) => kinds.has(kind)).length).toBeGreaterThan(2);
    for (const role of ['reader', 'reviewer'] as const) {
      const token = await linkOf(role);
      const send = (items: readonly { readonly kind: string; readonly body: unknown }[]) =>
        hub.client(token).sync.send({
          project,
          parcel: new Blob([packParcel({ items: items as SentItem[], objects: [] }) as Uint8Array<ArrayBuffer>]),
        });
      for (const { kind, body } of kinds.values()) {
        const changed = Object.keys(body).flatMap((field) => values.map((value) => ({ kind, body: { ...body, [field]: value } })));
        // A kind that no schema allows, and fields that none names, come along.
        const sent = [{ kind, body: { ...body, extra: 1 } }, ...changed];
        const answer = await send(sent).then(
          ({ stored }) => stored,
          ({ code }: { code?: string }) => code,
        );
        if (role === 'reader' || !ticketKinds.has(kind)) expect(answer, kind).toBe('UNAUTHORIZED');
        else expect(answer, kind).toEqual(expect.any(Number));
      }
    }
    const after = await itemsOf(hub.admin);
    for (const [name, item] of before) expect(after.get(name)?.digest, name).toBe(item.digest);
    for (const [name, { kind }] of after) if (!before.has(name)) expect(ticketKinds, name).toContain(kind);
    // A member pulls, and every list of the window answers; nothing of it starts.
    const { engine, session, client } = openSample();
    onTestFinished(() => engine.close());
    session.use(engine.create({ dir: join(scratch(), 'clone') }));
    await pull(session.project().chain, hubAt({ hub: hub.address, project, token: hub.admin }));
    const events = await client.ticket.events({});
    for (const list of [
      client.ticket.list({}),
      client.ticket.overview({}),
      client.ticket.facets({}),
      client.experiment.list({}),
      client.project.info({}),
    ])
      await expect(list).resolves.toBeDefined();
    expect(events.filter(({ state, received }) => state === 'taken' && received === undefined)).toEqual([]);
    // The link itself sees no more than before.
    expect(await textOf([...(await itemsOf(await linkOf('reviewer'))).values()].map((item) => JSON.stringify(item)))).not.toContain(secret);
    await expect(pull(emptyChain(), hubAt({ hub: hub.address, project, token: await linkOf('reader') }))).resolves.toBeDefined();
  });
});

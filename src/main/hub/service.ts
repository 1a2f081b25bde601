import { sql } from 'kysely';
import { badRequest, type JsonObject, StemmaError, timestampOf } from '../../core/base/index.js';
import { outlineVersion } from '../../core/chain/index.js';
import { type Item, keyOf, type ObjectFacts, type Parcel, packParcel, packTexts, ruleOf, ticketKinds, unpackParcel } from '../../core/sync/index.js';
import { allows, type Holder, projectFor, projectsOf, requireAction } from './access.js';
import type { InProject } from './database.js';
import { members } from './members.js';
import { aboutOf, nameOf, namesOfItems, namesOfObjects } from './names.js';
import { outlinesOf } from './outlines.js';
import { peopleAt } from './presence.js';
import { os, within } from './procedure.js';
import { sharedItems, sharedObjects } from './shares.js';
import { joinParts, wholesAmong } from './wholes.js';

const newestSeq = async (tx: InProject): Promise<number> =>
  Number((await tx.selectFrom('item').select(sql<string | null>`max(seq)`.as('seq')).executeTakeFirst())?.seq ?? 0);

/** The digest of the newest version of each named item, by name in hexadecimal. */
async function newestDigests(tx: InProject, names: readonly Buffer[]): Promise<ReadonlyMap<string, string>> {
  if (names.length === 0) return new Map();
  const rows = await tx
    .selectFrom('item')
    .distinctOn('name')
    .select(['name', 'digest'])
    .where(sql<boolean>`name = any(${sql.val([...names])}::bytea[])`)
    .orderBy('name')
    .orderBy('seq', 'desc')
    .execute();
  return new Map(rows.map(({ name, digest }) => [name.toString('hex'), digest.toString('hex')]));
}

const isOneOf = (hashes: readonly string[]) => sql<boolean>`hash = any(${sql.val(hashes.map((hash) => Buffer.from(hash, 'hex')))}::bytea[])`;

async function knownObjects(tx: InProject, hashes: readonly string[]): Promise<ReadonlySet<string>> {
  if (hashes.length === 0) return new Set();
  const rows = await tx.selectFrom('object').select('hash').where(isOneOf(hashes)).where('expired_at', 'is', null).execute();
  const wholes = [...(await wholesAmong(tx, hashes))].filter(([, { isExpired }]) => !isExpired);
  return new Set([...rows.map(({ hash }) => hash.toString('hex')), ...wholes.map(([hash]) => hash)]);
}

/** The most items of one answer, and the bytes of content after which it ends. */
const page = { items: 5_000, bytes: 16 * 1024 * 1024 };
const objectBytesAtOnce = 16 * 1024 * 1024;

const blobOf = (bytes: Uint8Array): Blob => new Blob([bytes as Uint8Array<ArrayBuffer>], { type: 'application/zstd' });

/** @throws UNAUTHORIZED if the role may not send this parcel. A ticket needs no objects. */
function requireSender(holder: Holder, { items, objects }: Parcel): void {
  if (allows(holder, 'write')) return;
  requireAction(holder, 'review');
  const other = items.find(({ kind }) => !ticketKinds.has(kind))?.kind ?? (objects.length > 0 ? 'contents' : undefined);
  if (other !== undefined)
    throw new StemmaError('UNAUTHORIZED', `This token has the role ${holder.role}, which may send tickets only, not ${other}.`, {
      field: 'token',
    });
}

/** @throws BAD_REQUEST for kinds that this hub does not know, because an older hub must not store items that it cannot interpret. */
function requireKinds(items: readonly Item[]): void {
  const unknown = items.find(({ kind }) => !ruleOf(kind));
  if (unknown) throw badRequest('parcel', `This hub does not know items of the kind ${unknown.kind}. Update the hub.`);
}

/** Stores each item unless it equals the newest stored version. A project stores parcels one after the other, so that item numbers only grow. */
async function storeItems(
  tx: InProject,
  project: number,
  holder: Holder,
  items: readonly Item[],
): Promise<{ readonly seq: number; readonly stored: number; readonly what: string | undefined }> {
  await sql`SELECT pg_advisory_xact_lock(${project})`.execute(tx);
  const names = items.map(({ kind, key }) => nameOf(kind, key));
  const newest = await newestDigests(tx, names);
  let seq = await newestSeq(tx);
  const rows = items.flatMap(({ kind, digest, body }, i) => {
    const name = names[i] as Buffer;
    if (newest.get(name.toString('hex')) === digest) return [];
    seq += 1;
    return [
      {
        project,
        seq: String(seq),
        kind,
        name,
        digest: Buffer.from(digest, 'hex'),
        body: Buffer.from(JSON.stringify(body)),
        by: holder.no,
        about: aboutOf(kind, body),
      },
    ];
  });
  const rowsAtOnce = 5_000;
  for (let i = 0; i < rows.length; i += rowsAtOnce)
    await tx
      .insertInto('item')
      .values(rows.slice(i, i + rowsAtOnce))
      .execute();
  return { seq, stored: rows.length, what: namesOfItems(rows) };
}

const sync = {
  hello: os.sync.hello.handler(({ input, context }) =>
    within(context, input.project, undefined, 'hello', async (tx, project) => ({
      result: {
        id: project.id,
        seq: await newestSeq(tx),
        role: context.holder.role,
        name: context.holder.name,
        retention: project.retention,
        people: await peopleAt(tx, project.no, context.holder),
      },
      count: 0,
    })),
  ),
  lack: os.sync.lack.handler(({ input, context }) => {
    if (!allows(context.holder, 'write')) requireAction(context.holder, 'review');
    return within(context, input.project, undefined, 'lack', async (tx) => {
      const names = input.items.map(([kind, key]) => nameOf(kind, key));
      const newest = await newestDigests(tx, names);
      // A share link must not learn whether other objects exist.
      const { shared } = context.holder;
      const known = shared === null ? await knownObjects(tx, input.objects) : await sharedObjects(tx, shared);
      return {
        count: 0,
        result: {
          items: input.items.flatMap(([, , digest], i) => (newest.get((names[i] as Buffer).toString('hex')) === digest ? [] : [i])),
          objects: input.objects.flatMap((hash, i) => (known.has(hash) ? [] : [i])),
        },
      };
    });
  }),
  send: os.sync.send.handler(async ({ input, context }) => {
    // The project and the role are checked before the parcel is unpacked.
    await projectFor(context.database, context.holder, input.project);
    if (!allows(context.holder, 'write')) requireAction(context.holder, 'review');
    const { items, objects } = unpackParcel(new Uint8Array(await input.parcel.arrayBuffer()), keyOf);
    requireKinds(items);
    requireSender(context.holder, { items, objects });
    const written = await context.objects.write(objects);
    return within(context, input.project, undefined, 'push', async (tx, { no }) => {
      if (written) await context.objects.record(tx, no, written);
      const { what, ...answer } = await storeItems(tx, no, context.holder, items);
      context.metrics?.stored({ items: answer.stored, objects: objects.length, bytes: objects.reduce((sum, { bytes }) => sum + bytes.length, 0) });
      return { result: answer, count: answer.stored + objects.length, what: what ?? namesOfObjects(objects.map(({ hash }) => hash)) };
    });
  }),
  items: os.sync.items.handler(({ input, context }) =>
    within(context, input.project, 'read', 'pull', async (tx) => {
      const { shared } = context.holder;
      const opened = shared === null ? undefined : await sharedItems(tx, shared);
      const rows = await tx
        .selectFrom('item')
        .leftJoin('token', 'token.no', 'item.by')
        .select(['item.seq', 'item.kind', 'item.body', 'token.name as sender', sql<boolean>`token.shared IS NOT NULL`.as('isLink')])
        .where('seq', '>', String(input.after))
        .$if(opened !== undefined, (query) => query.where(sql<boolean>`seq = any(${sql.val(opened)}::bigint[])`))
        .orderBy('seq')
        .limit(page.items)
        .execute();
      let bytes = 0;
      const cut = rows.findIndex(({ body }) => {
        bytes += body.length;
        return bytes > page.bytes;
      });
      const some = cut < 0 ? rows : rows.slice(0, Math.max(cut, 1));
      const items = some.map(
        ({ kind, body, sender, isLink }): Item => ({
          kind,
          key: '',
          digest: '',
          body: JSON.parse(body.toString()) as JsonObject,
          sender: sender === null ? undefined : { name: sender, isLink },
        }),
      );
      const isLast = some.length === rows.length && rows.length < page.items;
      return {
        result: { seq: Number(some.at(-1)?.seq ?? input.after), isLast, parcel: blobOf(packParcel({ items, objects: [] })) },
        count: items.length,
        what: namesOfItems(some),
      };
    }),
  ),
  objects: os.sync.objects.handler(({ input, context }) =>
    within(context, input.project, 'read', 'objects', async (tx) => {
      const { shared } = context.holder;
      const opened = shared === null ? undefined : await sharedObjects(tx, shared);
      const hashes = opened ? input.hashes.filter((hash) => opened.has(hash)) : input.hashes;
      const objects = hashes.length === 0 ? [] : await context.objects.read(tx, hashes, objectBytesAtOnce);
      return { result: blobOf(packParcel({ items: [], objects })), count: objects.length, what: namesOfObjects(objects.map(({ hash }) => hash)) };
    }),
  ),
  outlines: os.sync.outlines.handler(({ input, context }) =>
    within(context, input.project, 'read', 'outlines', async (tx, { no }) => {
      const { shared } = context.holder;
      const opened = shared === null ? undefined : await sharedObjects(tx, shared);
      const isOpened = (hash: string): boolean => opened?.has(hash) !== false;
      const asked = input.contents.filter(([hash]) => isOpened(hash));
      const outlines = new Map((await outlinesOf(tx, context.objects, no, asked)).map((data, i) => [asked[i]?.join(' '), data]));
      const objects = input.objects && (await context.objects.read(tx, input.objects.filter(isOpened), objectBytesAtOnce));
      return {
        result: {
          version: outlineVersion,
          outlines: blobOf(packTexts(input.contents.map((each) => outlines.get(each.join(' ')) ?? null))),
          ...(objects && { objects: blobOf(packParcel({ items: [], objects }, 'soon')) }),
        },
        count: asked.length + (objects?.length ?? 0),
        what: namesOfObjects([...new Set([...asked.map(([hash]) => hash), ...(objects ?? []).map(({ hash }) => hash)])]),
      };
    }),
  ),
  join: os.sync.join.handler(({ input: { project, ...object }, context }) => {
    requireAction(context.holder, 'write');
    return within(context, project, undefined, 'push', async (tx, { no }) => {
      await joinParts(tx, context.objects, no, object);
      return { result: {}, count: 1, what: namesOfObjects([object.hash]) };
    });
  }),
  about: os.sync.about.handler(({ input, context }) =>
    within(context, input.project, 'read', 'about', async (tx) => {
      const { shared } = context.holder;
      const opened = shared === null ? undefined : await sharedObjects(tx, shared);
      const rows = await tx.selectFrom('object').select(['hash', 'size', 'type', 'expired_at']).where(isOneOf(input.hashes)).execute();
      const known = new Map<string, ObjectFacts>([
        ...rows.map(
          ({ hash, size, type, expired_at }) =>
            [hash.toString('hex'), { size: Number(size), contentType: type, isExpired: expired_at !== null }] as const,
        ),
        ...(await wholesAmong(tx, input.hashes)),
      ]);
      const factsOf = (hash: string) => (opened?.has(hash) === false ? undefined : known.get(hash));
      return {
        result: input.hashes.map((hash) => factsOf(hash) ?? null).map((facts) => facts && { ...facts, parts: facts.parts && [...facts.parts] }),
        count: 0,
      };
    }),
  ),
};

const projects = {
  list: os.projects.list.handler(async ({ context: { database, holder } }) => {
    const rows = await database.all
      .selectFrom('project')
      .select(['project.no', 'project.name'])
      .$if(!holder.grants.some(({ project }) => project === null), (query) => query.where('project.no', 'in', projectsOf(holder.grants)))
      .orderBy('name')
      .execute();
    const roleIn = (no: number) => holder.grants.find(({ project }) => project === no) ?? holder.grants.find(({ project }) => project === null);
    return Promise.all(
      rows.map(({ no, name }) =>
        database.inProject(no, async (tx) => {
          const objects = await tx
            .selectFrom('object')
            .select([sql<string>`count(*)`.as('count'), sql<string>`coalesce(sum(size), 0)`.as('bytes')])
            .executeTakeFirstOrThrow();
          return {
            project: name,
            role: (roleIn(no) ?? holder).role,
            items: await newestSeq(tx),
            objects: Number(objects.count),
            bytes: Number(objects.bytes),
          };
        }),
      ),
    );
  }),
  create: os.projects.create.handler(async ({ input, context: { database, holder } }) => {
    requireAction(holder, 'write');
    if (holder.project !== null) throw new StemmaError('UNAUTHORIZED', 'This token is for one project and creates no others.', { field: 'token' });
    const created = await database.all
      .insertInto('project')
      .values({ name: input.project, retention: null })
      .onConflict((conflict) => conflict.doNothing())
      .returning('no')
      .executeTakeFirst();
    if (created) await database.all.insertInto('audit').values({ project: created.no, by: holder.name, action: 'create', count: '1' }).execute();
    return input;
  }),
  retain: os.projects.retain.handler(async ({ input, context: { database, holder } }) => {
    const { no } = await projectFor(database, holder, input.project, 'administer');
    await database.all.updateTable('project').set({ retention: input.days }).where('no', '=', no).execute();
    await database.all
      .insertInto('audit')
      .values({ project: no, by: holder.name, action: 'set retention', count: String(input.days ?? 0) })
      .execute();
    return input;
  }),
};

const audit = {
  list: os.audit.list.handler(({ input, context }) =>
    within(context, input.project, 'administer', 'audit', async (tx) => {
      const rows = await tx
        .selectFrom('audit')
        .select(['no', 'at', 'by', 'action', 'count', 'what'])
        .$if(input.before !== undefined, (query) => query.where('no', '<', String(input.before)))
        .orderBy('no', 'desc')
        .limit(input.limit)
        .execute();
      return {
        result: rows.map(({ at, no, count, ...row }) => ({ ...row, no: Number(no), at: timestampOf(at.getTime()), count: Number(count) })),
        count: 0,
      };
    }),
  ),
};

/** Every procedure of the hub. */
export const hubRouter = os.router({ sync, projects, members, audit });

import { sql } from 'kysely';
import { badRequest, toTimestamp } from '../../core/base/index.js';
import { outlineVersion } from '../../core/chain/index.js';
import { findFormat } from '../../core/formats/index.js';
import {
  findRule,
  itemKey,
  type ObjectFacts,
  type Parcel,
  packParcel,
  packTexts,
  type SentItem,
  ticketKinds,
  unpackParcel,
} from '../../core/sync/index.js';
import { allows, type GrantHolder, type OpenProject, projectFor, projectsOf, refusal, requireAction } from './access.js';
import { holdUnpacked } from './body.js';
import { addToAudit, type InProject } from './database.js';
import { pageOfItems, storeItems } from './items.js';
import { members } from './members.js';
import { hashArray, hashName, namesOfObjects } from './names.js';
import { newestDigests, newestSeq } from './newest.js';
import { knownOutlines, makeOutlines, storeOutlines, type WantedOutline } from './outlines.js';
import { peopleAt } from './presence.js';
import { type Called, os, within } from './procedure.js';
import type { ShareView } from './shares.js';
import { locateParts, proveWhole, recordWhole, wholesAmong } from './wholes.js';

const isOneOf = (hashes: readonly string[]) => sql<boolean>`hash = any(${hashArray(hashes)}::bytea[])`;

async function knownObjects(tx: InProject, hashes: readonly string[]): Promise<ReadonlySet<string>> {
  if (hashes.length === 0) return new Set();
  const rows = await tx.selectFrom('object').select('hash').where(isOneOf(hashes)).where('expired_at', 'is', null).execute();
  const wholes = [...(await wholesAmong(tx, hashes))].filter(([, { isExpired }]) => !isExpired);
  return new Set([...rows.map(({ hash }) => hash.toString('hex')), ...wholes.map(([hash]) => hash)]);
}

/** The most bytes of a parcel that a client sends. Clients send larger objects in parts. */
const maxSentBytes = 128 * 1024 * 1024;
const objectBytesAtOnce = 16 * 1024 * 1024;

const blobOf = (bytes: Uint8Array): Blob => new Blob([bytes as Uint8Array<ArrayBuffer>], { type: 'application/zstd' });

/** @throws UNAUTHORIZED if the role may not send this parcel. A ticket needs no objects. */
function requireSender(holder: GrantHolder, { items, objects }: Parcel): void {
  if (allows(holder, 'write')) return;
  requireAction(holder, 'review');
  const other = items.find(({ kind }) => !ticketKinds.has(kind))?.kind ?? (objects.length > 0 ? 'contents' : undefined);
  if (other !== undefined) throw refusal(`This token has the role ${holder.role}, which may send tickets only, not ${other}.`);
}

/** @throws BAD_REQUEST for a parcel of which this hub knows no kind. Of any other parcel, unknown items are refused one by one. */
function requireKinds(items: readonly SentItem[]): void {
  if (items.length > 0 && items.every(({ kind }) => !findRule(kind)))
    throw badRequest('parcel', `This hub does not know items of the kind ${items[0]?.kind.slice(0, 64)}. Update the hub.`);
}

/** @throws BAD_REQUEST for a format that neither this version nor a commit of the project has: each one would be parsed and stored. */
async function requireFormats(tx: InProject, project: number, { formatsIn }: Called, contents: readonly WantedOutline[]): Promise<void> {
  const unusual = contents.filter(([, format]) => !findFormat(format));
  const names = [...new Set(unusual.map(([, format]) => format))];
  const known = await formatsIn(tx, project, names);
  const unknown = names.find((name) => !known.has(name));
  if (unknown !== undefined) throw badRequest('contents', `No commit of this project has the format ${unknown}.`);
}

/** Stores what a call sent. The parcel stays in memory until then. */
async function storeSent(context: Called, project: string, { items, objects }: Parcel) {
  requireKinds(items);
  requireSender(context.holder, { items, objects });
  const written = await context.objects.write(objects);
  return within(context, project, undefined, 'push', async (tx, { no }) => {
    if (written) await context.objects.record(tx, no, written);
    const { what, ...answer } = await storeItems(tx, no, context.holder, items, new Set(objects.map(({ hash }) => hash)));
    context.metrics?.stored({ items: answer.stored, objects: objects.length, bytes: objects.reduce((sum, { bytes }) => sum + bytes.length, 0) });
    return {
      result: { ...answer, refused: [...answer.refused] },
      count: answer.stored + objects.length,
      what: what ?? namesOfObjects(objects.map(({ hash }) => hash)),
    };
  });
}

/** The view of a share link; undefined for the token of a member. */
const openView = (tx: InProject, { no }: OpenProject, { holder, viewOf }: Called): Promise<ShareView> | undefined =>
  holder.shared === null ? undefined : viewOf(tx, no, holder.shared);

const sync = {
  hello: os.sync.hello.handler(({ input, context }) =>
    within(context, input.project, undefined, 'hello', async (tx, project) => ({
      result: {
        id: project.id,
        seq: await newestSeq(tx),
        database: context.database.mark,
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
    return within(context, input.project, undefined, 'lack', async (tx, project) => {
      const names = input.items.map(([kind, key]) => hashName(kind, key));
      const view = await openView(tx, project, context);
      // A share link must not learn whether other items and objects exist.
      const newest = await newestDigests(tx, names, view && { seqs: view.seqs, by: context.holder.no });
      const known = view?.objects ?? (await knownObjects(tx, input.objects));
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
    const { items, objects, size } = unpackParcel(new Uint8Array(await input.parcel.arrayBuffer()), itemKey, maxSentBytes);
    const release = holdUnpacked(size);
    try {
      return await storeSent(context, input.project, { items, objects });
    } finally {
      release();
    }
  }),
  items: os.sync.items.handler(async ({ input, context }) => {
    const { items, seq, isLast } = await within(context, input.project, 'read', 'pull', async (tx, project) => {
      const found = await pageOfItems(tx, input.after, await openView(tx, project, context));
      return { result: found, count: found.items.length, what: found.what };
    });
    return { seq, isLast, parcel: blobOf(packParcel({ items, objects: [] })) };
  }),
  objects: os.sync.objects.handler(async ({ input, context }) => {
    const located = await within(context, input.project, 'read', 'objects', async (tx, project) => {
      const view = await openView(tx, project, context);
      const hashes = view ? input.hashes.filter((hash) => view.objects.has(hash)) : input.hashes;
      const found = await context.objects.locate(tx, hashes, objectBytesAtOnce);
      return { result: found, count: found.length, what: namesOfObjects(found.map(({ hash }) => hash)) };
    });
    return blobOf(packParcel({ items: [], objects: await context.objects.read(located) }));
  }),
  outlines: os.sync.outlines.handler(async ({ input, context }) => {
    const { project, known, located } = await within(context, input.project, 'read', 'outlines', async (tx, { no, ...project }) => {
      await requireFormats(tx, no, context, input.contents);
      const view = await openView(tx, { no, ...project }, context);
      const isOpened = (hash: string): boolean => view?.objects.has(hash) !== false;
      const asked = input.contents.filter(([hash]) => isOpened(hash));
      const known = await knownOutlines(tx, context.objects, asked);
      const located = input.objects && (await context.objects.locate(tx, input.objects.filter(isOpened), objectBytesAtOnce));
      return {
        result: { project: no, known, located },
        count: asked.length + (located?.length ?? 0),
        what: namesOfObjects([...new Set([...asked.map(([hash]) => hash), ...(located ?? []).map(({ hash }) => hash)])]),
      };
    });
    const made = await makeOutlines(context.objects, known.missing);
    if (made.length > 0) await context.database.inProject(project, (tx) => storeOutlines(tx, project, made), { isRead: true });
    for (const { hash, format, data } of made) known.outlines.set(`${hash} ${format}`, data);
    const objects = located && (await context.objects.read(located));
    // What a link does not open is not among them.
    return {
      version: outlineVersion,
      outlines: blobOf(packTexts(input.contents.map((each) => known.outlines.get(each.join(' ')) ?? null))),
      ...(objects && { objects: blobOf(packParcel({ items: [], objects }, 'soon')) }),
    };
  }),
  join: os.sync.join.handler(async ({ input: { project, ...object }, context }) => {
    requireAction(context.holder, 'write');
    const { no } = await projectFor(context.database, context.holder, project);
    const located = await context.database.inProject(no, (tx) => locateParts(tx, context.objects, object), { isRead: true });
    await proveWhole(context.objects, object, located);
    return within(context, project, undefined, 'push', async (tx) => {
      await recordWhole(tx, no, object);
      return { result: {}, count: 1, what: namesOfObjects([object.hash]) };
    });
  }),
  about: os.sync.about.handler(({ input, context }) =>
    within(context, input.project, 'read', 'about', async (tx, project) => {
      const view = await openView(tx, project, context);
      const rows = await tx.selectFrom('object').select(['hash', 'size', 'type', 'expired_at']).where(isOneOf(input.hashes)).execute();
      const known = new Map<string, ObjectFacts>([
        ...rows.map(
          ({ hash, size, type, expired_at }) =>
            [hash.toString('hex'), { size: Number(size), contentType: type, isExpired: expired_at !== null }] as const,
        ),
        ...(await wholesAmong(tx, input.hashes)),
      ]);
      const factsOf = (hash: string) => (view?.objects.has(hash) === false ? undefined : known.get(hash));
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
    return rows.map(({ no, name }) => ({ project: name, role: (roleIn(no) ?? holder).role }));
  }),
  create: os.projects.create.handler(async ({ input, context: { database, holder } }) => {
    requireAction(holder, 'write');
    if (holder.project !== null) throw refusal('This token is for one project and creates no others.');
    const created = await database.all
      .insertInto('project')
      .values({ name: input.project, retention: null })
      .onConflict((conflict) => conflict.doNothing())
      .returning('no')
      .executeTakeFirst();
    if (created) await addToAudit(database.all, { project: created.no, by: holder.name, action: 'create', count: 1 });
    return input;
  }),
  retain: os.projects.retain.handler(async ({ input, context: { database, holder } }) => {
    const { no } = await projectFor(database, holder, input.project, 'administer');
    await database.all.updateTable('project').set({ retention: input.days }).where('no', '=', no).execute();
    await addToAudit(database.all, { project: no, by: holder.name, action: 'set retention', count: input.days ?? 0 });
    return input;
  }),
};

/** The most characters of a line of the audit log. An older hub noted whatever a caller named. */
const maxAuditedText = 2_000;

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
        result: rows.map(({ at, no, count, what, ...row }) => ({
          ...row,
          what: what?.slice(0, maxAuditedText) ?? null,
          no: Number(no),
          at: toTimestamp(at.getTime()),
          count: Number(count),
        })),
        count: 0,
      };
    }),
  ),
};

export const hubRouter = os.router({ sync, projects, members, audit });

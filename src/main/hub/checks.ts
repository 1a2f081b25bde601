import { sql } from 'kysely';
import { refOfHash } from '../../core/artifacts/index.js';
import { type ContextId, canonicalJson, type Json, type JsonObject } from '../../core/base/index.js';
import { digestCommit } from '../../core/chain/index.js';
import { findRule, fixedFields, inOrder, isFixed, objectsOf, referencesOf, type SentItem, validateItem } from '../../core/sync/index.js';
import type { GrantHolder } from './access.js';
import type { InProject } from './database.js';
import { hashArray, hashName } from './names.js';
import { versionsOf } from './newest.js';
import { wholesAmong } from './wholes.js';

interface NamedItem {
  readonly item: SentItem;
  readonly name: Buffer;
}

interface Version {
  readonly kind: string;
  readonly body: JsonObject;
  readonly by: number | null;
}

/** Kinds that are bound to their maker and their content, with the fields that others may change. Commits have a rule of their own. */
const bound: Readonly<Record<string, ReadonlySet<string>>> = {
  card: new Set(['deletedAt']),
  request: new Set(),
  modelRun: new Set(),
  template: new Set(),
  experimentResult: new Set(),
};

/** What an item belongs to, by its column. Whoever holds a share link adds these to what came through the link only: they change what they belong to. */
const owners: Readonly<Record<string, string>> = {
  ticketDependency: 'ticket',
  ticketVersion: 'ticket',
  ticketEvent: 'ticket',
  ticketAnswer: 'event',
};

/**
 * Checks every item of a parcel before anything is stored: its schema, its references, the digest of a commit, and whether the sender may replace
 * what the hub holds. A bad item is refused by name, and so is what refers to it; nothing else is. Accepted items follow those that they refer to.
 */
export async function checkItems(tx: InProject, holder: GrantHolder, items: readonly SentItem[], sent: ReadonlySet<string>) {
  const refused: Readonly<Record<'kind' | 'key' | 'reason', string>>[] = [];
  const refuse = ({ kind, key }: SentItem, reason: string): void =>
    void refused.push({ kind: kind.slice(0, 64), key: key.slice(0, 4_096), reason: reason.slice(0, 1_000) });
  const valid = items.filter((item) => {
    const problem = findRule(item.kind)
      ? validateItem(item.kind, item.body)?.message
      : `This hub does not know items of the kind ${item.kind.slice(0, 64)}. Update the hub.`;
    if (problem !== undefined) refuse(item, problem);
    return problem === undefined;
  });
  const ordered = inOrder(valid).map((item): NamedItem => ({ item, name: hashName(item.kind, item.key) }));
  const firsts = await firstVersions(tx, ordered);
  const held = await heldRows(tx, ordered);
  const objects = new Set([...sent, ...(await heldObjects(tx, ordered, sent))]);
  const accepted: NamedItem[] = [];
  for (const named of ordered) {
    const { item, name } = named;
    const id = name.toString('hex');
    const problem = problemWith(item, holder, firsts.get(id), { held, objects });
    if (problem !== undefined) refuse(item, problem);
    else {
      accepted.push(named);
      if (!held.has(id)) held.set(id, holder.no);
      if (!firsts.has(id)) firsts.set(id, { kind: item.kind, body: item.body, by: holder.no });
    }
  }
  return { accepted, refused };
}

interface Present {
  /** The token that first sent each row, by the row's name in hexadecimal. */
  readonly held: ReadonlyMap<string, number | null>;
  readonly objects: ReadonlySet<string>;
}

function problemWith(item: SentItem, holder: GrantHolder, first: Version | undefined, { held, objects }: Present): string | undefined {
  const missing = referencesOf(item).find(({ kind, key }) => !held.has(hashName(kind, key).toString('hex')));
  if (missing) return `It refers to ${missing.kind} ${missing.key}, which the hub does not hold.`;
  const object = objectsOf(item).find((hash) => !objects.has(hash));
  if (object !== undefined) return `It needs the object ${object}, which the hub does not hold. Send it first.`;
  if (item.kind === 'context' && !isDigestOf(item.body))
    return `The commit ${item.key} does not match its digest: its content, parent, time or template has changed.`;
  return linkProblem(item, holder, held) ?? (first && replacementProblem(item, holder, first));
}

/** Why the holder of a share link may not add an item: it would change what somebody else made. */
function linkProblem({ kind, key, body }: SentItem, { shared, no }: GrantHolder, held: Present['held']): string | undefined {
  const column = owners[kind];
  if (shared === null || column === undefined) return undefined;
  const owner = findRule(kind)?.refs?.[column] ?? '';
  if (held.get(hashName(owner, String(body[column])).toString('hex')) === no) return undefined;
  return `A share link changes only the tickets that it added: ${kind} ${key} belongs to a ticket of somebody else.`;
}

/** Why the sender may not replace the first version of an item with this one. */
function replacementProblem({ kind, key, body }: SentItem, holder: GrantHolder, first: Version): string | undefined {
  if (kind === 'context') {
    const changed = fixedFields.find((field) => !isSame(first.body[field], body[field]));
    return changed && `This version changes ${changed} of the commit ${key}, which is fixed. The first version stays.`;
  }
  const rule = findRule(kind);
  const fixedColumn =
    rule && Object.keys({ ...first.body, ...body }).find((field) => isFixed(rule, field) && !isSame(first.body[field], body[field]));
  if (fixedColumn !== undefined) return `This version changes ${fixedColumn} of ${kind} ${key}, which is fixed. The first version stays.`;
  const isMaker = first.by !== null && holder.grants.some(({ no }) => no === first.by);
  if (isMaker) return undefined;
  const changed = Object.keys({ ...first.body, ...body }).filter((field) => !isSame(first.body[field], body[field]));
  if (holder.shared !== null && changed.length > 0) return `A share link adds and never replaces: the hub holds ${kind} ${key} of somebody else.`;
  const open = bound[kind];
  const fixed = open && changed.find((field) => !open.has(field));
  return fixed && `This version changes ${fixed} of ${kind} ${key}, which somebody else made. The first version stays.`;
}

const isSame = (a: Json | undefined, b: Json | undefined): boolean => canonicalJson(a ?? null) === canonicalJson(b ?? null);

/** The digits of a commit's id: as many as its project needs. */
const idDigits = { min: 8, max: 64 };

/** Whether a commit's digest is that of its parent, content, time and template. The parent's id may be longer where two commits begin alike. */
function isDigestOf({ digest, parent, artifact, createdAt, template }: JsonObject): boolean {
  const ref = refOfHash(Buffer.from(String(artifact), 'hex'));
  const isFor = (id: ContextId | null): boolean =>
    digestCommit({ parent: id, ref, createdAt: Number(createdAt), template: String(template) }).toString('hex') === digest;
  if (typeof parent !== 'string') return isFor(null);
  for (let digits = idDigits.min; digits <= idDigits.max; digits++) if (isFor(`ctx-${parent.slice(0, digits)}` as ContextId)) return true;
  return false;
}

async function firstVersions(tx: InProject, items: readonly NamedItem[]): Promise<Map<string, Version>> {
  if (items.length === 0) return new Map();
  const names = items.map(({ name }) => name);
  const rows = await versionsOf(tx, names, 'asc').select(['kind', 'body', 'by']).execute();
  return new Map(rows.map(({ name, kind, body, by }) => [name.toString('hex'), { kind, by, body: JSON.parse(body.toString()) as JsonObject }]));
}

/** The referenced rows that the hub holds: who sent each first, by name in hexadecimal. */
async function heldRows(tx: InProject, items: readonly NamedItem[]): Promise<Map<string, number | null>> {
  const names = new Map(
    items.flatMap(({ item }) => referencesOf(item).map(({ kind, key }) => hashName(kind, key))).map((name) => [name.toString('hex'), name]),
  );
  if (names.size === 0) return new Map();
  const rows = await versionsOf(tx, [...names.values()], 'asc')
    .select('by')
    .execute();
  return new Map(rows.map(({ name, by }) => [name.toString('hex'), by]));
}

/** The objects of items that the hub holds or held: retention removes contents and keeps what names them. */
async function heldObjects(tx: InProject, items: readonly NamedItem[], sent: ReadonlySet<string>): Promise<string[]> {
  const hashes = [...new Set(items.flatMap(({ item }) => objectsOf(item)))].filter((hash) => !sent.has(hash) && /^[0-9a-f]{64}$/.test(hash));
  if (hashes.length === 0) return [];
  const rows = await tx
    .selectFrom('object')
    .select('hash')
    .where(sql<boolean>`hash = any(${hashArray(hashes)}::bytea[])`)
    .execute();
  return [...rows.map(({ hash }) => hash.toString('hex')), ...(await wholesAmong(tx, hashes)).keys()];
}

import { refOfHash, theHub } from '../artifacts/index.js';
import { type ArtifactNo, badRequest, conflict, type Json, type JsonObject, notFound, StemmaError, stringAt, unavailable } from '../base/index.js';
import { holderOf } from '../cards/index.js';
import { noteReceived, type ReadChain, type StartKind, startKinds, type WriteChain } from '../chain/index.js';
import type { OutputOf } from '../contract/index.js';
import { storeTravelingCall, type TravelingCall } from '../requests/index.js';
import { storeCommit } from './commits.js';
import { type Hub, objectsAtOnce } from './hub.js';
import { type Known, openKnown } from './known.js';
import { inOrder } from './order.js';
import { unpackParcel } from './parcel.js';
import { fetchInParts } from './parts.js';
import { openRefused, type RefusedItems } from './refused.js';
import { isEmpty, nameIn, objectsOf, openPlaces, openRows, type RowFinder, type Rows, renamed, type SentItem, type SqliteRow } from './rows.js';
import { findRule, isFixed, type RowRule, tableOf, ticketKinds } from './rules.js';
import { validateItem } from './schemas.js';
import { readRecordedCalls } from './sources.js';

export type Pulled = OutputOf<'team.pull'>;

interface PullOptions {
  /** Leave objects on the hub until they are read, except for those that lists need. */
  readonly onDemand?: boolean | undefined;
  /** The hub's project, as a person knows it. The default is its id. */
  readonly place?: string | undefined;
}

interface Pull {
  readonly chain: WriteChain;
  readonly rows: Rows;
  readonly known: Known;
  readonly places: RowFinder;
  readonly refused: RefusedItems;
  readonly isOnDemand: boolean;
  readonly place: string;
  readonly total: { items: Record<string, number>; objects: number; kept: number };
}

/** The key of an item in a parcel. For a kind that this version does not know, it is the digest of the content. */
export const itemKey = (kind: string, body: JsonObject): string => nameIn(findRule(kind) ?? { kind }, body);

/**
 * Stores the items of the hub's project that this project lacks. Each is checked by its schema first; objects are verified by their hashes and
 * commits by their digests. A refused item leaves no row and stops no other item: it is remembered, and the next pull tries it again. A row that
 * was changed here since the last push stays as it is. After an interruption, the next pull continues where this one stopped.
 * @throws the errors of the hub; UNAVAILABLE if its list of items makes no progress.
 */
export async function pull(chain: WriteChain, hub: Hub, { onDemand = false, place }: PullOptions = {}): Promise<Pulled> {
  const { id, ...found } = await hub.hello();
  const known = openKnown(chain, id);
  known.meet(found);
  const rows = openRows(chain);
  const work: Pull = {
    chain,
    rows,
    known,
    places: openPlaces(chain, rows, known.row),
    refused: openRefused(chain, id),
    isOnDemand: onDemand,
    place: place ?? id,
    total: { items: {}, objects: 0, kept: 0 },
  };
  await storePage(work, hub, work.refused.items(), () => {});
  for (;;) {
    const from = known.pulled();
    const page = await hub.items(from);
    if (!Number.isSafeInteger(page.seq) || page.seq < from || (page.seq === from && !page.isLast)) throw stuck(from, page.seq);
    const { items } = unpackParcel(page.parcel, itemKey, maxPageBytes);
    if (items.length === 0 && !page.isLast) throw stuck(from, page.seq);
    await storePage(work, hub, items, () => known.setPulled(page.seq));
    if (page.isLast) return { ...work.total, refused: work.refused.list() };
  }
}

/** The most bytes of an unpacked page of items. A hub ends a page after 16 MB of content; one item may be larger. */
const maxPageBytes = 96 * 1024 * 1024;
/** The most bytes of unpacked objects in one answer. A hub ends an answer after 16 MB; one object of an older hub may be larger. */
const maxObjectBytes = 128 * 1024 * 1024;

const stuck = (from: number, seq: number): StemmaError =>
  unavailable(
    `The hub does not list its items in order: asked for those after ${from}, it answered with the number ${seq} and more to come. What has arrived stays.`,
    { reason: 'no progress' },
  );

/** Checks items, fetches their objects and stores them in one transaction, with `then` at its end. */
async function storePage(work: Pull, hub: Hub, items: readonly SentItem[], then: () => void): Promise<void> {
  const { known, chain } = work;
  const problems = new Map(items.map((item) => [item, problemWith(item)]));
  const valid = items.filter((item) => problems.get(item) === undefined);
  const some = newest(work, valid).filter((item) => known.digest(item.kind, item.key) !== item.digest);
  await fetchObjects(work, hub, work.isOnDemand ? some.filter(isForLists) : some);
  await expectObjects(work, hub, some);
  chain.db.transaction(() => {
    storeItems(work, some);
    for (const [item, problem] of problems) if (problem !== undefined) work.refused.add(item, problem);
    then();
  });
}

/** Why an item is refused before anything is fetched for it. */
function problemWith({ kind, body, sender }: SentItem): string | undefined {
  if (!findRule(kind)) return 'This version of Stemma does not know the kind. Update Stemma.';
  if (sender?.isLink && !ticketKinds.has(kind)) return `It came through the share link ${sender.name}, which sends tickets only.`;
  return validateItem(kind, body)?.message;
}

/**
 * The last version of each item, at the position of its first version, because later items may refer to it. Earlier versions are skipped, except
 * for new commits: what identifies or attributes a commit is fixed by its first valid version.
 */
const newest = ({ places }: Pull, items: readonly SentItem[]): SentItem[] => [
  ...new Map(
    items.map((item, place) => {
      const isNewCommit = item.kind === 'context' && places.numberOf('context', item.key) === undefined;
      return [`${item.kind} ${item.key} ${isNewCommit ? place : ''}`, item];
    }),
  ).values(),
];

/** Stores items, each after those that it refers to. Retries an item after the others if it still lacks one, as a changed row may do. */
function storeItems(work: Pull, items: readonly SentItem[]): void {
  for (let left: readonly SentItem[] = inOrder(items); left.length > 0; ) {
    const refused = left.flatMap((item) => {
      const reason = storeItem(work, item);
      if (reason === undefined) work.refused.remove(item);
      return reason === undefined ? [] : [{ item, reason }];
    });
    if (refused.length === left.length) {
      for (const { item, reason } of refused) work.refused.add(item, reason);
      return;
    }
    left = refused.map(({ item }) => item);
  }
}

/** Whether lists need the objects of an item: a session without a title shows its first prompt, and a call consists of objects. */
const isForLists = ({ kind, body }: SentItem): boolean =>
  kind === 'template' || kind === 'request' || (kind === 'context' && (body.parent ?? null) === null);

/** Fetches objects that the hub has in parts. Adds rows for objects that stay on the hub until they are read, and for expired ones. */
async function expectObjects(work: Pull, hub: Hub, items: readonly SentItem[]): Promise<void> {
  const { chain, isOnDemand, total } = work;
  const missing = missingOf(work, items);
  for (let at = 0; at < missing.length; at += objectsAtOnce) {
    const asked = missing.slice(at, at + objectsAtOnce);
    const about = (await hub.about(asked)).slice(0, asked.length);
    const expected = about.flatMap((found, i) => (found ? [{ ...found, ref: refOfHash(Buffer.from(asked[i] as string, 'hex')) }] : []));
    const { copies } = chain.artifacts;
    copies.expectExpired(expected.filter(({ isExpired }) => isExpired));
    for (const { ref, ...facts } of isOnDemand ? [] : expected)
      if (facts.parts && !facts.isExpired) {
        await fetchInParts(chain, hub, ref, facts);
        total.objects += 1;
      }
    const held = expected.filter(({ isExpired }) => !isExpired);
    if (isOnDemand) copies.expect(theHub, held);
  }
}

/** The objects that items need and that have no row here. */
const missingOf = ({ places }: Pull, items: readonly SentItem[]): string[] =>
  [...new Set(items.flatMap(objectsOf))].filter((hash) => places.numberOf('artifact', hash) === undefined);

async function fetchObjects(work: Pull, hub: Hub, items: readonly SentItem[]): Promise<void> {
  const { chain, total } = work;
  for (let missing = missingOf(work, items); missing.length > 0; ) {
    const asked = new Set(missing.slice(0, objectsAtOnce));
    const objects = unpackParcel(await hub.objects([...asked]), itemKey, maxObjectBytes).objects.filter(({ hash }) => asked.has(hash));
    if (objects.length === 0) return;
    chain.artifacts.transaction(() => {
      for (const { bytes, contentType } of objects) chain.artifacts.put(bytes, { contentType, bulk: true });
    });
    total.objects += objects.length;
    const got = new Set(objects.map(({ hash }) => hash));
    missing = missing.filter((hash) => !got.has(hash));
  }
}

/** Stores one item. Returns the reason if that is impossible; then it changes nothing. */
function storeItem(work: Pull, item: SentItem): string | undefined {
  const { chain, known, places, total } = work;
  const rule = findRule(item.kind) as RowRule;
  const store = (): void => {
    const here = places.numberOf(rule.kind, item.key);
    if (here !== undefined && isChangedHere(work, rule, item, here)) {
      total.kept++;
      return;
    }
    const no = rule.kind === 'context' ? storeCommit(chain, places, item, isContentHere(work, item)) : storeRow(work, rule, item, here);
    if (rule.kind === 'source' && !work.isOnDemand && here === undefined && no !== undefined) readRecordedCalls(chain, no);
    known.note(item, no);
    if (no !== undefined && startKinds.has(rule.kind))
      noteReceived(chain, rule.kind as StartKind, no, { hub: work.place, name: item.sender?.name ?? null, isLink: item.sender?.isLink ?? false });
    if (no !== undefined) places.note(rule.kind, item.key, no);
    total.items[item.kind] = (total.items[item.kind] ?? 0) + 1;
  };
  try {
    chain.db.transaction(store);
    return undefined;
  } catch (error) {
    const isRefusal = error instanceof StemmaError || stringAt(error, 'code')?.startsWith('SQLITE_CONSTRAINT');
    if (!isRefusal) throw error;
    return (error as Error).message;
  }
}

function isContentHere({ chain, places }: Pull, item: SentItem): boolean {
  return objectsOf(item).every((hash) => {
    const no = places.numberOf('artifact', hash);
    return no !== undefined && chain.artifacts.stat(no as ArtifactNo).gone === undefined;
  });
}

/** Whether the row was changed here: it equals neither the version that both sides held last nor the received one. */
function isChangedHere(work: Pull, rule: RowRule, item: SentItem, no: number): boolean {
  const { rows, known } = work;
  if (!rule.key || rule.calls) return false;
  const row = rowAt(work, rule, no, item);
  if (!row) return false;
  const here = rows.item(rule, row);
  const held = known.digest(rule.kind, item.key);
  return here.digest !== item.digest && here.digest !== held && !isEmpty(rule, here, held);
}

function rowAt({ chain, rows, places }: Pick<Pull, 'chain' | 'rows' | 'places'>, rule: RowRule, no: number, item: SentItem): SqliteRow | undefined {
  const column = rows.shape(rule).number ?? rule.numberedBy;
  const [names, values] = column === undefined ? [rule.key ?? [], places.keyValues(rule, item.key) ?? []] : [[column], [no]];
  return chain.db.one<SqliteRow>(`SELECT * FROM "${tableOf(rule)}" WHERE ${names.map((name) => `"${name}" IS ?`).join(' AND ')}`, ...values);
}

/** Writes a row that is no commit. Returns its number. @throws NOT_FOUND if it refers to a missing row; CONFLICT if a turn holds the card. */
function storeRow({ chain, rows, places }: Pull, rule: RowRule, item: SentItem, here: number | undefined): number | undefined {
  const { columns, blobs, number, hasProject } = rows.shape(rule);
  const values: Record<string, null | number | string | Uint8Array> = {};
  for (const column of columns) {
    const value = columnValue(places, rule, column, item.body[column] ?? null);
    values[column] = blobs.has(column) && typeof value === 'string' ? Buffer.from(value, 'hex') : value;
  }
  if (rule.calls) return here ?? storeTravelingCall(chain, values as unknown as TravelingCall);
  if (rule.fixed && here !== undefined) refuseChanged(rule, rowAt({ chain, rows, places }, rule, here, item), values);
  if (rule.kind === 'card' && here !== undefined) refuseSealed(chain, here, values);
  if (rule.kind === 'boxPart') refuseHeld(chain, values);
  const names = Object.keys(values);
  if (here !== undefined && rule.key) {
    const changed = names.filter((name) => !rule.key?.includes(name));
    const own = number ?? rule.numberedBy;
    const where = own === undefined ? rule.key.map((name) => `"${name}" = ?`).join(' AND ') : `"${own}" = ?`;
    const which = own === undefined ? rule.key.map((name) => values[name] ?? null) : [here];
    if (changed.length > 0)
      chain.db.run(
        `UPDATE "${tableOf(rule)}" SET ${changed.map((name) => `"${name}" = ?`).join(', ')} WHERE ${where}`,
        ...changed.map((name) => values[name] ?? null),
        ...which,
      );
    // Only a path that this machine imported may be read from the disk again.
    if (rule.kind === 'source') chain.db.run('UPDATE source SET recorded = NULL WHERE no = ?', here);
    return here;
  }
  const all = Object.entries({ ...values, ...rule.local, ...(hasProject && { project: chain.project }), ...nextPosition(chain, rule, values) });
  const [columnList, marks] = [all.map(([name]) => `"${name}"`).join(', '), all.map(() => '?').join(', ')];
  const sql = `INSERT INTO "${tableOf(rule)}" (${columnList}) VALUES (${marks})`;
  const { rowId } = chain.db.run(sql, ...all.map(([, value]) => value));
  return rule.unnumbered ? undefined : rowId;
}

/** The position of a new row among those of its owner. */
function nextPosition({ db }: ReadChain, rule: RowRule, values: SqliteRow): SqliteRow {
  if (!rule.counts) return {};
  const { column, of } = rule.counts;
  const last = db.value<number | null>(`SELECT MAX("${column}") FROM "${tableOf(rule)}" WHERE "${of}" = ?`, values[of] ?? null);
  return { [column]: (last ?? 0) + 1 };
}

/** Refuses a version that changes what the first one fixed: a message is never edited. @throws CONFLICT */
function refuseChanged(rule: RowRule, row: SqliteRow | undefined, values: SqliteRow): void {
  const changed = Object.keys(values).find((name) => isFixed(rule, name) && (row?.[name] ?? null) !== values[name]);
  if (changed !== undefined) throw conflict(`This version changes ${changed}, which is fixed. The first version stays.`, { field: changed });
}

/** Refuses changes of a card that a turn holds. It may only be deleted, because this changes no turn that has begun. @throws CONFLICT */
function refuseSealed(chain: ReadChain, no: number, values: SqliteRow): void {
  const row = chain.db.one<SqliteRow>('SELECT * FROM card WHERE no = ?', no);
  const isSame = Object.entries(values).every(([name, value]) => name === 'deletedAt' || (row?.[name] ?? null) === value);
  const cardId = String(row?.cardId);
  const agentTurnId = isSame ? undefined : holderOf(chain, cardId);
  const problem = `The card ${cardId} is sealed: the turn ${agentTurnId} holds it. The other version stays on the hub.`;
  if (agentTurnId !== undefined) throw conflict(problem, { id: cardId, agentTurnId });
}

/** Refuses cards for a box that an open turn of this machine reads: nobody else adds to its input. @throws CONFLICT */
function refuseHeld({ db }: ReadChain, { box }: SqliteRow): void {
  const id = db.value<string>('SELECT boxId FROM box WHERE no = ? AND readers > 0', box ?? null);
  if (id !== undefined) throw conflict(`An open turn of this machine reads the box ${id}. The cards stay on the hub.`, { id });
}

/** The value of a column in this project. @throws NOT_FOUND if it refers to a missing row. */
function columnValue(places: RowFinder, rule: RowRule, column: string, value: Json): null | number | string {
  if (value === null) return null;
  const listed = rule.lists?.[column];
  if (listed !== undefined) return JSON.stringify(renamed(JSON.stringify(value), (name) => required(places, listed, name)));
  const table = rule.refs?.[column];
  if (table === undefined) {
    if (typeof value === 'number' || typeof value === 'string') return value;
    throw badRequest(column, `The column ${column} of ${rule.kind} holds neither a number nor a text.`);
  }
  return required(places, table, value);
}

function required(places: RowFinder, table: string, name: Json): number {
  const no = places.numberOf(table, String(name));
  if (no === undefined) throw notFound(String(name), `It refers to ${table} ${String(name)}, which the hub does not hold.`);
  return no;
}

import { sql } from 'kysely';
import { type JsonObject, recent } from '../../core/base/index.js';
import { objectsOf } from '../../core/sync/index.js';
import { type GrantHolder, refusal } from './access.js';
import type { InProject } from './database.js';
import { newestSeq } from './newest.js';
import { wholesAmong } from './wholes.js';

/** Procedures that a share link may call. All others are refused, regardless of its role. */
const open: ReadonlySet<string> = new Set(['sync.hello', 'sync.lack', 'sync.send', 'sync.items', 'sync.objects', 'sync.about', 'sync.outlines']);

/** @throws UNAUTHORIZED if the token is a share link that may not call the procedure. */
export function requireOpen({ shared }: GrantHolder, procedure: string): void {
  if (shared !== null && !open.has(procedure)) throw refusal('A share link opens only its commits and their ancestors.');
}

/** What a share link opens: its commits, their ancestors, and the items that belong to them. */
export interface ShareView {
  /** The numbers of the items, ascending. */
  readonly seqs: readonly number[];
  /** The hashes of their objects, and of the parts of these. */
  readonly objects: ReadonlySet<string>;
}

interface HeldView {
  readonly line: Set<string>;
  readonly seqs: number[];
  readonly objects: Set<string>;
  /** The newest item of the project when this was computed. */
  upTo: number;
}

/** The view of a link. It is computed once: what came before a commit never changes, so a later call looks at new items only. */
export type ShareViews = (tx: InProject, project: number, commits: readonly Buffer[]) => Promise<ShareView>;

/** The most bytes of views to keep, and about how many an item of a view takes. */
const kept = { bytes: 128 * 1024 * 1024, perItem: 300 };

/** Opens the views of a hub process. */
export function openShareViews(): ShareViews {
  const held = recent<string, HeldView>(kept.bytes);
  const computing = new Map<string, Promise<HeldView>>();
  const viewAt = async (tx: InProject, name: string, commits: readonly Buffer[]): Promise<HeldView> => {
    const newest = await newestSeq(tx);
    const known = held.get(name);
    if (known && known.upTo >= newest) return known;
    const view = known ?? { line: new Set<string>(), seqs: [], objects: new Set<string>(), upTo: newest };
    const found = known ? await addedSince(tx, known) : await walk(tx, commits, view.line);
    // A view changes only when everything about the new items is known.
    const objects = await objectsAmong(tx, found);
    for (const object of objects) view.objects.add(object);
    view.seqs.push(...found.filter((seq) => seq > (view.seqs.at(-1) ?? 0)));
    view.upTo = newest;
    held.set(name, view, (view.seqs.length + view.line.size + view.objects.size) * kept.perItem);
    return view;
  };
  return (tx, project, commits) => {
    const name = [project, ...commits.map((commit) => commit.toString('hex'))].join(' ');
    // Calls at the same time wait for one walk.
    const running = computing.get(name) ?? viewAt(tx, name, commits).finally(() => computing.delete(name));
    computing.set(name, running);
    return running;
  };
}

async function walk(tx: InProject, commits: readonly Buffer[], line: Set<string>): Promise<number[]> {
  const { rows: names } = await sql<{ name: Buffer }>`
    WITH RECURSIVE line (name) AS (
      SELECT unnest(${sql.val([...commits])}::bytea[])
      UNION
      SELECT item.about FROM line JOIN item ON item.name = line.name WHERE item.about IS NOT NULL
    )
    SELECT name FROM line`.execute(tx);
  for (const { name } of names) line.add(name.toString('hex'));
  const all = names.map(({ name }) => name);
  const { rows } = await sql<{ seq: string }>`
    SELECT item.seq FROM unnest(${sql.val(all)}::bytea[]) line (name) JOIN item ON item.name = line.name
    UNION
    SELECT item.seq FROM unnest(${sql.val(all)}::bytea[]) line (name) JOIN item ON item.about = line.name WHERE item.kind <> 'context'
    ORDER BY seq`.execute(tx);
  return rows.map(({ seq }) => Number(seq));
}

/** The new items that belong to a view. Commits that continue it do not. */
async function addedSince(tx: InProject, { line, upTo }: HeldView): Promise<number[]> {
  const rows = await tx.selectFrom('item').select(['seq', 'kind', 'name', 'about']).where('seq', '>', String(upTo)).orderBy('seq').execute();
  return rows
    .filter(({ kind, name, about }) => line.has(name.toString('hex')) || (kind !== 'context' && about !== null && line.has(about.toString('hex'))))
    .map(({ seq }) => Number(seq));
}

const itemsAtOnce = 5_000;

async function objectsAmong(tx: InProject, seqs: readonly number[]): Promise<string[]> {
  const named: string[] = [];
  for (let at = 0; at < seqs.length; at += itemsAtOnce) {
    const { rows } = await sql<{ kind: string; body: Buffer }>`
      SELECT kind, body FROM item WHERE seq = any(${sql.val(seqs.slice(at, at + itemsAtOnce))}::bigint[])`.execute(tx);
    for (const { kind, body } of rows) named.push(...objectsOf({ kind, body: JSON.parse(body.toString()) as JsonObject }));
  }
  const wholes = named.length === 0 ? new Map() : await wholesAmong(tx, named);
  return [...named, ...[...wholes.values()].flatMap(({ parts }) => parts)];
}

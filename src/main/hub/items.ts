import { sql } from 'kysely';
import { firstWhere, type JsonObject } from '../../core/base/index.js';
import type { SentItem } from '../../core/sync/index.js';
import type { GrantHolder } from './access.js';
import { checkItems } from './checks.js';
import { addToAudit, type InProject, inStatements } from './database.js';
import { aboutOf, namesOfItems, namesOfRefused } from './names.js';
import { newestDigests, newestSeq } from './newest.js';
import type { ShareView } from './shares.js';

/** The most items of one answer, and the bytes of content after which it ends. */
const page = { items: 5_000, bytes: 16 * 1024 * 1024 };

/** The items after a number; for a share link, only those of its view. The sizes are summed up before the contents are read. */
export async function pageOfItems(tx: InProject, after: number, view: ShareView | undefined) {
  const seqs = view && pageAfter(view.seqs, after);
  const { rows } = await sql<{ seq: string; kind: string; body: Buffer; sender: string | null; isLink: boolean }>`
    SELECT seq, kind, body, t.name AS sender, t.shared IS NOT NULL AS "isLink" FROM (
      SELECT seq, kind, body, by, sum(octet_length(body)) OVER (ORDER BY seq) AS total FROM (
        SELECT seq, kind, body, by FROM item
         WHERE seq > ${String(after)}::bigint AND ${seqs === undefined ? sql`true` : sql`seq = any(${sql.val(seqs)}::bigint[])`}
         ORDER BY project, seq LIMIT ${page.items}
      ) chosen
    ) sized LEFT JOIN token t ON t.no = sized.by
     WHERE total - octet_length(body) < ${page.bytes} ORDER BY seq`.execute(tx);
  const seq = Number(rows.at(-1)?.seq ?? after);
  const newest = view ? (view.seqs.at(-1) ?? 0) : await newestSeq(tx);
  return {
    seq,
    // An item that arrived since is on the next page of somebody who asks again.
    isLast: rows.length === 0 || seq >= newest,
    items: rows.map(
      ({ kind, body, sender, isLink }): SentItem => ({
        kind,
        key: '',
        digest: '',
        body: JSON.parse(body.toString()) as JsonObject,
        sender: sender === null ? undefined : { name: sender, isLink },
      }),
    ),
    what: namesOfItems(rows),
  };
}

/** The numbers after a number, which are ascending, as many as a page has at most. */
function pageAfter(seqs: readonly number[], after: number): readonly number[] {
  const first = firstWhere(0, seqs.length, (at) => (seqs[at] as number) > after);
  return seqs.slice(first, first + page.items);
}

/** The formats of a project's commits, of which a caller wants these. */
export type CommitFormats = (tx: InProject, project: number, wanted: readonly string[]) => Promise<ReadonlySet<string>>;

/** Opens the formats of a hub process. They are collected once; a later call looks at new commits only. */
export function openCommitFormats(): CommitFormats {
  const held = new Map<number, { upTo: number; readonly formats: Set<string> }>();
  return async (tx, project, wanted) => {
    const known = held.get(project) ?? { upTo: 0, formats: new Set<string>() };
    held.set(project, known);
    if (wanted.every((name) => known.formats.has(name))) return known.formats;
    // Not read as JSON: PostgreSQL refuses a NUL in any text of it. The quotes of a text have a backslash before them, so only the column matches.
    const { rows } = await sql<{ format: string | null; seq: string }>`
      SELECT substring(convert_from(body, 'UTF8') from '"format":"([a-z0-9-]+)"') AS format, max(seq) AS seq FROM item
       WHERE seq > ${String(known.upTo)}::bigint AND kind = 'context' GROUP BY 1`.execute(tx);
    for (const { format, seq } of rows) {
      if (format !== null) known.formats.add(format);
      known.upTo = Math.max(known.upTo, Number(seq));
    }
    return known.formats;
  };
}

/**
 * Checks the items of a parcel, and stores each valid one unless it equals the newest stored version. A project stores parcels one after the other,
 * so that item numbers only grow. `sent`: the hashes of the objects that came along.
 */
export async function storeItems(tx: InProject, project: number, holder: GrantHolder, items: readonly SentItem[], sent: ReadonlySet<string>) {
  await sql`SELECT pg_advisory_xact_lock(${project})`.execute(tx);
  const { accepted, refused } = await checkItems(tx, holder, items, sent);
  const names = accepted.map(({ name }) => name);
  const newest = new Map(await newestDigests(tx, names));
  let seq = await newestSeq(tx);
  const rows = accepted.flatMap(({ item: { kind, digest, body }, name }) => {
    if (newest.get(name.toString('hex')) === digest) return [];
    newest.set(name.toString('hex'), digest);
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
  for (const some of inStatements(rows)) await tx.insertInto('item').values(some).execute();
  if (refused.length > 0)
    await addToAudit(tx, { project, by: holder.name, action: 'refused items', count: refused.length, what: namesOfRefused(refused) });
  return { seq, stored: rows.length, refused, what: namesOfItems(rows) };
}

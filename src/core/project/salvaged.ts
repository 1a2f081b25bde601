import { blake3Of } from '../artifacts/index.js';
import type { ContextId } from '../base/index.js';
import type { Chain } from '../chain/index.js';
import type { Salvage, Trace } from '../store/index.js';
import type { Problem } from './check.js';

/** What stands for a commit whose row is lost: no digest is all zeros. */
const noDigest = Buffer.alloc(32);
/** The rows that a salvage may leave without what they name are taken away, but for these: others stand on them. */
const kept = ['context', 'artifact'];

/**
 * After the database was salvaged: lost commits and objects get rows that say so, where an index still tells their names and places, so
 * that what stands on them stays. Rows that name what is gone go, and all of it is told.
 */
export function standIns(chain: Chain, { lost, traces, path }: Salvage): Problem[] {
  return chain.db.transaction(() => {
    const problems = lost.map(
      ({ table, rows, known }): Problem => ({
        kind: 'database',
        id: table,
        message: `${rows} or more rows of ${table} do not read as what was written and are lost${namesOf(known, traces.get(table))}; the damaged file is kept at ${path}`,
      }),
    );
    for (const [no, trace] of traces.get('artifact') ?? []) standInObject(chain, no, trace);
    const missing = chain.db.all<{ seq: number }>(
      'SELECT DISTINCT parent AS seq FROM context WHERE parent IS NOT NULL AND parent NOT IN (SELECT seq FROM context)',
    );
    const commits = new Map<number, Trace>([...missing.map(({ seq }) => [seq, {}] as const), ...(traces.get('context') ?? [])]);
    for (const seq of [...commits.keys()].sort((a, b) => a - b)) standInCommit(chain, seq, commits.get(seq) ?? {});
    for (const { no } of chain.db.all<{ no: number }>('SELECT DISTINCT artifact AS no FROM context WHERE artifact NOT IN (SELECT no FROM artifact)'))
      standInObject(chain, no, {});
    chain.artifacts.regain();
    return [...problems, ...dropDangling(chain)];
  });
}

const namedAtMost = 20;

function namesOf(rows: readonly (number | string)[], traces: ReadonlyMap<number, Trace> | undefined): string {
  const names = rows.map((row) => {
    if (typeof row === 'string') return row;
    const said = Object.entries(traces?.get(row) ?? {}).find(([name, value]) => /(^id|Id|^path|^name)$/.test(name) && typeof value === 'string');
    return said ? String(said[1]) : `number ${row}`;
  });
  if (names.length === 0) return '';
  return `, among them ${names.slice(0, namedAtMost).join(', ')}${names.length > namedAtMost ? ` and ${names.length - namedAtMost} more` : ''}`;
}

/** An object of which only the beginning of its hash is known: reading it says that it is lost, until a file on disk has its content. */
function standInObject(chain: Chain, no: number, { key }: Trace): void {
  if (typeof key === 'number' && key < 0) return;
  const hash = Buffer.alloc(32);
  hash.writeUIntBE(typeof key === 'number' ? key : lostHash(`object ${no}`).readUIntBE(0, 6), 0, 6);
  insertLost(chain, no, hash);
}

const lostHash = (name: string): Buffer => blake3Of(Buffer.from(`lost ${name}`));

function insertLost(chain: Chain, no: number | null, hash: Buffer): number {
  if (no !== null && chain.db.one('SELECT 1 FROM artifact WHERE no = ?', no)) return no;
  return chain.db.insert('artifact', {
    no,
    project: chain.project,
    key: hash.readUIntBE(0, 6),
    hash,
    size: 0,
    storedSize: 0,
    encoding: 0,
    contentType: 'application/octet-stream',
    policy: 'default',
    createdAt: chain.clock(),
    gone: 'lost',
  }).rowId;
}

function standInCommit(chain: Chain, seq: number, { id, line, depth, principal, createdAt }: Trace): void {
  const like = chain.db.one<{ format: string; line: number; depth: number; createdAt: number }>(
    'SELECT format, line, depth, createdAt FROM context WHERE parent = ? ORDER BY seq LIMIT 1',
    seq,
  );
  const place = { line: line ?? like?.line ?? null, depth: depth ?? (like ? Math.max(0, like.depth - 1) : 0) };
  // Its line may be lost as well, and what that began at.
  if (place.line !== null) chain.db.run('INSERT OR IGNORE INTO line (no, project) VALUES (?, ?)', place.line, chain.project);
  const parent = chain.db.one<{ seq: number | null }>(
    `SELECT IFNULL((SELECT seq FROM context WHERE line = ? AND depth = ? AND seq < ?),
                   (SELECT l.origin FROM line l JOIN context c ON c.seq = l.origin WHERE l.no = ?)) AS seq`,
    place.line,
    Number(place.depth) - 1,
    seq,
    place.line,
  )?.seq;
  const name = (id ?? `ctx-${seq.toString(16).padStart(64, '0')}`) as ContextId;
  if (chain.db.one('SELECT 1 FROM context WHERE seq = ? OR (project = ? AND id = ?)', seq, chain.project, name)) return;
  chain.db.insert('context', {
    seq,
    project: chain.project,
    id: name,
    digest: noDigest,
    parent: parent ?? null,
    line: place.line ?? chain.db.run('INSERT INTO line (project) VALUES (?)', chain.project).rowId,
    depth: place.depth,
    type: 'delta',
    artifact: insertLost(chain, null, lostHash(`commit ${id ?? seq}`)),
    format: like?.format ?? 'claude-code-v1',
    template: 'lost',
    principal: principal ?? null,
    checkpoint: 'explicit',
    summary: 'This commit was lost with a damaged page of the database: its name and place are known, its content is not.',
    messageCount: 0,
    tokenCount: 0,
    contextTokens: 0,
    errors: 0,
    entries: 0,
    forked: 0,
    createdAt: Number(createdAt ?? like?.createdAt ?? chain.clock()),
  });
}

/** Rows of other tables that name what is gone. */
function dropDangling(chain: Chain): Problem[] {
  const links = chain.db.all<{ table: string; column: string; to: string; target: string | null }>(
    `SELECT m.name AS "table", f."from" AS "column", f."table" AS "to", f."to" AS target FROM sqlite_schema m, pragma_foreign_key_list(m.name) f
      WHERE m.type = 'table'`,
  );
  const dropped = new Map<string, number>();
  for (let again = true; again; ) {
    again = false;
    for (const { table, column, to, target } of links.filter((link) => !kept.includes(link.table))) {
      const { changes } = chain.db.run(
        `DELETE FROM "${table}" WHERE "${column}" IS NOT NULL AND "${column}" NOT IN (SELECT ${target ? `"${target}"` : 'rowid'} FROM "${to}")`,
      );
      if (changes === 0) continue;
      dropped.set(table, (dropped.get(table) ?? 0) + changes);
      again = true;
    }
  }
  return [...dropped].map(([table, rows]) => ({
    kind: 'database',
    id: table,
    message: `${rows} rows of ${table} named rows that are lost, and went with them`,
  }));
}

/** Whether a commit only stands for one that was lost. */
export const isStandIn = (digest: Buffer): boolean => digest.equals(noDigest);

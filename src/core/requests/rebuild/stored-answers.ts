// Where answers begin, in the order of their times, so that a page of calls reads only the commits of its own calls. Commits never change.
import { atOnce, type CommitSeq, corrupt, orUndefined, toTimestamp } from '../../base/index.js';
import { commitAt, outlineVersion, type ReadChain, type WriteChain } from '../../chain/index.js';
import type { RequestRow } from '../../contract/index.js';
import { commitProgress } from '../../store/index.js';
import { openDelta } from '../runtimes/before.js';
import { recordId } from '../runtimes/runtime.js';
import { findReader } from '../runtimes/runtimes.js';
import { noCauses } from '../shared/causes.js';
import { type AnsweredCall, foundIn, makeRow } from './answers.js';

/** Increase this number when the rules change by which answers are found, so that they are found again. */
const rules = 1;
const progress = commitProgress('usage answers', outlineVersion * 1_000 + rules);

/** The commits per transaction. */
const commitsAtOnce = 128;
/** The place of a commit whose content could not be read. A list that needs it reads it again, and says so. */
const unreadable = -1;

/** The number of commits whose answers are not stored yet, at most `limit`. */
export const pendingAnswers: (chain: ReadChain, limit: number) => number = progress.pending;

/** Stores where the answers of new commits begin, in short transactions. Yields after each. */
export function* catchUpAnswers(chain: WriteChain): Generator<void> {
  while (pendingAnswers(chain, 1) > 0) {
    const from = progress.last(chain);
    const select = `SELECT seq FROM commits WHERE seq > ? AND +project = ? ORDER BY seq LIMIT ${commitsAtOnce}`;
    const commits = chain.db.all<{ seq: CommitSeq }>(select, from, chain.project);
    const found = [...unreadBefore(chain), ...commits].map(({ seq }) => ({
      seq,
      answers: orUndefined(() => atOnce(foundIn(chain, [seq], () => false))),
    }));
    chain.db.transaction(() => {
      if (from === 0) chain.db.run('DELETE FROM usageAnswer WHERE project = ?', chain.project);
      for (const { seq, answers } of found) {
        chain.db.run('DELETE FROM usageAnswer WHERE project = ? AND at = 0 AND context = ? AND place = ?', chain.project, seq, unreadable);
        if (answers) for (const answer of answers) store(chain, answer);
        else chain.db.run(insert, chain.project, 0, seq, unreadable, '', 0, 0);
      }
      progress.readTo(chain, commits.at(-1)?.seq ?? from);
    });
    yield;
  }
}

/** Commits whose content could not be read before, and may have arrived since. */
const unreadBefore = ({ db, project }: ReadChain): { readonly seq: CommitSeq }[] =>
  db.all(`SELECT context AS seq FROM usageAnswer WHERE project = ? AND at = 0 AND place = ${unreadable} LIMIT ${commitsAtOnce}`, project);

const insert = 'INSERT OR REPLACE INTO usageAnswer (project, at, context, place, record, messages, isPure) VALUES (?, ?, ?, ?, ?, ?, ?)';

function store({ db, project }: WriteChain, { row, at, beginning, isPure }: AnsweredCall): void {
  db.run(insert, project, Date.parse(at), row.seq, beginning.at, packRecord(recordId(beginning.key)), beginning.messagesBefore, isPure ? 1 : 0);
}

const uuid = /^[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}$/;

/** A record as its column stores it: a UUID as its 16 bytes, any other text as it is. */
const packRecord = (record: string): string | Uint8Array => (uuid.test(record) ? Buffer.from(record.replaceAll('-', ''), 'hex') : record);

/** The record of a value of its column. */
const unpackRecord = (stored: string | Uint8Array): string =>
  typeof stored === 'string'
    ? stored
    : Buffer.from(stored)
        .toString('hex')
        .replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-');

export interface StoredAnswer {
  readonly at: number;
  readonly context: CommitSeq;
  readonly place: number;
  readonly record: string;
  readonly messages: number;
  readonly isPure: 0 | 1;
}

/** The stored answers of a project or a session, oldest first, without those of commits whose calls are listed otherwise. Undefined if some are not stored. */
export function storedAnswers(chain: ReadChain, sessionId: string | undefined, without: ReadonlySet<CommitSeq>) {
  const among = sessionId === undefined ? '' : 'AND a.context IN (SELECT seq FROM commits c WHERE +c.project = :project AND c.sessionId = :session)';
  const where = `a.project = :project ${among} ${without.size === 0 ? '' : 'AND a.context NOT IN (SELECT value FROM json_each(:without))'}`;
  const values = {
    project: chain.project,
    ...(sessionId !== undefined && { session: sessionId }),
    ...(without.size > 0 && { without: JSON.stringify([...without]) }),
  };
  const isUnread = chain.db.one(`SELECT 1 FROM usageAnswer a WHERE ${where} AND a.at = 0 AND a.place = ${unreadable} LIMIT 1`, values) !== undefined;
  if (isUnread || pendingAnswers(chain, 1) > 0) return undefined;
  return {
    total: (): number => chain.db.value<number>(`SELECT COUNT(*) FROM usageAnswer a WHERE ${where}`, values) ?? 0,
    page: (offset: number, limit: number): StoredAnswer[] =>
      chain.db
        .all<Omit<StoredAnswer, 'record'> & { readonly record: string | Uint8Array }>(
          `SELECT at, context, place, record, messages, isPure FROM usageAnswer a WHERE ${where} ORDER BY at, context, place LIMIT :limit OFFSET :offset`,
          { ...values, offset, limit },
        )
        .map((row) => ({ ...row, record: unpackRecord(row.record) })),
  };
}

/** The calls of stored answers, in their order. Reads each commit once. @throws CORRUPT if the content has changed since its answers were stored. */
export function rowsOfStored(chain: ReadChain, answers: readonly StoredAnswer[]): RequestRow[] {
  const rows = new Map<StoredAnswer, RequestRow>();
  for (const [context, own] of Map.groupBy(answers, (answer) => answer.context)) {
    const row = commitAt(chain, context);
    const [runtime, delta] = [findReader(row.format), openDelta(chain, row)];
    for (const stored of own) {
      const [entry, answer] = [delta.entries[stored.place], runtime.answer(delta, stored.place)];
      if (!entry || !answer) throw corrupt(String(context), `The commit ${row.id} no longer holds the answer that was stored for it.`);
      const beginning = { key: entry.key, at: stored.place, messagesBefore: stored.messages, causes: noCauses() };
      const at = answer.at ?? entry.at ?? toTimestamp(row.createdAt);
      rows.set(stored, makeRow({ row, runtime, beginning, answer, at, isPure: stored.isPure === 1 }));
    }
  }
  return answers.map((answer) => rows.get(answer) as RequestRow);
}

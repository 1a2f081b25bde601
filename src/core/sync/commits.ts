import { refOfHash } from '../artifacts/index.js';
import { type ArtifactNo, badRequest, type CommitSeq, corrupt, type Json, StemmaError, timestampOf } from '../base/index.js';
import { addCommit, type Chain, type ContextRow, commitAt, outlineOf, rememberAll } from '../chain/index.js';
import { type Checkpoint, type CommitType, checkpoints, commitTypes } from '../contract/index.js';
import { findFormat, recordOfKey } from '../formats/index.js';
import type { Item, Places } from './rows.js';

/**
 * Stores a received commit, or updates the summary and tags of a commit that the project has. The digest is computed from parent, content,
 * time and template, so a commit cannot pose as another one. `isHere`: the project has its content. Returns its row number.
 * @throws BAD_REQUEST for invalid values; NOT_FOUND if its parent or object is missing; CORRUPT if its digest does not match.
 */
export function storeCommit(chain: Chain, places: Places, { key, body }: Item, isHere = true): number {
  const here = places.numberOf('context', key);
  const summary = text(body, 'summary');
  const tags = tagsIn(body.tags);
  if (here !== undefined) {
    chain.db.run('UPDATE context SET summary = ?, tags = ? WHERE seq = ?', summary ?? null, tags.length > 0 ? JSON.stringify(tags) : null, here);
    return here;
  }
  const parent = required(places, 'context', body.parent ?? null);
  const artifact = required(places, 'artifact', body.artifact ?? null);
  if (artifact === null) throw badRequest('artifact', 'The commit names no object.');
  const row = addCommit(chain, {
    parent: parent === null ? null : commitAt(chain, parent as CommitSeq),
    type: oneOf<CommitType>(commitTypes, body.type, 'type'),
    artifact: artifact as ArtifactNo,
    ref: refOfHash(Buffer.from(String(body.artifact), 'hex')),
    format: text(body, 'format') ?? '',
    template: text(body, 'template') ?? '',
    principal: text(body, 'principal'),
    machine: text(body, 'machine'),
    sessionId: text(body, 'sessionId'),
    checkpoint: oneOf<Checkpoint>(checkpoints, body.checkpoint, 'checkpoint'),
    ticketId: text(body, 'ticketId'),
    threadId: text(body, 'threadId'),
    summary,
    tags,
    messageCount: count(body, 'messageCount'),
    tokenCount: count(body, 'tokenCount'),
    errors: count(body, 'errors'),
    entries: count(body, 'entries'),
    forked: body.forked === 1,
    createdAt: timestampOf(time(body)),
  });
  if (row.digest.toString('hex') !== key)
    throw corrupt(row.id, `The received commit ${row.id} does not match its digest ${key}: its content or parent has changed.`);
  if (isHere) rememberRecords(chain, [row]);
  return row.seq;
}

/** Stores which of the agent's records the commits contain. Call it as soon as their contents are stored. */
export const rememberRecords = (chain: Chain, commits: readonly Pick<ContextRow, 'seq' | 'artifact' | 'format'>[]): void =>
  rememberAll(
    chain,
    commits
      .filter(({ format }) => findFormat(format))
      .map(({ seq, artifact, format }) => ({
        seq,
        records: new Set(outlineOf(chain, artifact, format).entries.map(({ key }) => recordOfKey(key))),
      })),
  );

function required(places: Places, table: string, name: Json): number | null {
  if (name === null) return null;
  const no = places.numberOf(table, String(name));
  if (no === undefined)
    throw new StemmaError(
      'NOT_FOUND',
      `It needs ${table === 'artifact' ? 'the object' : 'the commit'} ${String(name)}, which the hub does not hold.`,
      {
        id: String(name),
      },
    );
  return no;
}

function text(body: Item['body'], field: string): string | undefined {
  const value = body[field] ?? null;
  if (value === null) return undefined;
  if (typeof value !== 'string') throw badRequest(field, `${field} of the commit is not a text.`);
  return value;
}

function count(body: Item['body'], field: string): number {
  const value = body[field];
  if (typeof value !== 'number' || !Number.isSafeInteger(value) || value < 0) throw badRequest(field, `${field} of the commit is not a count.`);
  return value;
}

/** The last time that a date can hold, in milliseconds since 1970. */
const latestTime = 8.64e15;

function time({ createdAt }: Item['body']): number {
  if (typeof createdAt !== 'number' || !Number.isSafeInteger(createdAt) || Math.abs(createdAt) > latestTime)
    throw badRequest('createdAt', 'createdAt of the commit is not a time.');
  return createdAt;
}

function oneOf<T extends string>(list: readonly T[], value: Json | undefined, field: string): T {
  const found = list.find((each) => each === value);
  if (found === undefined) throw badRequest(field, `${field} of the commit must be one of ${list.join(', ')}.`);
  return found;
}

function tagsIn(stored: Json | undefined): string[] {
  const tags: unknown = typeof stored === 'string' ? JSON.parse(stored) : [];
  return Array.isArray(tags) ? tags.filter((tag): tag is string => typeof tag === 'string') : [];
}

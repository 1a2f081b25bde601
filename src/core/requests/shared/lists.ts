import type { ReadableDb } from '../../store/index.js';
import { unpackNumbers } from './varints.js';

/** A call's stored list of messages: the number of messages that it takes from its base, and the messages that it adds. */
export interface MessageListRow {
  readonly base: number | null;
  readonly keep: number;
  readonly tail: Uint8Array;
  readonly list: Uint8Array | null;
}

/** The longest walk along bases for a list of this length. A list that needs more is stored whole. */
export const maxWalkLength = (messages: number): number => 8 + (messages >> 7);

/** Reads the stored list of a call. */
export const listRow = (db: ReadableDb, no: number): MessageListRow | undefined =>
  db.one<MessageListRow>('SELECT base, keep, tail, list FROM request WHERE no = ?', no);

/** The numbers of a call's messages, in order. A gap is the negative number of its row. */
export function readList(rowOf: (no: number) => MessageListRow | undefined, no: number): number[] {
  const parts: number[][] = [];
  let wanted = Number.POSITIVE_INFINITY;
  for (let at: number | null = no; at !== null && wanted > 0; ) {
    const row = rowOf(at);
    if (!row) break;
    if (row.list) {
      parts.push(unpackNumbers(row.list).slice(0, wanted));
      break;
    }
    parts.push(unpackNumbers(row.tail).slice(0, Math.max(0, wanted - row.keep)));
    wanted = Math.min(wanted, row.keep);
    at = row.base;
  }
  return parts.reverse().flat();
}

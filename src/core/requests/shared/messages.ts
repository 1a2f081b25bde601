import { type ArtifactNo, decodeText, firstWhere, type Json } from '../../base/index.js';
import type { ReadChain } from '../../chain/index.js';
import { type ListPage, listText, openPage, textAt } from './pages.js';

interface OpenPage {
  readonly first: number;
  readonly count: number;
  readonly page: ListPage;
}

/** Reads stored messages by number. Opened pages stay in memory, so use one reader for one question only. */
export type MessageReader = ReturnType<typeof messageReader>;

const holds = ({ first, count }: OpenPage, no: number): boolean => no >= first && no < first + count;

/** The values of messages; null for a missing one. @throws CORRUPT if the bytes are damaged. */
export function readValues(reader: MessageReader, numbers: readonly number[]): Json[] {
  const values: Json[] = [];
  for (let at = 0; at < numbers.length; ) {
    const no = numbers[at] as number;
    if (no < 0) {
      values.push(null);
      at += 1;
      continue;
    }
    const open = reader.pageOf(no);
    let count = 1;
    while (numbers[at + count] === no + count && holds(open, no + count)) count += 1;
    for (const value of JSON.parse(listText(open.page, no - open.first, count)) as Json[]) values.push(value);
    at += count;
  }
  return values;
}

/** A reader of the project's stored messages. */
export function messageReader(chain: Pick<ReadChain, 'db' | 'project' | 'artifacts'>) {
  const { db, project, artifacts } = chain;
  /** By their first messages, in order. */
  const open: OpenPage[] = [];
  let last: OpenPage | undefined;

  const opened = (no: number): OpenPage => {
    const place = placeIn(open, no);
    const before = open[place];
    if (before && holds(before, no)) return before;
    const row = db.one<{ first: number; count: number; artifact: ArtifactNo }>(
      'SELECT first, count, artifact FROM requestPage WHERE project = ? AND first <= ? ORDER BY first DESC LIMIT 1',
      [project, no],
    );
    if (!row || no >= row.first + row.count) throw new Error(`message ${no} is named by a request but not stored`);
    const page = { first: row.first, count: row.count, page: openPage(artifacts.read(row.artifact)) };
    open.splice(place + 1, 0, page);
    return page;
  };

  /** The page of a message. Its index in the page is its number minus the page's first number. @throws CORRUPT if the bytes are damaged. */
  const pageOf = (no: number): OpenPage => {
    if (!last || !holds(last, no)) last = opened(no);
    return last;
  };

  return {
    pageOf,
    /** The value of a message. @throws CORRUPT if the bytes are damaged. */
    valueAt: (no: number): Json => {
      const { first, page } = pageOf(no);
      return JSON.parse(decodeText(textAt(page, no - first))) as Json;
    },
  };
}

/** The position of the last page that begins at or before the message; -1 if no page does. */
const placeIn = (pages: readonly OpenPage[], no: number): number => firstWhere(0, pages.length, (at) => (pages[at] as OpenPage).first > no) - 1;

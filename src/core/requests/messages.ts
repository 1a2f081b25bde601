import type { ArtifactNo, Json } from '../base/index.js';
import type { Chain } from '../chain/index.js';
import { openPage, type Page } from './pages.js';

export interface StoredMessage {
  readonly page: Page;
  readonly index: number;
}

/** Stored messages by number. Pages that were opened stay open, so one reader serves one question. */
export interface MessageReader {
  /** @throws CORRUPT where the page is not what was stored. */
  at(no: number): StoredMessage;
  /** @throws CORRUPT likewise. */
  valueAt(no: number): Json;
}

interface OpenPage {
  readonly first: number;
  readonly count: number;
  readonly page: Page;
}

export function messageReader(chain: Pick<Chain, 'db' | 'project' | 'artifacts'>): MessageReader {
  const { db, project, artifacts } = chain;
  /** By their first messages, in order. */
  const open: OpenPage[] = [];
  let last: OpenPage | undefined;

  const opened = (no: number): OpenPage => {
    const place = placeIn(open, no);
    const before = open[place];
    if (before && no < before.first + before.count) return before;
    const row = db.one<{ first: number; count: number; artifact: ArtifactNo }>(
      'SELECT first, count, artifact FROM requestPage WHERE project = ? AND first <= ? ORDER BY first DESC LIMIT 1',
      project,
      no,
    );
    if (!row || no >= row.first + row.count) throw new Error(`message ${no} is named by a request but not stored`);
    const page = { first: row.first, count: row.count, page: openPage(artifacts.read(row.artifact)) };
    open.splice(place + 1, 0, page);
    return page;
  };

  const at = (no: number): StoredMessage => {
    if (!last || no < last.first || no >= last.first + last.count) last = opened(no);
    return { page: last.page, index: no - last.first };
  };

  return {
    at,
    valueAt: (no) => {
      const { page, index } = at(no);
      return JSON.parse(page.string(index)) as Json;
    },
  };
}

/** The place of the last page that begins at the message or before it; -1 where none does. */
function placeIn(pages: readonly OpenPage[], no: number): number {
  let [low, high] = [0, pages.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((pages[middle] as OpenPage).first <= no) low = middle + 1;
    else high = middle;
  }
  return low - 1;
}

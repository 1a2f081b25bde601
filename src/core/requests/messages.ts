import type { ArtifactNo } from '../base/index.js';
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
}

interface OpenPage {
  readonly first: number;
  readonly count: number;
  readonly page: Page;
}

export function messageReader(chain: Pick<Chain, 'db' | 'project' | 'artifacts'>): MessageReader {
  const { db, project, artifacts } = chain;
  const open = new Map<number, OpenPage>();
  let last: OpenPage | undefined;

  const opened = (no: number): OpenPage => {
    const row = db.one<{ first: number; count: number; artifact: ArtifactNo }>(
      'SELECT first, count, artifact FROM requestPage WHERE project = ? AND first <= ? ORDER BY first DESC LIMIT 1',
      project,
      no,
    );
    if (!row || no >= row.first + row.count) throw new Error(`message ${no} is named by a request but not stored`);
    const known = open.get(row.first) ?? { first: row.first, count: row.count, page: openPage(artifacts.read(row.artifact)) };
    open.set(row.first, known);
    return known;
  };

  return {
    at(no) {
      if (!last || no < last.first || no >= last.first + last.count) last = opened(no);
      return { page: last.page, index: no - last.first };
    },
  };
}

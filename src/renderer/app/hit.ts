import type { SearchHit } from '../../core/contract/index.js';

/** Characters shown before the first match, so that the match stays visible in a line of the palette. */
const lead = 24;

/** A piece of a search result's text. `at` is its position, or -1 for the leading ellipsis. */
export interface HitPiece {
  readonly at: number;
  readonly text: string;
  readonly isMatch: boolean;
}

/** Splits a search result into matching and other pieces, starting shortly before the first match. */
export function hitPieces({ snippet, matches }: Pick<SearchHit, 'snippet' | 'matches'>): readonly HitPiece[] {
  const first = matches[0]?.start ?? 0;
  const from = first > lead ? first - lead : 0;
  const pieces: HitPiece[] = from > 0 ? [{ at: -1, text: '…', isMatch: false }] : [];
  let at = from;
  for (const { start, end } of matches) {
    // Matches may overlap; each character is marked once.
    const begin = Math.max(at, start);
    if (begin > at) pieces.push({ at, text: snippet.slice(at, begin), isMatch: false });
    if (end > begin) pieces.push({ at: begin, text: snippet.slice(begin, end), isMatch: true });
    at = Math.max(at, end);
  }
  if (at < snippet.length) pieces.push({ at, text: snippet.slice(at), isMatch: false });
  return pieces;
}

import type { SearchHit } from '../../core/contract/index.js';

/** Characters before the first match that still leave it in sight in a line of the palette. */
const lead = 24;

export interface HitPiece {
  readonly at: number;
  readonly text: string;
  readonly isMatch: boolean;
}

/** What a search found, as pieces that match and pieces that do not, begun near the first match: a line ends where its room does. */
export function hitPieces({ snippet, matches }: Pick<SearchHit, 'snippet' | 'matches'>): readonly HitPiece[] {
  const first = matches[0]?.start ?? 0;
  const from = first > lead ? first - lead : 0;
  const pieces: HitPiece[] = from > 0 ? [{ at: -1, text: '…', isMatch: false }] : [];
  let at = from;
  for (const { start, end } of matches) {
    // Phrases may overlap: what is marked is marked once.
    const begin = Math.max(at, start);
    if (begin > at) pieces.push({ at, text: snippet.slice(at, begin), isMatch: false });
    if (end > begin) pieces.push({ at: begin, text: snippet.slice(begin, end), isMatch: true });
    at = Math.max(at, end);
  }
  if (at < snippet.length) pieces.push({ at, text: snippet.slice(at), isMatch: false });
  return pieces;
}

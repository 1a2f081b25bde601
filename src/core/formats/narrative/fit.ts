import { countTokens } from '../tokens.js';
import type { Piece } from './pieces.js';

/**
 * The pieces one after the other within `maxTokens`. From the oldest on, and no further than needed: results of tools are folded, then
 * thinking and calls; then whole turns are said in few words, then left out; the newest turn comes last in each of these, and what is
 * still too long is cut in its middle.
 */
export function fitted(opening: string, pieces: readonly Piece[], maxTokens = Number.POSITIVE_INFINITY): string {
  const lastTurn = pieces.at(-1)?.turn ?? 0;
  const isOld = ({ turn }: Piece): boolean => turn < lastTurn;
  const shown = pieces.map(({ forms }): string => forms[0]);
  let bytes = Buffer.byteLength(opening) + noteRoom + shown.reduce((sum, text) => sum + Buffer.byteLength(text), 0);
  const fits = (): boolean => bytes <= maxTokens * bytesPerToken;
  const shorten = (which: (piece: Piece) => boolean, form: (piece: Piece) => string): void => {
    for (let at = 0; at < pieces.length && !fits(); at++) {
      const piece = pieces[at] as Piece;
      const text = form(piece);
      const saved = Buffer.byteLength(shown[at] as string) - Buffer.byteLength(text);
      if (!which(piece) || saved <= 0) continue;
      bytes -= saved;
      shown[at] = text;
    }
  };
  const folded = ({ forms }: Piece): string => forms[1];
  const brief = ({ forms }: Piece): string => forms[2];
  shorten((piece) => isOld(piece) && piece.sort === 'result', folded);
  shorten(isOld, folded);
  shorten(isOld, brief);
  shorten(
    (piece) => isOld(piece) && piece.sort !== 'summary',
    () => '',
  );
  shorten(({ sort }) => sort === 'result', folded);
  shorten(() => true, folded);
  shorten(() => true, brief);
  const told = new Set(pieces.filter((_, at) => shown[at] !== '').map(({ turn }) => turn));
  const gone = new Set(pieces.map(({ turn }) => turn)).size - told.size;
  const note = gone === 0 ? '' : `(${gone} earlier ${gone === 1 ? 'turn is' : 'turns are'} left out.)\n\n`;
  return cutTo(`${opening}${note}${shown.join('')}`, maxTokens);
}

/** As `countTokens` has it. */
const bytesPerToken = 4;
/** What the note of what was left out may take. */
const noteRoom = 60;

/** Beginning and end of a text that no form of its parts makes short enough. */
function cutTo(text: string, maxTokens: number): string {
  if (countTokens(text) <= maxTokens) return text;
  const mark = '\n[…]\n';
  const bytes = Buffer.from(text);
  const room = Math.max(0, maxTokens * bytesPerToken - Buffer.byteLength(mark));
  const begin = bytes.subarray(0, runeStart(bytes, Math.ceil(room / 2))).toString();
  const end = bytes.subarray(runeStart(bytes, bytes.length - Math.floor(room / 2))).toString();
  return room === 0 ? '' : `${begin}${mark}${end}`;
}

/** The place, moved back or on to where a character begins. */
function runeStart(bytes: Uint8Array, at: number): number {
  const step = at * 2 > bytes.length ? 1 : -1;
  let place = at;
  while (place > 0 && place < bytes.length && ((bytes[place] as number) & 0xc0) === 0x80) place += step;
  return place;
}

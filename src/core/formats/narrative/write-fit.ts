import { countTokens } from '../shared/tokens.js';
import type { AccountPiece } from './write-pieces.js';

/**
 * Joins the pieces within `maxTokens`. From the oldest on, and only as far as needed, it folds tool results, then thinking and calls, then
 * shortens whole turns, then drops them. The newest turn comes last in each step. A text that is still too long is cut in the middle.
 */
export function fitted(opening: string, pieces: readonly AccountPiece[], maxTokens = Number.POSITIVE_INFINITY): string {
  const lastTurn = pieces.at(-1)?.turn ?? 0;
  const isOld = ({ turn }: AccountPiece): boolean => turn < lastTurn;
  const shown = pieces.map(({ forms }): string => forms[0]);
  let bytes = Buffer.byteLength(opening) + noteRoom + shown.reduce((sum, text) => sum + Buffer.byteLength(text), 0);
  const fits = (): boolean => bytes <= maxTokens * bytesPerToken;
  const shorten = (which: (piece: AccountPiece) => boolean, form: (piece: AccountPiece) => string): void => {
    for (let at = 0; at < pieces.length && !fits(); at++) {
      const piece = pieces[at] as AccountPiece;
      const text = form(piece);
      const saved = Buffer.byteLength(shown[at] as string) - Buffer.byteLength(text);
      if (!which(piece) || saved <= 0) continue;
      bytes -= saved;
      shown[at] = text;
    }
  };
  const folded = ({ forms }: AccountPiece): string => forms[1];
  const brief = ({ forms }: AccountPiece): string => forms[2];
  const dropped = (): string => '';
  shorten((piece) => isOld(piece) && piece.sort === 'result', folded);
  shorten(isOld, folded);
  shorten(isOld, brief);
  shorten((piece) => isOld(piece) && piece.sort !== 'summary', dropped);
  shorten(({ sort }) => sort === 'result', folded);
  shorten(() => true, folded);
  shorten(() => true, brief);
  const told = new Set(pieces.filter((_, at) => shown[at] !== '').map(({ turn }) => turn));
  const gone = new Set(pieces.map(({ turn }) => turn)).size - told.size;
  const note = gone === 0 ? '' : `(${gone} earlier ${gone === 1 ? 'turn is' : 'turns are'} left out.)\n\n`;
  return cutTo(`${opening}${note}${shown.join('')}`, maxTokens);
}

/** The ratio that `countTokens` uses. */
const bytesPerToken = 4;
/** The tokens reserved for the note that counts dropped turns. */
const noteRoom = 60;

/** The beginning and end of a text that is too long in every form. */
function cutTo(text: string, maxTokens: number): string {
  if (countTokens(text) <= maxTokens) return text;
  const mark = '\n[…]\n';
  const bytes = Buffer.from(text);
  const room = Math.max(0, maxTokens * bytesPerToken - Buffer.byteLength(mark));
  const begin = bytes.subarray(0, runeStart(bytes, Math.ceil(room / 2))).toString();
  const end = bytes.subarray(runeStart(bytes, bytes.length - Math.floor(room / 2))).toString();
  return room === 0 ? '' : `${begin}${mark}${end}`;
}

function runeStart(bytes: Uint8Array, at: number): number {
  const step = at * 2 > bytes.length ? 1 : -1;
  let place = at;
  while (place > 0 && place < bytes.length && ((bytes[place] as number) & 0xc0) === 0x80) place += step;
  return place;
}

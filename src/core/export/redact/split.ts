import { isRandom } from './rules/span.js';
import { partialToken, prefixedTokens } from './rules/tokens.js';

/** Names of fields in which the text of one message continues in the next. */
const texts = new Set(['text', 'content', 'thinking', 'value', 'delta', 'output', 'message', 'partial_json']);
/** Later texts in which a token may continue. */
const maxDistance = 3;
/** A shorter end of a token occurs as a word. */
const minRest = 8;

/** Finds tokens that begin at the end of one text and end at the start of a later one. Each answer is the two pieces of a token. */
export function splitTokens(): (text: string, name: string | undefined) => readonly string[] {
  let open: { readonly piece: string; readonly left: number } | undefined;
  return (text, name) => {
    if (name === undefined || !texts.has(name)) return none;
    const found = open && restOf(open.piece, text);
    const left = (open?.left ?? 0) - 1;
    const answer = open && found !== undefined ? [open.piece, found] : none;
    const piece = partialToken(text);
    open = piece !== undefined ? { piece, left: maxDistance } : open && found === undefined && left > 0 ? { ...open, left } : undefined;
    return answer;
  };
}
const none: readonly string[] = [];

function restOf(piece: string, text: string): string | undefined {
  const rest = /^\s{0,4}([\w.~-]{8,512})/.exec(text.slice(0, 600))?.[1]?.replace(/[.]+$/, '');
  if (rest === undefined || rest.length < minRest || !isRandom(rest)) return undefined;
  const joined = piece + rest;
  for (const { from, to } of prefixedTokens(joined)) if (from === 0 && to > piece.length) return joined.slice(piece.length, to);
  return undefined;
}

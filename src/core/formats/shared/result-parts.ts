import type { WritableEntry } from '../format.js';

/** A list as a tool result becomes its texts and an entry for each other part. The mark has the texts' lengths and a star for each part. */
const mark = 'parts:';
const seam = '\n';

/** The text of such an entry. */
export const joinParts = (parts: readonly (string | null)[]): string => parts.filter((part) => part !== null).join(seam);
/** The mark that records the list; none for an empty list. */
export const partsMark = (parts: readonly (string | null)[]): readonly string[] =>
  parts.length > 0 ? [`${mark}${parts.map((part) => (part === null ? '*' : part.length)).join(',')}`] : [];

/** The original list, with null for a part that is not text; undefined if the result was a plain text or was edited. */
export function textParts(entry: Pick<WritableEntry, 'text' | 'marks'>): readonly (string | null)[] | undefined {
  const text = entry.text ?? '';
  const given = entry.marks
    ?.find((one) => one.startsWith(mark))
    ?.slice(mark.length)
    .split(',');
  const lengths = given?.map((length) => (length === '*' ? null : Number(length)));
  const texts = lengths?.filter((length) => length !== null);
  if (!lengths || !texts || texts.reduce((sum, length) => sum + length, Math.max(0, texts.length - 1) * seam.length) !== text.length)
    return undefined;
  let at = 0;
  return lengths.map((length) => {
    if (length === null) return null;
    const part = text.slice(at, at + length);
    at += length + seam.length;
    return part;
  });
}

/** A list of parts: each text as `write` makes it, and the next of the other parts for each null. Others that are left stand at the end. */
export function withOthers<Part>(list: readonly (string | null)[], others: readonly Part[], write: (text: string) => Part): Part[] {
  const waiting = [...others];
  const listed = list.flatMap((part) => (part === null ? waiting.splice(0, 1) : [write(part)]));
  return [...listed, ...waiting];
}

/** The content of a result: its text alone, or its list with its other parts in place. */
export function resultContent<Part>(
  entry: Pick<WritableEntry, 'text' | 'marks'>,
  others: readonly Part[],
  write: (text: string) => Part,
): string | Part[] {
  const { text = '' } = entry;
  const list = textParts(entry);
  if (!list && others.length === 0) return text;
  return withOthers(list ?? (text === '' ? [] : [text]), others, write);
}

/** A number of bytes or characters, such as "1.5 KB". */
export const sizeText = (bytes: number): string =>
  bytes < 1_000 ? `${bytes} B` : bytes < 1e6 ? `${(bytes / 1e3).toFixed(1)} KB` : `${(bytes / 1e6).toFixed(1)} MB`;

/** A number of tokens: counted by a provider, such as "1.5k tok", or estimated, such as "≈ 1.5k tok". */
export const tokensText = (count: number, isCounted = false): string =>
  `${isCounted ? '' : '≈ '}${count < 1_000 ? count : `${(count / 1_000).toFixed(1)}k`} tok`;

/** A number with thousands separators. */
export const numberText = (count: number): string => count.toLocaleString('en-US');

/** A date with its time, in the reader's own language. */
export const clock = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'medium' });
/** A date or a range of dates, in the reader's own language. */
export const day = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium' });

/** The beginning of a commit id, which is enough for a reader. */
export const shortId = (id: string): string => id.slice(0, 12);

/** A duration in one unit, such as "15 minutes". */
export function durationText(ms: number): string {
  const minutes = Math.round(ms / 60_000);
  return minutes < 120 ? `${minutes} minutes` : minutes < 2_880 ? `${Math.round(minutes / 60)} hours` : `${Math.round(minutes / 1_440)} days`;
}

/** The first line of a text that is not empty, cut to 300 characters. */
export const firstLine = (text: string): string => (/\S[^\n]*/.exec(text)?.[0] ?? '').slice(0, 300);

/** The length of a text in lines and bytes. */
export function lengthText(text: string): string {
  const count = text.split('\n').length;
  return count > 1 ? `${numberText(count)} lines, ${sizeText(text.length)}` : sizeText(text.length);
}

/** The first line of a text, short enough for a list; undefined for an empty text. */
export function clip(text: string): string | undefined {
  const line = /\S[^\r\n]*/.exec(text)?.[0].replace(/\s+/g, ' ').trim();
  if (line === undefined || line === '') return undefined;
  if (line.length <= longestHeadline) return line;
  return `${line.slice(0, longestHeadline - 1).replace(/[\ud800-\udbff]$/, '')}…`;
}
const longestHeadline = 200;

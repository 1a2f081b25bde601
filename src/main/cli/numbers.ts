/** A whole number with commas: `1,234,567`. `toLocaleString` would first load language data, which takes longer than a short command. */
export const grouped = (whole: number): string => String(whole).replace(/\B(?=(\d{3})+$)/g, ',');

/** `1 commit`, `2,048 commits`. */
export const counted = (count: number, one: string, many = `${one}s`): string => `${grouped(count)} ${count === 1 ? one : many}`;

/** A number of bytes with its decimal unit: `18.4 MB`. */
export function size(bytes: number): string {
  const units = ['B', 'KB', 'MB', 'GB'];
  const step = Math.min(units.length - 1, bytes < 1 ? 0 : Math.floor(Math.log10(bytes) / 3));
  return `${(bytes / 1000 ** step).toLocaleString('en-US', { maximumFractionDigits: step ? 1 : 0 })} ${units[step]}`;
}

/** The first non-empty line of a text, cut to a number of characters. */
export function firstLine(text: string, limit: number): string {
  const line = text.trimStart().split('\n', 1)[0] ?? '';
  return line.length > limit ? `${line.slice(0, limit - 1)}…` : line;
}

/** A time in the reader's time zone: `today 14:02`, or the day and the time. */
export function writeTime(at: string, now: Date): string {
  const time = new Date(at);
  const two = (value: number): string => String(value).padStart(2, '0');
  const day = `${time.getFullYear()}-${two(time.getMonth() + 1)}-${two(time.getDate())}`;
  const clock = `${two(time.getHours())}:${two(time.getMinutes())}`;
  return time.toDateString() === now.toDateString() ? `today      ${clock}` : `${day} ${clock}`;
}

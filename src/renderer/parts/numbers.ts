// The format of numbers, sizes, times and ids in the window.

/** At most 3 significant digits: 812, 9.81k, 12.4k, 214k, 1.2M. */
export function compact(n: number): string {
  if (n < 1_000) return String(n);
  const [value, unit] = n < 999_500 ? [n / 1_000, 'k'] : [n / 1_000_000, 'M'];
  const digits = value >= 100 ? 0 : value >= 10 ? 1 : 2;
  return `${value.toFixed(digits).replace(/\.0+$|(\.\d*[1-9])0+$/, '$1')}${unit}`;
}

/** An estimated token count. */
export const tokens = (n: number): string => `≈ ${compact(n)} tok`;

const thousands = new Intl.NumberFormat('en-US');

/** A number with thousands separators. */
export const exact = (n: number): string => thousands.format(n);

/** A number with its noun: "1 turn", "2 turns". */
export const plural = (n: number, one: string, many = `${one}s`): string => `${exact(n)} ${n === 1 ? one : many}`;

/** A share from 0 to 1 as a percentage. A small share is "< 1%", not "0%", and nearly all is "> 99%", not "100%". */
export function percent(share: number): string {
  if (share > 0 && share < 0.005) return '< 1%';
  return share >= 0.995 && share < 1 ? '> 99%' : `${Math.round(share * 100)}%`;
}

/** A price with its currency: $9.38, and more digits below a cent. `≥` marks a lower bound. */
export function money({ amount, currency, atLeast }: { readonly amount: number; readonly currency: string; readonly atLeast?: true }): string {
  const digits = amount <= 0 || amount >= 0.1 ? 2 : amount >= 0.01 ? 3 : 4;
  return `${atLeast ? '≥ ' : ''}${priceFormat(currency, digits).format(amount)}`;
}

/** Formats are cached, because creating one takes longer than a hundred uses and a list shows many prices. */
const priceFormats = new Map<string, Intl.NumberFormat>();
function priceFormat(currency: string, digits: number): Intl.NumberFormat {
  const key = `${currency} ${digits}`;
  const format =
    priceFormats.get(key) ??
    new Intl.NumberFormat('en-US', { style: 'currency', currency, minimumFractionDigits: digits, maximumFractionDigits: digits });
  priceFormats.set(key, format);
  return format;
}

/** A size in bytes as kB, MB or GB. */
export function bytes(n: number): string {
  if (n < 1_000) return `${n} B`;
  const units = ['kB', 'MB', 'GB', 'TB'] as const;
  let value = n / 1_000;
  let unit = 0;
  while (value >= 999.5 && unit < units.length - 1) {
    value /= 1_000;
    unit++;
  }
  return `${value >= 100 ? value.toFixed(0) : value.toFixed(1).replace(/\.0$/, '')} ${units[unit]}`;
}

/** A short id: the first characters, or the last ones of ids that start with a time. */
export const shortId = (id: string): string => (/[0-9a-f]{12}7[0-9a-f]{19}$/.test(id) ? id.slice(-8) : id.slice(0, 12));

/** Whether a name is a machine id. */
export const isMachineName = (name: string): boolean => /^[0-9a-f]{32}(_[0-9a-f]{32})?$/.test(name);

const time = new Intl.DateTimeFormat('en-GB', { hour: '2-digit', minute: '2-digit' });
const dayAndMonth = new Intl.DateTimeFormat('en-GB', { day: 'numeric', month: 'short' });
const dayMonthYear = new Intl.DateTimeFormat('en-GB', { day: 'numeric', month: 'short', year: 'numeric' });
const full = new Intl.DateTimeFormat('en-GB', { dateStyle: 'medium', timeStyle: 'medium' });

const dayNumber = (date: Date) => Math.floor((date.getTime() - date.getTimezoneOffset() * 60_000) / 86_400_000);

/** A day as a heading: Today, Yesterday, 3 Nov, 3 Nov 2024. */
export function day(instant: string, now = new Date()): string {
  const date = new Date(instant);
  if (Number.isNaN(date.getTime())) return 'No date';
  const ago = dayNumber(now) - dayNumber(date);
  if (ago === 0) return 'Today';
  if (ago === 1) return 'Yesterday';
  return (date.getFullYear() === now.getFullYear() ? dayAndMonth : dayMonthYear).format(date);
}

/** A time in lists: 14:02 today, 3 Nov 14:02, 3 Nov 2024. */
export function when(instant: string, now = new Date()): string {
  const date = new Date(instant);
  if (Number.isNaN(date.getTime())) return 'no date';
  const name = day(instant, now);
  if (name === 'Today') return time.format(date);
  return date.getFullYear() === now.getFullYear() ? `${name} ${time.format(date)}` : name;
}

/** A time in full, for hover and the inspector. */
export function instant(text: string): string {
  const date = new Date(text);
  return Number.isNaN(date.getTime()) ? text : full.format(date);
}

/** A duration in milliseconds with its two largest units, such as `3.2 s`, `1 min 15 s` or `19 h 10 min`. */
export function duration(ms: number): string {
  const seconds = Math.round(ms / 1_000);
  if (ms < 999.5) return `${Math.round(ms)} ms`;
  if (ms < 59_950) return `${(ms / 1_000).toFixed(1)} s`;
  if (seconds < 3_600) return pair(seconds, 60, 'min', 's');
  const minutes = Math.round(seconds / 60);
  return minutes < 24 * 60 ? pair(minutes, 60, 'h', 'min') : pair(Math.round(minutes / 60), 24, 'd', 'h');
}

const pair = (count: number, size: number, large: string, small: string): string =>
  `${Math.floor(count / size)} ${large}${count % size === 0 ? '' : ` ${count % size} ${small}`}`;

/** The first non-empty line without Markdown marks, cut to the length of a row. */
export function firstLine(text: string, limit = 240): string {
  const line = unmarked(/^(?!```|~~~|[-*_=\s]+$).*\S.*$/m.exec(text.slice(0, maxSearchedLength))?.[0] ?? text.trim().split('\n', 1)[0] ?? '');
  return line.length > limit ? `${line.slice(0, limit)}…` : line;
}
const maxSearchedLength = 10_000;

/** The number of characters that an outline keeps of an entry. */
const headLength = 120;

/** The beginning of an entry from an outline as plain text: without Markdown marks, and with an ellipsis if it was cut. */
export function excerpt(head: string): string {
  const words = head.length >= headLength - 1 ? head.replace(/\s+\S*$/, '') : head;
  const plain = unmarked(words.replace(/(?:```|~~~)\w*/g, ' '))
    .replace(/(?<![\w*])\*(?=\S)([^*]+?)\*(?!\w)/g, '$1')
    .replace(/[`*]+(?=\S*$)/, '')
    .replace(/\s+/g, ' ')
    .trim();
  return words === head ? plain : `${plain}…`;
}

const unmarked = (line: string): string =>
  line
    .replace(/^\s*(?:(?:#{1,6}|>|[-*+]|\d+[.)])\s+)+/, '')
    .replace(/\*\*(?=\S)([^*]+)\*\*/g, '$1')
    .replace(/`([^`]+)`/g, '$1')
    .replace(/\[([^\]]+)\]\([^)\s]*\)/g, '$1')
    .trim();

// What is kept of a delta beside its bytes: its entries without their content, enough for counts, bars and finding a place.
import type { EntryKey } from '../base/index.js';
import { type Kind, kinds, type Role, roles } from '../contract/index.js';
import type { Elision, ParsedDelta, ParsedEntry } from './format.js';

/** One entry without its content. */
export interface OutlineEntry {
  readonly key: EntryKey;
  readonly role: Role;
  readonly kind: Kind;
  readonly tokens: number;
  readonly hidden: boolean;
  readonly isError: boolean;
  readonly head: string | undefined;
  readonly toolCallId: string | undefined;
  readonly messageId: string | undefined;
}

/** A delta's entries in order, hidden ones included, and what the delta does to entries before it. */
export interface Outline {
  readonly entries: readonly OutlineEntry[];
  readonly elisions: readonly Elision[];
}

/** What of a delta counts. What a model is sent counts; runs of entries of one wire message are one message. */
export interface Counts {
  readonly messages: number;
  readonly tokens: number;
  readonly errors: number;
  /** Hidden ones included. */
  readonly entries: number;
}

/** An outline as it is stored, and its counts: made from parts as they are read, so that nobody has to hold a delta's entries. */
export interface Outlined {
  readonly data: string;
  readonly counts: Counts;
}

/** The same of some of a delta's records. */
export interface OutlinePart extends Counts {
  /** Entries and elisions as members of the lists that an outline consists of, without the brackets. */
  readonly told: string;
  readonly elided: string;
  /** The wire messages of the first and the last entry that counts. */
  readonly first: string | undefined;
  readonly last: string | undefined;
}

type StoredEntry = [
  key: string,
  role: number,
  kind: number,
  tokens: number,
  flags: number,
  head: string | 0,
  toolCallId: string | 0,
  messageId: string | 0,
];
const hiddenFlag = 1;
const errorFlag = 2;
const headLength = 120;

export const isHidden = (entry: ParsedEntry): boolean => entry.marks?.includes('hidden') ?? false;

export const outlineOfParsed = ({ entries, elisions }: Pick<ParsedDelta, 'entries' | 'elisions'>): Outline => ({
  elisions,
  entries: entries.map((entry) => ({
    key: entry.key,
    role: entry.role,
    kind: entry.kind,
    tokens: entry.tokens,
    hidden: isHidden(entry),
    isError: entry.isError ?? false,
    head: headOf(entry),
    toolCallId: entry.toolCallId,
    messageId: entry.messageId,
  })),
});

/** Prompts and summaries by their beginning, calls and results by their tool: what an outline of a context shows. */
function headOf(entry: ParsedEntry): string | undefined {
  if (entry.toolName !== undefined) return entry.toolName;
  const text = entry.text && spaced(entry.text.slice(0, headLength * 2)).trim();
  // A cut may fall between the two halves of a character.
  return text ? text.slice(0, headLength).toWellFormed() : undefined;
}

/** Runs of white space as one space each; those that are one already are left alone. */
const spaced = (text: string): string => text.replace(/\s\s+|[^\S ]/g, ' ');

/** The counts alone, where nobody asks for the outline: the beginnings of texts are most of its price. */
export function countsOfParsed(parsed: Pick<ParsedDelta, 'entries'>): Counts {
  const { messages, tokens, errors, entries } = countsWithEnds(parsed.entries, isHidden);
  return { messages, tokens, errors, entries };
}

/** What of an entry counts, where it is not hidden. */
interface Counted {
  readonly key: EntryKey;
  readonly messageId?: string | undefined;
  readonly tokens: number;
  readonly isError?: boolean;
}

/** Entries are named by their record and a number in it. */
export const recordOfKey = (key: EntryKey): string => key.replace(/\.\d+$/, '');

export const countsOf = (outline: Pick<Outline, 'entries'>): Counts => {
  const { messages, tokens, errors, entries } = countsWithEnds(outline.entries, ({ hidden }) => hidden);
  return { messages, tokens, errors, entries };
};

function countsWithEnds<Entry extends Counted>(counted: readonly Entry[], hidden: (entry: Entry) => boolean): Omit<OutlinePart, 'told' | 'elided'> {
  let messages = 0;
  let tokens = 0;
  let errors = 0;
  let first: string | undefined;
  let last: string | undefined;
  for (const entry of counted) {
    if (hidden(entry)) continue;
    const message = entry.messageId ?? recordOfKey(entry.key);
    if (message !== last) messages += 1;
    first ??= message;
    last = message;
    tokens += entry.tokens;
    if (entry.isError) errors += 1;
  }
  return { messages, tokens, errors, entries: counted.length, first, last };
}

/** Undefined for what holds nothing. */
export function outlinePart(parsed: Pick<ParsedDelta, 'entries' | 'elisions'>): OutlinePart | undefined {
  if (parsed.entries.length === 0 && parsed.elisions.length === 0) return undefined;
  const { entries, elisions } = parsed;
  return {
    told: JSON.stringify(entries.map((entry) => stored(entry, isHidden(entry), headOf(entry)))).slice(1, -1),
    elided: elisions.length > 0 ? JSON.stringify(elisions).slice(1, -1) : '',
    ...countsWithEnds(entries, isHidden),
  };
}

/** The outline of records that stand one after the other in a delta. */
export function outlineOfParts(parts: Iterable<OutlinePart>): Outlined {
  const told: string[] = [];
  const elided: string[] = [];
  let [messages, tokens, errors, entries] = [0, 0, 0, 0];
  let last: string | undefined;
  for (const part of parts) {
    if (part.told !== '') told.push(part.told);
    if (part.elided !== '') elided.push(part.elided);
    messages += part.messages - (last !== undefined && part.first === last ? 1 : 0);
    tokens += part.tokens;
    errors += part.errors;
    entries += part.entries;
    last = part.last ?? last;
  }
  return { data: `[[${told.join(',')}],[${elided.join(',')}]]`, counts: { messages, tokens, errors, entries } };
}

export function outlined(parsed: Pick<ParsedDelta, 'entries' | 'elisions'>): Outlined {
  const part = outlinePart(parsed);
  return outlineOfParts(part ? [part] : []);
}

export const encodeOutline = ({ entries, elisions }: Outline): string =>
  JSON.stringify([entries.map((entry) => stored(entry, entry.hidden, entry.head)), elisions]);

const stored = (entry: OutlineEntry | ParsedEntry, hidden: boolean, head: string | undefined): StoredEntry => [
  entry.key,
  roles.indexOf(entry.role),
  kinds.indexOf(entry.kind),
  entry.tokens,
  (hidden ? hiddenFlag : 0) | (entry.isError ? errorFlag : 0),
  head || 0,
  entry.toolCallId || 0,
  entry.messageId || 0,
];

export function decodeOutline(data: string): Outline {
  const [entries, elisions] = JSON.parse(data) as [StoredEntry[], Elision[]];
  return {
    elisions,
    entries: entries.map(([key, role, kind, tokens, flags, head, toolCallId, messageId]) => ({
      key: key as EntryKey,
      role: roles[role] as Role,
      kind: kinds[kind] as Kind,
      tokens,
      hidden: (flags & hiddenFlag) !== 0,
      isError: (flags & errorFlag) !== 0,
      head: head || undefined,
      toolCallId: toolCallId || undefined,
      messageId: messageId || undefined,
    })),
  };
}

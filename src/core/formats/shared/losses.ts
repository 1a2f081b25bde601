import { type EntryKey, isObject, stringAt } from '../../base/index.js';
import type { OutputOf } from '../../contract/index.js';
import { type Fact, type Format, factNames, type ParsedEntry, type WritableEntry } from '../format.js';
import { isHidden } from '../parsed.js';

/** The facts of entries that a format has no field for: the first of them entry by entry, and the number of each. */
export type FormatLosses = Pick<OutputOf<'context.materialize'>, 'losses' | 'lossCounts'>;
export const noLosses: FormatLosses = { losses: [], lossCounts: [] };

/** At most this many losses are listed; all are counted. */
const maxNamed = 1_000;

const neverSeen = 'entry that the model never saw';
/** What a model's API refuses, so that an export to it leaves it out or repairs it. */
const refused = {
  call: 'call without a result',
  result: 'result without its call',
  text: 'text without content',
  half: 'half of a character',
  image: 'image that is too large',
} as const;

/** The facts of the entries that the format has no field for, most important first. Hidden entries are never translated. */
export function lossesOf(entries: readonly Keyed[], format: Pick<Format, 'holds' | 'isRequest'>): FormatLosses {
  const counter = lossCounter(format);
  counter.add(entries);
  return counter.losses();
}

const allNames: readonly string[] = [...Object.values(factNames), ...Object.values(refused), neverSeen];

type Keyed = WritableEntry & { readonly key: EntryKey };

/** Counts losses while entries arrive. Each call of `add` must hold whole messages. */
export function lossCounter({ holds, isRequest }: Pick<Format, 'holds' | 'isRequest'>) {
  const held = new Set<Fact>(holds);
  const found = new Map(allNames.map((what) => [what, { keys: [] as EntryKey[], count: 0 }]));
  const lose = (what: string, key: EntryKey): void => {
    const one = found.get(what) as { keys: EntryKey[]; count: number };
    one.count++;
    if (one.keys.length < maxNamed) one.keys.push(key);
  };
  const calls = new Map<string, EntryKey>();
  const look = (entry: Keyed): void => {
    const { kind, key, text = '', toolCallId = '' } = entry;
    if (kind === 'tool_call' && !entry.marks?.includes('server')) calls.set(toolCallId, key);
    if (kind === 'tool_result' && !calls.delete(toolCallId)) lose(refused.result, key);
    if ((kind === 'text' || kind === 'summary') && text.trim() === '') lose(refused.text, key);
    if (!text.isWellFormed() || hasHalf(entry.arguments)) lose(refused.half, key);
    if (isTooLarge(entry)) lose(refused.image, key);
  };
  return {
    add: (entries: readonly Keyed[]): void => {
      const saying = new Set(entries.flatMap(({ kind, messageId }) => (kind !== 'thinking' && messageId !== undefined ? [messageId] : [])));
      const isAlone = ({ kind, messageId }: WritableEntry): boolean => kind === 'thinking' && messageId !== undefined && !saying.has(messageId);
      for (const entry of entries) {
        const facts: readonly Fact[] = isAlone(entry) ? [...listFacts(entry), 'blank'] : listFacts(entry);
        if (isRequest && !isHidden(entry)) look(entry);
        if (isHidden(entry)) lose(neverSeen, entry.key);
        else for (const fact of facts) if (!held.has(fact)) lose(factNames[fact], entry.key);
      }
    },
    losses: (): FormatLosses => {
      for (const key of calls.values()) lose(refused.call, key);
      calls.clear();
      const lost = [...found].filter(([, { count }]) => count > 0);
      return {
        losses: lost.flatMap(([what, { keys }]) => keys.map((entry) => ({ entry, what }))).slice(0, maxNamed),
        lossCounts: lost.map(([what, { count }]) => ({ what, count })),
      };
    },
  };
}

/** The losses of a delta in a format that holds nothing. They tell the losses in every format. Calls and results may be in different deltas. */
export interface DeltaLosses {
  /** The number of each loss, without calls and results that another delta may complete. */
  readonly counts: FormatLosses['lossCounts'];
  /** Results whose calls are not before them in the delta. */
  readonly answers: readonly string[];
  /** Calls with their results. */
  readonly closed: readonly string[];
  /** Calls without a result. */
  readonly open: readonly string[];
}

/** The losses of the entries of a delta. */
export function deltaLosses(entries: readonly Keyed[]): DeltaLosses {
  const counter = lossCounter({ holds: [], isRequest: true });
  counter.add(entries);
  const isOpen = new Map<string, boolean>();
  const answers: string[] = [];
  let lost = 0;
  for (const { kind, toolCallId = '', marks } of entries.filter((entry) => !isHidden(entry))) {
    if (kind === 'tool_call' && !marks?.includes('server')) isOpen.set(toolCallId, true);
    if (kind !== 'tool_result') continue;
    const before = isOpen.get(toolCallId);
    if (before === undefined) answers.push(toolCallId);
    else if (!before) lost += 1;
    isOpen.set(toolCallId, false);
  }
  const alone = new Set(answers);
  const pairs: readonly string[] = [refused.call, refused.result];
  const counts = counter.losses().lossCounts.filter(({ what }) => !pairs.includes(what));
  return {
    counts: lost > 0 ? [...counts, { what: refused.result, count: lost }] : counts,
    answers,
    closed: [...isOpen].flatMap(([id, open]) => (open || alone.has(id) ? [] : [id])),
    open: [...isOpen].flatMap(([id, open]) => (open ? [id] : [])),
  };
}

/** The losses of a beginning of a conversation, to which deltas are added in their order. */
export type LossSum = ReturnType<typeof lossSum>;

/** The sum of no deltas. */
export function lossSum() {
  const sums = new Map<string, number>();
  const calls = new Set<string>();
  const lose = (what: string, count: number): void => void sums.set(what, (sums.get(what) ?? 0) + count);
  return {
    add: ({ counts, answers, closed, open }: DeltaLosses): void => {
      for (const { what, count } of counts) lose(what, count);
      for (const id of answers) if (!calls.delete(id)) lose(refused.result, 1);
      for (const id of closed) calls.delete(id);
      for (const id of open) calls.add(id);
    },
    counts: (): FormatLosses['lossCounts'] => {
      const found = calls.size > 0 ? new Map(sums).set(refused.call, calls.size) : sums;
      return allNames.flatMap((what) => (found.has(what) ? [{ what, count: found.get(what) as number }] : []));
    },
    /** What another sum can go on from. */
    state: (): DeltaLosses => ({ counts: [...sums].map(([what, count]) => ({ what, count })), answers: [], closed: [], open: [...calls] }),
  };
}

/** The losses in a format, of those in a format that holds nothing. */
export function lossCountsIn({ holds, isRequest }: Pick<Format, 'holds' | 'isRequest'>, all: FormatLosses['lossCounts']): FormatLosses['lossCounts'] {
  const kept = new Set<string>([...holds.map((fact) => factNames[fact]), ...(isRequest ? [] : Object.values(refused))]);
  return all.filter(({ what }) => !kept.has(what));
}

/** Whether a text in a value holds half of a character. */
const hasHalf = (value: unknown): boolean => value !== undefined && /(?<!\\)(?:\\\\)*\\ud[89a-f]/i.test(JSON.stringify(value) ?? '');

/** Whether the provider sealed the entry: with a signature of the thinking, or as thinking that only the provider can read. */
export function isSealed(entry: Pick<WritableEntry, 'kind' | 'result'> | undefined): boolean {
  if (!isObject(entry?.result)) return false;
  const { thoughtSignature, ...others } = entry.result;
  const seals = entry.kind === 'thinking' ? [thoughtSignature, ...Object.values(others)] : [thoughtSignature];
  return seals.some((seal) => typeof seal === 'string' && seal !== '');
}

/** The losses of changed thinking, whose signature is not valid any more. */
export function unsealedLosses(before: readonly ParsedEntry[], after: readonly ParsedEntry[]): FormatLosses {
  const lost = before.filter((entry, at) => isSealed(entry) && !isSealed(after[at]));
  const what = factNames.signature;
  return {
    losses: lost.slice(0, maxNamed).map(({ key }) => ({ entry: key, what })),
    lossCounts: lost.length > 0 ? [{ what, count: lost.length }] : [],
  };
}

/** Joins the losses of parts of one conversation. */
export function joinLosses(parts: readonly FormatLosses[]): FormatLosses {
  if (parts.length <= 1) return parts[0] ?? noLosses;
  return {
    losses: allNames.flatMap((name) => parts.flatMap(({ losses }) => losses.filter(({ what }) => what === name))).slice(0, maxNamed),
    lossCounts: allNames.flatMap((what) => {
      const count = parts.reduce((sum, { lossCounts }) => sum + (lossCounts.find((one) => one.what === what)?.count ?? 0), 0);
      return count > 0 ? [{ what, count }] : [];
    }),
  };
}

/** The facts that an entry has in addition to text, call and result. */
export function listFacts(entry: WritableEntry): readonly Fact[] {
  const { marks, author, at, role } = entry;
  const found = factsOfContent(entry);
  if (marks?.includes('server')) found.push('serverTool');
  if (marks?.includes('meta')) found.push('injected');
  if (author !== undefined) found.push(role === 'assistant' ? 'model' : 'author');
  if (at !== undefined) found.push('time');
  return found;
}

function factsOfContent(entry: WritableEntry): Fact[] {
  const { kind, role, text = '', result } = entry;
  switch (kind) {
    case 'thinking':
      if (entry.marks?.includes('redacted')) return ['sealedThinking'];
      return isObject(result) && result.signature ? ['thinking', 'signature'] : ['unsignedThinking'];
    case 'image':
      return [role === 'tool' ? 'resultImage' : entry.media ? 'image' : 'linkedImage'];
    case 'event':
      return [stringAt(result, 'type') === undefined ? 'event' : 'block'];
    case 'summary':
      return ['summary'];
    case 'text':
      if (role === 'system') return ['system'];
      return role === 'assistant' && text.trim() === '' ? ['blank'] : [];
    case 'tool_result':
      return [...(entry.isError ? (['error'] as const) : []), ...(result === undefined ? [] : (['resultData'] as const))];
    case 'tool_call':
      return [];
  }
}

/** Providers refuse larger images. They measure the base64 text of an image. */
export const maxImageBytes = 5 * 1024 * 1024;

/** Whether providers refuse the image of the entry. */
export const isTooLarge = ({ media }: Pick<WritableEntry, 'media'>): boolean =>
  media?.mediaType.startsWith('image/') === true && 4 * Math.ceil(media.bytes.length / 3) > maxImageBytes;

/** Stands in an export for an image that its provider would refuse. */
export const leftOutImage = '[an image of more than 5 MB was left out]';

import { type EntryKey, isObject } from '../base/index.js';
import { type Fact, type Format, facts, type ParsedEntry, type WritableEntry } from './format.js';

/** Something that an entry says and a format has no place for. */
export interface Loss {
  readonly entry: EntryKey;
  readonly what: string;
}

/** What was lost in all: the first of it entry by entry, and how often each thing. */
export interface Losses {
  readonly losses: readonly Loss[];
  readonly lossCounts: readonly { readonly what: string; readonly count: number }[];
}
export const noLosses: Losses = { losses: [], lossCounts: [] };

/** So many are named one by one; all are counted. */
const mostNamed = 1_000;

/** How each fact is called where it is missing. */
export const factNames: Readonly<Record<Fact, string>> = {
  thinking: 'thinking',
  unsignedThinking: 'thinking that no provider signed',
  sealedThinking: 'thinking that only its provider can read',
  signature: 'signature of the thinking',
  image: 'image',
  resultImage: "image in a tool's result",
  linkedImage: 'image that is only linked',
  block: "a provider's own block",
  error: 'that the tool failed',
  blank: 'an answer of nothing but white space or thinking',
  summary: 'that it is a summary',
  system: 'that the system said it',
  event: "the runtime's note",
  serverTool: "that the provider's own tool was called",
  injected: 'that the runtime put it in',
  resultData: "the result's data beside its text",
  model: 'which model answered',
  author: 'who said it',
  time: 'time',
};
const neverSeen = 'what the runtime recorded and the model never saw';

/** What these entries say that the format has no place for, most telling first. Hidden entries are never translated. */
export function lossesOf(entries: readonly Keyed[], format: Pick<Format, 'holds'>): Losses {
  const counter = lossCounter(format);
  counter.add(entries);
  return counter.losses();
}

type Keyed = WritableEntry & { readonly key: EntryKey };

/** The same, counted on the way: what is added at once holds whole messages. */
export function lossCounter({ holds }: Pick<Format, 'holds'>): { add(entries: readonly Keyed[]): void; losses(): Losses } {
  const held = new Set<Fact>(holds);
  const found = new Map([...facts.map((fact) => factNames[fact]), neverSeen].map((what) => [what, { keys: [] as EntryKey[], count: 0 }]));
  const lose = (what: string, key: EntryKey): void => {
    const one = found.get(what);
    if (!one) return;
    one.count++;
    if (one.keys.length < mostNamed) one.keys.push(key);
  };
  return {
    add: (entries) => {
      const saying = new Set(entries.flatMap(({ kind, messageId }) => (kind !== 'thinking' && messageId !== undefined ? [messageId] : [])));
      const isAlone = ({ kind, messageId }: WritableEntry): boolean => kind === 'thinking' && messageId !== undefined && !saying.has(messageId);
      for (const entry of entries) {
        if (entry.marks?.includes('hidden')) lose(neverSeen, entry.key);
        else
          for (const fact of [...factsOf(entry), ...(isAlone(entry) ? (['blank'] as const) : [])])
            if (!held.has(fact)) lose(factNames[fact], entry.key);
      }
    },
    losses: () => {
      const lost = [...found].filter(([, { count }]) => count > 0);
      return {
        losses: lost.flatMap(([what, { keys }]) => keys.map((entry) => ({ entry, what }))).slice(0, mostNamed),
        lossCounts: lost.map(([what, { count }]) => ({ what, count })),
      };
    },
  };
}

/** Whether something of its provider's stands beside it: a signature of the thinking, or that thinking for the provider's eyes alone. */
export function isSealed(entry: Pick<WritableEntry, 'kind' | 'result'> | undefined): boolean {
  if (!isObject(entry?.result)) return false;
  const { thoughtSignature, ...others } = entry.result;
  const seals = entry.kind === 'thinking' ? [thoughtSignature, ...Object.values(others)] : [thoughtSignature];
  return seals.some((seal) => typeof seal === 'string' && seal !== '');
}

/** Thinking that was changed and so lost its signature, or what stood in its place. */
export function unsealedLosses(before: readonly ParsedEntry[], after: readonly ParsedEntry[]): Losses {
  const lost = before.filter((entry, at) => isSealed(entry) && !isSealed(after[at]));
  const what = factNames.signature;
  return {
    losses: lost.slice(0, mostNamed).map(({ key }) => ({ entry: key, what })),
    lossCounts: lost.length > 0 ? [{ what, count: lost.length }] : [],
  };
}

/** Losses of the parts of one conversation, as those of the whole. */
export function joinLosses(parts: readonly Losses[]): Losses {
  if (parts.length <= 1) return parts[0] ?? noLosses;
  const names = [...facts.map((fact) => factNames[fact]), neverSeen];
  return {
    losses: names.flatMap((name) => parts.flatMap(({ losses }) => losses.filter(({ what }) => what === name))).slice(0, mostNamed),
    lossCounts: names.flatMap((what) => {
      const count = parts.reduce((sum, { lossCounts }) => sum + (lossCounts.find((one) => one.what === what)?.count ?? 0), 0);
      return count > 0 ? [{ what, count }] : [];
    }),
  };
}

/** What an entry says beside its text, call and result. */
export function factsOf(entry: WritableEntry): readonly Fact[] {
  const said: Fact[] = [];
  if (entry.kind === 'thinking') {
    const sealed = entry.result as { readonly signature?: string; readonly data?: string } | undefined;
    if (entry.marks?.includes('redacted')) said.push('sealedThinking');
    else said.push(...((sealed?.signature ? ['thinking', 'signature'] : ['unsignedThinking']) as Fact[]));
  }
  if (entry.kind === 'image') said.push(entry.role === 'tool' ? 'resultImage' : entry.media ? 'image' : 'linkedImage');
  if (entry.kind === 'event') said.push(isBlock(entry.result) ? 'block' : 'event');
  if (entry.kind === 'summary') said.push('summary');
  if (entry.kind === 'text' && entry.role === 'assistant' && (entry.text ?? '').trim() === '') said.push('blank');
  if (entry.kind === 'tool_result' && entry.isError) said.push('error');
  if (entry.kind === 'tool_result' && entry.result !== undefined) said.push('resultData');
  if (entry.kind === 'text' && entry.role === 'system') said.push('system');
  if (entry.marks?.includes('server')) said.push('serverTool');
  if (entry.marks?.includes('meta')) said.push('injected');
  if (entry.author !== undefined) said.push(entry.role === 'assistant' ? 'model' : 'author');
  if (entry.at !== undefined) said.push('time');
  return said;
}

const isBlock = (value: unknown): boolean => typeof value === 'object' && value !== null && typeof (value as { type?: unknown }).type === 'string';

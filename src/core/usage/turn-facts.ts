// What lists of turns and exports need of a delta. Deltas never change, so the facts are stored, and the lists read no content.
import type { EntryKey, Timestamp } from '../base/index.js';
import { type DeltaFacts, factsAlong, type ReadChain, type Step } from '../chain/index.js';
import {
  type DeltaLosses,
  type DeltaOutline,
  deltaLosses,
  isHidden,
  type OutlineEntry,
  outlineOfParsed,
  type ParsedDelta,
  promptAt,
} from '../formats/index.js';

/** When a turn began and ended, and how long it took. */
export interface Lasted {
  readonly startedAt: Timestamp | null;
  readonly endedAt: Timestamp | null;
  readonly ms: number | null;
}

/**
 * The duration of the turn in a delta (rule N5 of Counting): what the agent wrote, else the time from the prompt to the last record. What a person
 * did before the prompt, such as commands of the agent's screen, is no part of the turn.
 */
export function lastedIn(parsed: ParsedDelta): Lasted {
  const { entries, durationMs } = parsed;
  const prompt = promptAt(outlineOfParsed(parsed).entries) ?? 0;
  const own = entries.slice(prompt).filter((entry, at) => !isHidden(entry) && (at === 0 || !entry.marks?.includes('command')));
  const times = own.flatMap(({ at }) => at ?? []);
  const startedAt = times[0] ?? null;
  // Clocks run backwards, and results arrive in any order.
  const endedAt = times.reduce<Timestamp | null>((last, at) => (last === null || at > last ? at : last), null);
  const ms = startedAt && endedAt ? Date.parse(endedAt) - Date.parse(startedAt) : 0;
  return { startedAt, endedAt, ms: durationMs ?? (ms > 0 ? ms : null) };
}

/** An entry with which a turn begins, and the beginning of its text. */
interface Opening {
  readonly key: EntryKey;
  readonly head?: string | undefined;
}

/** What the entries of a delta that a model was sent say about its turn. */
export interface TurnEntries {
  readonly entries: number;
  readonly errors: number;
  readonly first?: Opening | undefined;
  /** The prompt, if the delta begins with a message of a user. */
  readonly prompt?: Opening | undefined;
}

/** The same with its times. */
export type TurnFacts = TurnEntries & Lasted;

/** Increase this number when the facts or the names of losses change, so that stored ones are made again. */
const version = 1;

/** What an outline says about the turn of its delta. */
export function turnEntriesIn({ entries }: Pick<DeltaOutline, 'entries'>): TurnEntries {
  const visible = entries.filter(({ hidden }) => !hidden);
  const [first] = visible;
  const isPrompt = first?.role === 'user' && first.kind !== 'summary';
  const prompt = isPrompt ? visible[promptAt(visible) ?? 0] : undefined;
  return {
    entries: visible.length,
    errors: visible.filter(({ isError }) => isError).length,
    ...(first && { first: openingOf(first) }),
    ...(prompt && { prompt: openingOf(prompt) }),
  };
}

const openingOf = ({ key, head }: OutlineEntry): Opening => ({ key, head });

/** What lists of turns need of deltas. */
export const turnFacts: DeltaFacts<TurnFacts> = {
  name: 'turn',
  version: () => version,
  make: (parsed) => ({ ...turnEntriesIn(outlineOfParsed(parsed)), ...lastedIn(parsed) }),
};

/** What other formats have no field for. Null for a delta that replaces earlier results. */
export const lossFacts: DeltaFacts<DeltaLosses | null> = {
  name: 'losses',
  version: () => version,
  make: ({ elisions, entries }) => (elisions.length > 0 ? null : deltaLosses(entries)),
};

/** The losses of each delta; undefined if one of them replaces earlier results, because then the entries must be read together. */
export function lossesAlong(chain: ReadChain, steps: readonly Step[]): DeltaLosses[] | undefined {
  const found = steps.map(factsAlong(chain, lossFacts, steps));
  return found.every((losses) => losses !== null) ? found : undefined;
}

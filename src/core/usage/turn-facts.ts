// What lists of turns and exports need of a delta. Deltas never change, so the facts are stored, and the lists read no content.
import { type ArtifactNo, type EntryKey, parseJson } from '../base/index.js';
import { type Offer, offer, parsedAlong, type ReadChain, type Step, type WriteChain } from '../chain/index.js';
import {
  type DeltaLosses,
  type DeltaOutline,
  deltaLosses,
  type OutlineEntry,
  outlineOfParsed,
  type ParsedDelta,
  promptAt,
} from '../formats/index.js';
import { deltaKey } from './delta-measures.js';
import { type Lasted, lastedIn } from './lasted.js';

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

interface Stored {
  readonly turn: TurnFacts;
  /** Null for a delta that replaces earlier results. */
  readonly losses: DeltaLosses | null;
}

function factsIn(parsed: ParsedDelta): Stored {
  return {
    turn: { ...turnEntriesIn(outlineOfParsed(parsed)), ...lastedIn(parsed) },
    losses: parsed.elisions.length > 0 ? null : deltaLosses(parsed.entries),
  };
}

/** Deltas whose facts one query reads. */
const deltasAtOnce = 500;

/** A stored column of deltas, by the names of the deltas. Damaged rows count as missing. */
function storedColumn<Value>({ db }: ReadChain, column: keyof Stored, steps: readonly Step[]): Map<string, Value> {
  const known = new Map<string, Value>();
  for (let from = 0; from < steps.length; from += deltasAtOnce)
    for (const { data, ...at } of db.all<{ artifact: ArtifactNo; format: string; data: string }>(
      `SELECT artifact, format, ${column} AS data FROM usageTurn WHERE artifact IN (SELECT value FROM json_each(?)) AND version = ?`,
      JSON.stringify(steps.slice(from, from + deltasAtOnce).map(({ artifact }) => artifact)),
      version,
    )) {
      const value = parseJson(data);
      if (value !== undefined) known.set(deltaKey(at), value as Value);
    }
  return known;
}

/** The facts of deltas from their contents, which are offered to the writer. */
function* readAlong(chain: ReadChain, steps: readonly Step[]): Generator<readonly [name: string, facts: Stored]> {
  for (const { step, parsed } of parsedAlong(chain, steps)) {
    const { artifact, format } = step;
    const facts = factsIn(parsed);
    offer(chain, { kind: 'turn', artifact, format, ...encoded(facts) });
    yield [deltaKey(step), facts];
  }
}

/** The stored facts about the turns of deltas, by the names of the deltas. */
export const storedTurns = (chain: ReadChain, steps: readonly Step[]): Map<string, TurnFacts> => storedColumn<TurnFacts>(chain, 'turn', steps);

/** The facts about the turns of deltas, by the names of the deltas: from their contents. */
export const readTurns = (chain: ReadChain, steps: readonly Step[]): Map<string, TurnFacts> =>
  new Map([...readAlong(chain, steps)].map(([name, { turn }]) => [name, turn] as const));

/** The stored losses of each delta; undefined if they are not stored of all, or if one replaces earlier results. */
export function storedLosses(chain: ReadChain, steps: readonly Step[]): DeltaLosses[] | undefined {
  const known = storedColumn<DeltaLosses | null>(chain, 'losses', steps);
  const found = steps.map((step) => known.get(deltaKey(step)) ?? undefined);
  return found.every((losses) => losses !== undefined) ? found : undefined;
}

/** The losses of each delta; undefined if one of them replaces earlier results, because then the entries must be read together. */
export function lossesAlong(chain: ReadChain, steps: readonly Step[]): DeltaLosses[] | undefined {
  const known = storedColumn<DeltaLosses | null>(chain, 'losses', steps);
  if ([...known.values()].includes(null)) return undefined;
  for (const [name, { losses }] of readAlong(
    chain,
    steps.filter((step) => !known.has(deltaKey(step))),
  )) {
    if (losses === null) return undefined;
    known.set(name, losses);
  }
  return steps.map((step) => known.get(deltaKey(step)) as DeltaLosses);
}

const encoded = ({ turn, losses }: Stored): Pick<Extract<Offer, { kind: 'turn' }>, 'turn' | 'losses'> => ({
  turn: JSON.stringify(turn),
  losses: JSON.stringify(losses),
});

/** What `saveTurn` stores of a delta. */
export const encodedTurn = (parsed: ParsedDelta): ReturnType<typeof encoded> => encoded(factsIn(parsed));

/** Stores the facts about the turn of a delta. Call it inside a transaction. */
export function saveTurn({ db }: WriteChain, { artifact, format, turn, losses }: Omit<Extract<Offer, { kind: 'turn' }>, 'kind'>): void {
  db.run(
    'INSERT OR REPLACE INTO usageTurn (artifact, format, version, turn, losses) VALUES (?, ?, ?, ?, ?)',
    artifact,
    format,
    version,
    turn,
    losses,
  );
}

import type { CommitSeq, ContextId } from '../base/index.js';
import { commitAt, contextEntriesInTurn, lineage, type Offer, offer, outlineRows, type ReadChain, type WriteChain, walk } from '../chain/index.js';
import type { ParsedEntry } from '../formats/index.js';
import { windowOf } from '../requests/index.js';
import { type Factors, fitFactors, type Growth, isUsable } from './fit.js';
import { callsIn } from './rows.js';
import { hasTokenizer, type Measures, measures, measuresOf } from './tokenizer.js';

/** The number of growths that calibration uses, and the most windows that it searches for them. */
const wanted = 240;
const maxWindows = 12;
/** The number of latest calls of a window that are measured. Longer windows are rare, and measuring all of their text takes seconds. */
const maxCalls = 2_000;
/** The fewest growths that calibrate a model. */
const fewest = 24;

/** The growths between neighboring calls of one model in the window of a context. */
export function growthsIn(chain: ReadChain, id: ContextId, seq: CommitSeq, model: string): Growth[] {
  const places = new Map(outlineRows(chain, { id }).rows.map(({ key }, place) => [key, place] as const));
  const calls = callsIn(
    chain,
    walk(chain, commitAt(chain, seq)).contributing.map((step) => step.seq),
  )
    .flatMap((call) => {
      const place = places.get(call.key);
      return place === undefined ? [] : [{ call, place }];
    })
    .sort((a, b) => a.place - b.place)
    .slice(-maxCalls);
  const [from = places.size, to = 0] = [calls[0]?.place, calls.at(-1)?.place];
  const added = measuresBetween(chain, id, from, to);
  return calls.flatMap(({ call, place }, at): Growth[] => {
    const before = calls[at - 1];
    const [earlier, later] = [before && windowOf(before.call), windowOf(call)];
    if (!before || earlier == null || later === null || before.call.model !== model || call.model !== model) return [];
    return [{ tokens: later - earlier, added: { ...addedUp(added.slice(before.place - from, place - from)), replies: 1 } }];
  });
}

/** The measures of the entries of a context from one place up to another. Those before are not read. */
const measuresBetween = (chain: ReadChain, id: ContextId, from: number, to: number): Measures[] =>
  [...contextEntriesInTurn(chain, { id, from, to })].map(({ entry }) => measuresOf(entry));

function addedUp(all: readonly Measures[]): Measures {
  const sum: Measures = {};
  for (const one of all) for (const [name, size] of Object.entries(one) as [keyof Measures, number][]) sum[name] = (sum[name] ?? 0) + size;
  return sum;
}

/** The measures of entries, added up. */
export const sumOf = (entries: readonly ParsedEntry[]): Measures => addedUp(entries.map(measuresOf));

/** Usable growths of a model from the latest windows of the project, up to about the wanted number. */
export function growthsOf(chain: ReadChain, model: string, most = wanted): Growth[] {
  const growths: Growth[] = [];
  let windows = 0;
  for (const seq of windowsOf(chain, model)) {
    if (growths.length >= most || (windows++ >= maxWindows && most === wanted)) break;
    growths.push(...growthsIn(chain, commitAt(chain, seq).id, seq, model).filter(isUsable));
  }
  return growths;
}

/** The ends of windows with calls of a model, latest sessions first: the last call of a session, and the commits before its compactions. */
function* windowsOf(chain: ReadChain, model: string): Generator<CommitSeq> {
  const sessions = chain.db.all<{ session: string }>(
    'SELECT session FROM usageCall WHERE project = ? AND model = ? GROUP BY session ORDER BY MAX(at) DESC LIMIT ?',
    chain.project,
    model,
    maxWindows,
  );
  for (const { session } of sessions) {
    const last = chain.db.one<{ context: CommitSeq }>(
      'SELECT context FROM usageCall WHERE project = ? AND session = ? AND model = ? ORDER BY at DESC LIMIT 1',
      chain.project,
      session,
      model,
    );
    if (!last) continue;
    yield last.context;
    for (const step of lineage(chain, commitAt(chain, last.context)).toReversed())
      if (step.type === 'compaction' && step.parent !== null) yield step.parent;
  }
}

interface Stored {
  readonly measure: string;
  readonly factor: number;
  readonly calls: number;
}

/** The number of calls at which a model had too few usable growths. Calibration is tried again at twice this number. */
const failures = new WeakMap<ReadChain, ReadonlyMap<string, number>>();

/**
 * The tokens per unit of each measure for a model in this project. Undefined if too few growths were counted. The result is offered, and computed
 * again when the model has twice as many calls.
 */
export function factorsOf(chain: ReadChain, model: string | null): Factors | undefined {
  if (model === null || !hasTokenizer()) return undefined;
  const calls =
    chain.db.one<{ calls: number }>('SELECT IFNULL(SUM(calls), 0) AS calls FROM usageSum WHERE project = ? AND model = ?', chain.project, model)
      ?.calls ?? 0;
  const stored = chain.db.all<Stored>('SELECT measure, factor, calls FROM usageFactor WHERE project = ? AND model = ?', chain.project, model);
  if (stored.length === measures.length && calls < 2 * (stored[0]?.calls ?? 0))
    return Object.fromEntries(stored.map(({ measure, factor }) => [measure, factor])) as Factors;
  if (calls < fewest || calls < 2 * (failures.get(chain)?.get(model) ?? 0)) return undefined;
  const growths = growthsOf(chain, model);
  if (growths.length < fewest) {
    failures.set(chain, new Map([...(failures.get(chain) ?? []), [model, calls] as const]));
    return undefined;
  }
  const factors = fitFactors(growths);
  offer(chain, { kind: 'factors', model, factors: { ...factors }, calls });
  return factors;
}

/** Stores the tokens per unit of each measure for a model. Call it inside a transaction. */
export function saveFactors(chain: WriteChain, { model, factors, calls }: Omit<Extract<Offer, { kind: 'factors' }>, 'kind'>): void {
  for (const [measure, factor] of Object.entries(factors))
    chain.db.run(
      'INSERT OR REPLACE INTO usageFactor (project, model, measure, factor, calls) VALUES (?, ?, ?, ?, ?)',
      chain.project,
      model,
      measure,
      factor,
      calls,
    );
}

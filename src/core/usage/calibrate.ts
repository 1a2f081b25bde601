import type { CommitSeq } from '../base/index.js';
import {
  commitAt,
  entriesAlong,
  keep,
  lineage,
  newestFirst,
  type Offer,
  offer,
  type ReadChain,
  recalled,
  type Step,
  type WriteChain,
} from '../chain/index.js';
import { isHidden } from '../formats/index.js';
import { sentSize } from '../requests/index.js';
import { type CountedGrowth, type Factors, fitFactors, isUsable } from './fit.js';
import { numberOf } from './names.js';
import { type CallRow, callsIn } from './rows.js';
import { addMeasures, hasTokenizer, type Measures, measures, measuresOf } from './tokenizer.js';

/** The number of growths that calibration uses, and the most windows that it searches for them. */
const wanted = 240;
const maxWindows = 12;
/** The number of latest calls of a window that are measured. Longer windows are rare, and measuring all of their text takes seconds. */
const maxCalls = 2_000;
/** The fewest growths that calibrate a model. */
const fewest = 24;

/** The growths between neighboring calls of one model in the window of a commit. */
function growthsIn(chain: ReadChain, seq: CommitSeq, model: string): CountedGrowth[] {
  const { steps, calls: found } = lastCalls(chain, seq);
  const all = entriesAlong(chain, steps);
  const entries = steps.flatMap((step) => (all.get(step) ?? []).filter((entry) => !isHidden(entry)));
  const places = new Map(entries.map(({ key }, place) => [key, place] as const));
  const calls = found
    .map((call) => ({ call, place: places.get(call.key) ?? -1 }))
    .filter(({ place }) => place >= 0)
    .sort((a, b) => a.place - b.place)
    .slice(-maxCalls);
  return calls.flatMap(({ call, place }, at): CountedGrowth[] => {
    const before = calls[at - 1];
    const [earlier, later] = [before && sentSize(before.call), sentSize(call)];
    if (!before || earlier == null || later === null || before.call.model !== model || call.model !== model) return [];
    const added = entries.slice(before.place, place).reduce<Measures>((sum, entry) => addMeasures(sum, measuresOf(entry)), { replies: 1 });
    return [{ tokens: later - earlier, added }];
  });
}

/** Commits whose calls are looked for at a time. */
const commitsAtOnce = 256;

/** The last calls of a window, at least `maxCalls` if it has so many, and the commits that they are in. */
function lastCalls(chain: ReadChain, seq: CommitSeq): { readonly steps: readonly Step[]; readonly calls: readonly CallRow[] } {
  const steps: Step[] = [];
  const calls: CallRow[] = [];
  let some: Step[] = [];
  const look = (): void => {
    const seqs = some.map((step) => step.seq);
    steps.push(...some);
    calls.push(...callsIn(chain, seqs));
    some = [];
  };
  for (const step of newestFirst(chain, commitAt(chain, seq))) {
    some.push(step);
    if (some.length < commitsAtOnce) continue;
    look();
    if (calls.length > maxCalls) break;
  }
  look();
  return { steps: steps.reverse(), calls };
}

/** Usable growths of a model from the latest windows of the project, up to about the wanted number. */
export function growthsOf(chain: ReadChain, model: string, most = wanted): CountedGrowth[] {
  const growths: CountedGrowth[] = [];
  let windows = 0;
  for (const seq of windowsOf(chain, model)) {
    if (growths.length >= most || (windows++ >= maxWindows && most === wanted)) break;
    growths.push(...growthsIn(chain, seq, model).filter(isUsable));
  }
  return growths;
}

/** The ends of windows with calls of a model, latest sessions first: the last call of a session, and the commits before its compactions. */
function* windowsOf(chain: ReadChain, model: string): Generator<CommitSeq> {
  const sessions = `SELECT session FROM usageCall WHERE project = ? AND model = ${numberOf('?')} GROUP BY session ORDER BY MAX(at) DESC LIMIT ?`;
  const lastOf = `SELECT context FROM usageCall WHERE project = ? AND session = ? AND model = ${numberOf('?')} ORDER BY at DESC LIMIT 1`;
  for (const session of chain.db.column<number>(sessions, chain.project, model, maxWindows)) {
    const last = chain.db.value<CommitSeq>(lastOf, chain.project, session, model);
    if (last === undefined) continue;
    yield last;
    for (const { type, parent } of lineage(chain, commitAt(chain, last)).toReversed()) if (type === 'compaction' && parent !== null) yield parent;
  }
}

/** Stands for a measure where a model had too few usable growths. It is tried again at twice the number of calls. */
const none = '';

/**
 * The tokens per unit of each measure for a model in this project. Undefined if too few growths were counted. The result is offered, and computed
 * again when the model has twice as many calls.
 */
export function factorsOf(chain: ReadChain, model: string | null): Factors | undefined {
  if (model === null || !hasTokenizer()) return undefined;
  const calls = chain.db.value<number>('SELECT IFNULL(SUM(calls), 0) FROM usageSum WHERE project = ? AND model = ?', chain.project, model) ?? 0;
  const factorsOfModel = 'SELECT measure, factor, calls FROM usageFactor WHERE project = ? AND model = ?';
  const stored = chain.db.all<{ measure: string; factor: number; calls: number }>(factorsOfModel, chain.project, model);
  if (measures.every((name) => stored.some(({ measure }) => measure === name)) && calls < 2 * (stored[0]?.calls ?? 0))
    return Object.fromEntries(stored.map(({ measure, factor }) => [measure, factor])) as Factors;
  const failedAt = stored.find(({ measure }) => measure === none)?.calls ?? recalled<number>(chain, 'no factors', model) ?? 0;
  if (calls < fewest || calls < 2 * failedAt) return undefined;
  const growths = growthsOf(chain, model);
  const factors = growths.length < fewest ? undefined : fitFactors(growths);
  if (!factors) keep(chain, 'no factors', model, calls, model.length);
  offer(chain, { kind: 'factors', model, factors: factors ? { ...factors } : { [none]: 0 }, calls });
  return factors;
}

/** Stores the tokens per unit of each measure for a model. Call it inside a transaction. */
export function saveFactors(chain: WriteChain, { model, factors, calls }: Omit<Extract<Offer, { kind: 'factors' }>, 'kind'>): void {
  chain.db.run('DELETE FROM usageFactor WHERE project = ? AND model = ?', chain.project, model);
  const insert = 'INSERT INTO usageFactor (project, model, measure, factor, calls) VALUES (?, ?, ?, ?, ?)';
  for (const [measure, factor] of Object.entries(factors)) chain.db.run(insert, chain.project, model, measure, factor, calls);
}

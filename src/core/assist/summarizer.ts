import { type ContextId, finished } from '../base/index.js';
import type { ReadChain, WriteChain } from '../chain/index.js';
import type { OutputOf } from '../contract/index.js';
import type { ModelProvider } from '../turns/index.js';
import { countMissing } from './missing.js';
import { summarizeCommits } from './summaries.js';

/** The summaries that a person allowed for a project on this machine. Without a plan, no summary is made automatically. */
export interface SummarizerPlan {
  /** The provider whose model writes the summaries. Null: extracts of the commits' own words. */
  readonly provider: string | null;
  readonly model: string | null;
  /** The most model calls in a day (UTC). */
  readonly callsPerDay: number;
  readonly perMinute: number;
}

/** Keeps the plan of one project on this machine, and the calls of each day of all its processes. */
export interface SummarizerSettings {
  get(): SummarizerPlan | undefined;
  set(plan: SummarizerPlan | undefined): void;
  /** The calls of a day (YYYY-MM-DD). */
  calls(day: string): number;
  /** Counts one more call of a day. False if there were `most` already, in whatever process. */
  claim(day: string, most: number): boolean;
}

type SummarizerStatus = OutputOf<'context.summarizer'>;

/** Fills missing summaries while the project is idle, if a person turned it on. */
export interface Summarizer {
  status(): SummarizerStatus;
  set(plan: SummarizerPlan | undefined): SummarizerStatus;
  /** Reports a call. Work waits for the next idle time. */
  wake(): void;
  /** Works until nothing is missing, the budget of the day is used, or a call fails. */
  work(): Promise<void>;
  close(): void;
}

/** The plan of a project for which a person has chosen none. */
export const defaultSummarizer: SummarizerPlan = { provider: null, model: null, callsPerDay: 200, perMinute: 10 };
const quietMs = 30_000;
const batchSize = 16;

/** Settings of a summarizer that are kept in memory only. It is off at first. */
export function unsavedSummarizer(): SummarizerSettings {
  let plan: SummarizerPlan | undefined;
  const counts = new Map<string, number>();
  const calls = (day: string): number => counts.get(day) ?? 0;
  return {
    get: () => plan,
    set: (next) => {
      plan = next;
    },
    calls,
    claim: (day, most) => calls(day) < most && counts.set(day, calls(day) + 1).size > 0,
  };
}

/** Creates the summarizer of a project. Nothing runs before `wake` or `work`. */
export function openSummarizer(
  chain: WriteChain,
  settings: SummarizerSettings,
  providers: () => readonly ModelProvider[],
  idleMs = quietMs,
): Summarizer {
  const closing = new AbortController();
  const unreadable = new Set<ContextId>();
  let timer: NodeJS.Timeout | undefined;
  let running: Promise<void> | undefined;
  let summarized = 0;
  let problem: string | null = null;

  const today = (): string => new Date(chain.clock()).toISOString().slice(0, 10);
  const run = async (): Promise<void> => {
    problem = null;
    for (;;) {
      const plan = settings.get();
      if (!plan || closing.signal.aborted) return;
      const isModel = plan.provider !== null;
      const ids = nextMissing(chain, unreadable, isModel ? 1 : batchSize);
      const [id] = ids;
      if (id === undefined) return;
      // One commit at a time with a model. Its call is counted before it is made, because another process may work on the same project.
      if (isModel && !settings.claim(today(), plan.callsPerDay)) {
        problem = `The budget of ${plan.callsPerDay} calls a day is used.`;
        return;
      }
      const { provider, model, perMinute } = plan;
      const asked = { ids: isModel ? [id] : ids, perMinute, ...(provider !== null && { provider }), ...(model !== null && { model }) };
      const result = await finished(summarizeCommits(chain, asked, providers(), closing.signal));
      summarized += result.summarized;
      for (const each of result.skipped) unreadable.add(each.id);
    }
  };
  const work = (): Promise<void> => {
    running ??= run()
      .catch((error: unknown) => {
        problem = error instanceof Error ? error.message : String(error);
      })
      .finally(() => {
        running = undefined;
      });
    return running;
  };
  const status = (): SummarizerStatus => {
    const plan = settings.get();
    const { provider, model, callsPerDay, perMinute } = plan ?? defaultSummarizer;
    const counts = { callsToday: settings.calls(today()), running: running !== undefined, summarized, missing: countMissing(chain), problem };
    return { enabled: plan !== undefined, provider, model, callsPerDay, perMinute, ...counts };
  };
  const wake = (): void => {
    clearTimeout(timer);
    if (closing.signal.aborted || chain.db.readonly || !settings.get()) return;
    timer = setTimeout(() => void work(), idleMs);
    timer.unref();
  };
  return {
    status,
    set: (plan) => {
      settings.set(plan);
      wake();
      return status();
    },
    wake,
    work,
    close: () => {
      closing.abort();
      clearTimeout(timer);
    },
  };
}

const nextMissing = (chain: ReadChain, without: ReadonlySet<ContextId>, limit: number): ContextId[] =>
  chain.db.column(
    'SELECT id FROM commits WHERE +project = ? AND summary IS NULL AND id NOT IN (SELECT value FROM json_each(?)) ORDER BY seq LIMIT ?',
    [chain.project, JSON.stringify([...without]), limit],
  );

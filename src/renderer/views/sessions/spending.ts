import type { UsageSums } from '../../../core/contract/index.js';
import { api } from '../../client';
import { AnswerMemory, useQuery } from '../../state';
import type { Listed } from './rows';

const timeZone = Intl.DateTimeFormat().resolvedOptions().timeZone || 'UTC';
const spending = new AnswerMemory<Awaited<ReturnType<typeof api.usage.sessions>>>(2, 'never');

/** The sums of each session, and the days and sessions over budget. */
export function useSpending(dir: string) {
  const query = useQuery(dir, (signal) => api.usage.sessions({ groupBy: 'session', timeZone }, { signal }), spending);
  return query.status === 'done' ? query.data : undefined;
}

/** Adds up the listed sessions and their subagents. A session counts once, however many rows show it. One that is not imported is not counted. */
export function sumListed(listed: readonly Listed[], rows: readonly (UsageSums & { readonly key: string })[]) {
  const all = listed.flatMap((one) => [one, ...one.subagents]).flatMap(({ session }) => session ?? []);
  const ids = new Set(all.map(({ sessionId }) => sessionId));
  const sums = { calls: 0, tokens: 0, cost: 0, areTokensMissing: false, isLowerBound: false };
  for (const { key, calls, tokens, cost, unknownInputs, unknownOutputs } of rows) {
    if (!ids.has(key)) continue;
    sums.calls += calls;
    sums.tokens += tokens.input + tokens.cacheRead + tokens.cacheWrite + tokens.output;
    sums.cost += cost?.amount ?? 0;
    sums.areTokensMissing ||= unknownInputs + unknownOutputs > 0;
    sums.isLowerBound ||= sums.areTokensMissing || (calls > 0 && (cost === null || cost.unpriced > 0));
  }
  return {
    sessions: listed.filter(({ session }) => session !== undefined).length,
    turns: all.reduce((sum, { turns }) => sum + turns, 0),
    errors: all.reduce((sum, { errors }) => sum + errors, 0),
    notImported: listed.filter(({ session }) => session === undefined).length,
    ...sums,
  };
}

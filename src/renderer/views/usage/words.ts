import { agentName, repositoryName, repositoryNames, say } from '../../parts';
import type { SessionFact } from './facts';
import { rangeWords } from './ranges';
import type { ShownGrouping } from './slices';
import { barHeight, isBound, isMissingTokens, rest, type ShownMeasure, type Sums, sumTokens } from './sums';

export const measureNames: Readonly<Record<ShownMeasure, string>> = {
  cost: 'Cost',
  tokens: 'Tokens',
  loss: 'Cache loss',
  errors: 'Errors',
  time: 'Time',
};

/** What each kind of group is called, and what stands for a group that was not recorded. */
export const groupWords: Readonly<Record<ShownGrouping, readonly [name: string, unknown: string]>> = {
  day: ['Day', 'No date'],
  model: ['Model', 'Model not recorded'],
  repository: ['Repository', 'Not in a repository'],
  agent: ['Agent', 'Agent not recorded'],
  person: ['Machine', 'Machine not recorded'],
  branch: ['Branch', 'Branch not recorded'],
  tool: ['Tool', 'Tool not recorded'],
  session: ['Session', 'Calls of no session'],
};

/** The names of the repositories of all sessions, so that two of one name do not look alike. */
const namesOfRepositories = new WeakMap<ReadonlyMap<string, SessionFact>, ReadonlyMap<string, string>>();

function namesIn(sessions: ReadonlyMap<string, SessionFact>): ReadonlyMap<string, string> {
  let names = namesOfRepositories.get(sessions);
  if (!names) {
    names = repositoryNames([...sessions.values()].flatMap(({ repository }) => (repository === '' ? [] : [repository])));
    namesOfRepositories.set(sessions, names);
  }
  return names;
}

/** The name of a group. */
export function groupName(key: string, by: ShownGrouping, sessions: ReadonlyMap<string, SessionFact>): string {
  if (key === rest) return 'All others';
  if (key === '') return groupWords[by][1];
  if (by === 'agent') return agentName(key);
  if (by === 'repository') return namesIn(sessions).get(key) ?? repositoryName(key);
  if (by === 'session') return say.firstLine(sessions.get(key)?.title ?? key, 120);
  return by === 'day' ? rangeWords({ from: key, to: key }) : key;
}

/** Dollars. The list of prices has no other currency. */
export const dollars = (amount: number, atLeast = false): string =>
  say.money({ amount: Math.abs(amount), currency: 'USD', ...(atLeast && { atLeast: true as const }) });

const millions = new Intl.NumberFormat('en-US', { minimumFractionDigits: 1, maximumFractionDigits: 1 });

/** A large number of tokens: 2,148.6M is easier to compare than 2.15G. */
export const million = (n: number, atLeast = false): string =>
  (atLeast ? '≥ ' : '') + (n >= 1_000_000 ? `${millions.format(n / 1_000_000)}M` : say.compact(Math.round(n)));

/** All counted tokens of sums, marked as a lower bound where a count is missing. */
export const tokensIn = (sums: Sums): string => (isUnknown(sums, 'tokens') ? notCounted : million(sumTokens(sums), isMissingTokens(sums)));

const notCounted = 'not counted';

/** Whether no call has what a measure adds up. */
export function isUnknown(sums: Sums, measure: ShownMeasure): boolean {
  const { calls, cost, unpriced, uncountedInputs, uncountedOutputs } = sums;
  if (calls === 0) return false;
  if (measure === 'cost') return cost === 0 && unpriced === calls;
  if (uncountedInputs < calls) return false;
  return measure === 'loss' || (measure === 'tokens' && uncountedOutputs === calls && sumTokens(sums) === 0);
}

/** A value of a measure in its unit. */
export function measured(value: number, measure: ShownMeasure, atLeast = false): string {
  if (measure === 'tokens') return million(value, atLeast);
  if (measure === 'errors') return say.exact(value);
  if (measure === 'time') return value === 0 ? '0 s' : say.duration(value);
  return dollars(value, atLeast && measure === 'cost');
}

/** The value of sums in words. A cost without every price and count is a lower bound, and so are tokens without every count. */
export const measuredSum = (sums: Sums, measure: ShownMeasure, by?: ShownGrouping): string =>
  isUnknown(sums, measure) ? (measure === 'cost' ? 'no price' : notCounted) : measured(barHeight(sums, measure, by), measure, isBound(sums, measure));

/** A change from the range before: `+$13.15`, `−12`, `≈ −$1.20` where a part is not known; a dash where nothing is. */
export function changeWords(now: Sums, before: Sums, measure: ShownMeasure, by?: ShownGrouping): string {
  if (isUnknown(now, measure) || isUnknown(before, measure)) return '–';
  const difference = barHeight(now, measure, by) - barHeight(before, measure, by);
  if (difference === 0) return '0';
  const isAbout = isBound(now, measure) || isBound(before, measure);
  return `${isAbout ? '≈ ' : ''}${difference > 0 ? '+' : '−'}${measured(Math.abs(difference), measure)}`;
}

/** A change in percent, with one digit: `+20.6 %`. Undefined from nothing, and where nothing is known. */
export function changePercent(now: Sums, before: Sums, measure: ShownMeasure): string | undefined {
  const [to, from] = [barHeight(now, measure), barHeight(before, measure)];
  if (from === 0 || isUnknown(now, measure) || isUnknown(before, measure)) return undefined;
  const share = ((to - from) / from) * 100;
  return `${share > 0 ? '+' : share < 0 ? '−' : ''}${Math.abs(share).toFixed(1)} %`;
}

/** A share with one digit: `91.5 %`; a dash if it is not known. */
export const share = (value: number | undefined): string => (value === undefined ? '–' : `${(value * 100).toFixed(1)} %`);

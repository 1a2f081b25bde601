import { type Command, Option } from 'commander';
import type { ContextId, Money, UsageCall, UsageContext, UsageFiller, UsageSessions, UsageSums } from '../../core/contract/index.js';
import type { ContractClient } from '../launch/index.js';
import { bold, dim, join, line, printJson, printText, red, say, type Text, yellow } from '../terminal/index.js';
import { addProjectCommand, commitName, type ProjectOptions, withProject } from './command.js';
import { UsageError } from './errors.js';
import { counted, firstLine, writeTime } from './numbers.js';
import { wholeNumber } from './option-values.js';

const groupings = { day: 'day', model: 'model', repo: 'repository', agent: 'agent', session: 'session', tool: 'tool' } as const;

/** Adds `stemma usage`, which prints counted tokens and their cost, and `stemma cache`, which prints the calls that missed the cache. */
export function addUsageCommands(program: Command): void {
  addProjectCommand(program, 'usage [session]', 'sum the tokens that providers counted, and their cost at API prices')
    .addOption(new Option('--by <what>', 'what each row stands for (default: session)').choices(Object.keys(groupings)))
    .addOption(new Option('--time-zone <zone>', 'the time zone of days (default: the time zone of this machine)'))
    .addOption(new Option('--limit <count>', 'largest number of rows').argParser(wholeNumber).default(50))
    .action(showUsage);
  addProjectCommand(program, 'cache [session]', 'list the calls that missed the cache, with cause and cost, and sum the loss').action(showCache);
}

interface UsageOptions extends ProjectOptions {
  by?: keyof typeof groupings;
  timeZone?: string;
  limit: number;
}

const localZone = (): string => Intl.DateTimeFormat().resolvedOptions().timeZone || 'UTC';

function showUsage(session: string | undefined, options: UsageOptions): Promise<void> {
  return withProject(options, async ({ client }) => {
    if (options.by === 'tool') return await showTools(client, session, options);
    const groupBy = groupings[options.by ?? (session === undefined ? 'session' : 'model')];
    const sums = await client.usage.sessions({
      groupBy: groupBy as Exclude<typeof groupBy, 'tool'>,
      timeZone: options.timeZone ?? localZone(),
      limit: options.limit,
      ...(session !== undefined && { filter: { sessionId: session } }),
    });
    if (options.json) return printJson(sums);
    if (session !== undefined && sums.totals.calls === 0) throw noCalls(session);
    printSums(sums, groupBy, await titlesIn(client, groupBy === 'session' ? sums.rows.map(({ key }) => key) : []));
    if (session !== undefined) for (const note of flawsIn((await client.usage.calls({ sessionId: session })).calls)) printText(yellow(note));
    await warnOfBudgets(client, sums.overBudget);
  });
}

function printSums(sums: UsageSessions, heading: string, titles: ReadonlyMap<string, string>): void {
  const nameOf = (key: string): string => titles.get(key) ?? (key || 'not recorded');
  const width = Math.min(60, Math.max(7, ...sums.rows.map(({ key }) => nameOf(key).length)));
  printText(dim(`${heading.padEnd(width)} ${heads}`));
  for (const row of sums.rows) {
    const id = titles.has(row.key) ? dim(`  ${row.key}`) : '';
    printText(line`${firstLine(nameOf(row.key), width).padEnd(width)} ${columnsOf(row)}${id}`);
    if (row.subagents) printText(dim(`${'  of these, by subagents'.padEnd(width)} ${columnsOf(row.subagents)}`));
  }
  if (sums.rows.length < sums.total) printText(dim(`${counted(sums.total - sums.rows.length, 'row')} more: --limit ${sums.total}`));
  printText(line`${bold('total'.padEnd(width))} ${columnsOf(sums.totals)}`);
  for (const note of notesOf(sums.totals)) printText(dim(note));
}

const noCalls = (session: string): UsageError =>
  new UsageError(`no calls of the session ${session} are in this project. \`stemma usage\` lists the sessions.`);

async function titlesIn(client: ContractClient, ids: readonly string[]): Promise<ReadonlyMap<string, string>> {
  if (ids.length === 0) return new Map();
  const wanted = new Set(ids);
  const { sessions } = await client.session.list({});
  return new Map(sessions.flatMap(({ sessionId, title }) => (wanted.has(sessionId) && title !== '' ? [[sessionId, firstLine(title, 60)]] : [])));
}

const shownWarnings = 5;

async function warnOfBudgets(client: ContractClient, over: UsageSessions['overBudget']): Promise<void> {
  const sessions = over.flatMap(({ kind, key }) => (kind === 'session' ? [key] : []));
  const titles = await titlesIn(client, sessions);
  for (const { kind, key, spent, budget } of over.slice(0, shownWarnings))
    say(
      red(
        line`Over budget: ${kind} ${titles.get(key) ?? key} cost ${priceOf(spent)} at API prices, and the budget of a ${kind} is ${priceOf({ ...spent, amount: budget, atLeast: undefined })}.`,
      ),
    );
  if (over.length > shownWarnings) say(red(`${counted(over.length - shownWarnings, 'more warning')}: --json lists all.`));
}

const wide = 14;
const heads = ['calls', 'input', 'cache read', 'cache write', 'output', 'cost'].map((head) => head.padStart(wide)).join('');
const number = (value: number): string => value.toLocaleString('en-US');

function columnsOf({ calls, tokens, cost, ...unknown }: UsageSums): string {
  const sum = (tokens: number, missing: number): string => (missing === calls ? 'not recorded' : `${missing > 0 ? '≥ ' : ''}${number(tokens)}`);
  const cells = [
    number(calls),
    sum(tokens.input, unknown.unknownInputs),
    sum(tokens.cacheRead, unknown.unknownCacheReads),
    sum(tokens.cacheWrite, unknown.unknownCacheWrites),
    sum(tokens.output, unknown.unknownOutputs),
    unknown.unknownInputs === calls ? 'not recorded' : priceOf(cost),
  ];
  return cells.map((cell) => cell.padStart(wide)).join('');
}

/** An amount in its currency. `≥` marks a lower bound. */
const priceOf = (money: Money | null): string =>
  money === null
    ? 'no price'
    : `${money.atLeast ? '≥ ' : ''}${money.currency === 'USD' ? '$' : `${money.currency} `}${money.amount.toFixed(digitsOf(money.amount))}`;

/** Uses the same number of digits as the window. */
const digitsOf = (amount: number): number => (amount <= 0 || amount >= 0.1 ? 2 : amount >= 0.01 ? 3 : 4);

function notesOf({ cost, unknownInputs, unknownOutputs, calls }: UsageSums): string[] {
  return [
    ...(cost ? [`Cost at API prices of ${cost.priceDate}. A subscription does not pay them.`] : []),
    ...(cost && cost.unpriced > 0 ? [`${counted(cost.unpriced, 'call')} of ${number(calls)} without a price.`] : []),
    ...(unknownInputs > 0 ? [`${counted(unknownInputs, 'call')} without an input count: the sums leave their input out.`] : []),
    ...(unknownOutputs > 0 ? [`${counted(unknownOutputs, 'reply', 'replies')} without an output count: the sums leave their output out.`] : []),
  ];
}

function flawsIn(calls: readonly UsageCall[]): Text[] {
  const flaws = [...Map.groupBy(calls, ({ flaw }) => flaw)].flatMap(([flaw, of]) => (flaw === undefined ? [] : [[flaw, of] as const]));
  return [
    ...flaws.slice(0, shownWarnings).map(([flaw, of]) => line`${counted(of.length, 'call')}: ${flaw}`),
    ...(flaws.length > shownWarnings ? [line`${counted(flaws.length - shownWarnings, 'more reason')}: stemma call usage.calls lists all.`] : []),
  ];
}

interface ToolSum {
  readonly tool: string;
  /** The number of calls of the tool, or of entries of another kind. */
  uses: number;
  callTokens: number;
  resultTokens: number;
  tokenCalls: number;
  /** The number of results with the same content as an earlier result. */
  duplicates: number;
}

const maxBranches = 200;

/** Prints the tokens that each tool added to the windows of a commit, of a session, or of the project. */
async function showTools(client: ContractClient, session: string | undefined, options: UsageOptions): Promise<void> {
  const named = session === undefined ? undefined : commitName(session);
  const all = named?.startsWith('ctx-') ? [{ id: named }] : await client.context.tips(named === undefined ? {} : { sessionId: named });
  if (all.length === 0) throw new UsageError(`no session ${session ?? ''} is in this project. \`stemma usage\` lists the sessions.`);
  // Branches share entries. Each entry counts once, with the calls of the branch in which it stayed longest.
  const fillers = new Map<string, UsageFiller>();
  for (const { id } of all.slice(0, maxBranches))
    for await (const filler of fillersOf(client, id as ContextId)) {
      const name = filler.key ?? `${filler.tool} ${filler.path}`;
      if ((fillers.get(name)?.tokenCalls ?? -1) < filler.tokenCalls) fillers.set(name, filler);
    }
  const sums = byTool(fillers.values());
  if (options.json) return printJson(sums);
  printTools(sums.slice(0, options.limit), Math.min(all.length, maxBranches));
  if (all.length > maxBranches) printText(dim(`${counted(all.length - maxBranches, 'older branch', 'older branches')} left out.`));
}

const fillersAtOnce = 100_000;

async function* fillersOf(client: ContractClient, id: ContextId): AsyncGenerator<UsageFiller> {
  for (let offset = 0; ; offset += fillersAtOnce) {
    const page = await client.usage.fillers({ id, offset, limit: fillersAtOnce });
    yield* page;
    if (page.length < fillersAtOnce) return;
  }
}

function byTool(fillers: Iterable<UsageFiller>): ToolSum[] {
  const sums = new Map<string, ToolSum>();
  for (const { tool, kind, tokens, tokenCalls, duplicateOf } of fillers) {
    const name = tool ?? kind;
    const sum = sums.get(name) ?? { tool: name, uses: 0, callTokens: 0, resultTokens: 0, tokenCalls: 0, duplicates: 0 };
    sums.set(name, sum);
    if (kind !== 'tool_result') sum.uses += 1;
    sum[kind === 'tool_result' ? 'resultTokens' : 'callTokens'] += tokens;
    sum.tokenCalls += tokenCalls;
    if (duplicateOf !== undefined) sum.duplicates += 1;
  }
  return [...sums.values()].sort((a, b) => b.tokenCalls - a.tokenCalls);
}

const toolHeads = ['uses', '≈ in calls', '≈ in results', 'duplicates', '≈ × calls', 'share'];

function printTools(sums: readonly ToolSum[], branches: number): void {
  const total = sums.reduce((sum, { tokenCalls }) => sum + tokenCalls, 0) || 1;
  printText(dim(`${'tool'.padEnd(30)}${toolHeads.map((head) => head.padStart(wide)).join('')}`));
  for (const { tool, uses, callTokens, resultTokens, duplicates, tokenCalls } of sums) {
    const cells = [...[uses, callTokens, resultTokens, duplicates, tokenCalls].map(number), `${Math.round((tokenCalls / total) * 100)}%`];
    printText(line`${firstLine(tool, 30).padEnd(30)}${cells.map((cell) => cell.padStart(wide)).join('')}`);
  }
  printText(
    dim(`Estimated tokens in the window at the end of ${counted(branches, 'branch', 'branches')}, times the calls that were sent with them.`),
  );
}

function showCache(session: string | undefined, options: ProjectOptions): Promise<void> {
  return withProject(options, async ({ client }) => {
    const of = session === undefined ? {} : { sessionId: session };
    const { calls } = await client.usage.calls({ ...of, filter: { miss: true } });
    if (session !== undefined && calls.length === 0 && (await client.usage.calls({ ...of, limit: 1 })).total === 0) throw noCalls(session);
    if (options.json) return printJson(calls);
    if (calls.length > 0)
      printText(dim(`${'time'.padEnd(18)}${'cause'.padEnd(36)}${'lost'.padStart(wide)}${'cost'.padStart(wide - 4)}  prompt or tool`));
    for (const call of calls) printText(describeMiss(call));
    printText(bold(`${counted(calls.length, 'miss', 'misses')}${lossOf(calls)}`));
  });
}

/** The total loss of all misses. A loss without a price makes the total price a lower bound. */
function lossOf(calls: readonly UsageCall[]): string {
  const losses = calls.filter(({ cache }) => (cache.lostTokens ?? 0) > 0).map(({ cache }) => cache);
  const tokens = losses.reduce((sum, { lostTokens = 0 }) => sum + lostTokens, 0);
  const costs = losses.flatMap(({ lostCost }) => lostCost ?? []);
  const [first] = costs;
  if (tokens === 0) return '';
  if (!first) return `, ${number(tokens)} tokens paid again at no known price`;
  const isWhole = costs.length === losses.length && !costs.some(({ atLeast }) => atLeast);
  const cost = { ...first, amount: costs.reduce((sum, { amount }) => sum + amount, 0), atLeast: isWhole ? undefined : (true as const) };
  return `, ${number(tokens)} tokens paid again, ${priceOf(cost)} more than a cache read`;
}

function describeMiss({ at, requestId, model, cache, trigger }: UsageCall): Text {
  const { cause = 'unknown', idleMs, brokenAt, brokenText, lostTokens = 0, lostCost } = cache;
  const why = cause === 'expired' && idleMs !== undefined ? `expired after ${minutes(idleMs)}` : words[cause];
  const loss =
    lostTokens > 0 ? `${number(lostTokens)} tokens`.padStart(wide) + priceOf(lostCost ?? null).padStart(wide - 4) : ' '.repeat(2 * wide - 4);
  const texts = brokenText ? line`: ${firstLine(brokenText.before ?? 'nothing', 60)} → ${firstLine(brokenText.after ?? 'nothing', 60)}` : '';
  const about = line`${firstLine(trigger ?? '', 60)} ${dim(`${model ?? 'model not recorded'} ${requestId}`)}`;
  const row = line`${writeTime(at, new Date()).padEnd(18)}${yellow(why.padEnd(36))}${red(loss)}  ${about}`;
  return brokenAt === undefined ? row : join([row, line`${' '.repeat(18)}at ${brokenAt}${texts}`]);
}

/** A duration in its largest unit: `25 min`, `19 h`, `3 days`. */
const minutes = (ms: number): string =>
  ms < 120 * 60_000
    ? `${Math.round(ms / 60_000)} min`
    : ms < 48 * 3_600_000
      ? `${Math.round(ms / 3_600_000)} h`
      : `${Math.round(ms / 86_400_000)} days`;

const words: Readonly<Record<NonNullable<UsageCall['cache']['cause']>, string>> = {
  first: 'first call',
  expired: 'expired',
  system: 'system prompt changed',
  tools: 'tools changed',
  message: 'message edited or removed',
  model: 'model changed',
  parameters: 'parameters changed',
  unknown: 'prefix changed, cause not recorded',
};

/** The tokens of a context, with their share of the window: the provider's count, else the estimate. */
export function windowLine({ counted, next, limit, estimated }: UsageContext): string {
  const tokens = counted ?? next?.counted ?? null;
  if (tokens === null) return `≈${number(estimated)} tokens, not counted by a provider`;
  return `${number(tokens)} tokens counted${limit === null ? '' : `, ${Math.round((tokens / limit) * 100)}% of ${number(limit)}`}`;
}

import { type Command, Option } from 'commander';
import type { Money, UsageCall, UsageContext, UsageFiller, UsageSums } from '../../core/contract/index.js';
import { bold, dim, line, printJson, printText, red, say, type Text, yellow } from '../terminal/index.js';
import { addProjectCommand, commitName, type ProjectOptions, withProject } from './command.js';
import { UsageError } from './errors.js';
import { counted, firstLine, wholeNumber } from './numbers.js';

const groupings = { day: 'day', model: 'model', repo: 'repository', agent: 'agent', session: 'session', tool: 'tool' } as const;

/** Adds `stemma usage`, counted tokens and their cost, and `stemma cache`, the calls that missed the cache. */
export function addUsageCommands(program: Command): void {
  addProjectCommand(program, 'usage [session]', 'sum the tokens that providers counted, and their cost at API prices')
    .addOption(new Option('--by <what>', 'what a row is (default: session)').choices(Object.keys(groupings)))
    .addOption(new Option('--time-zone <zone>', 'the time zone of days (default: that of this machine)'))
    .addOption(new Option('--limit <count>', 'the most rows').argParser(wholeNumber).default(50))
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
    if (options.by === 'tool') {
      if (session === undefined) throw new UsageError('--by tool needs a session or a commit: stemma usage SESSION --by tool');
      const tips = session.startsWith('ctx-') ? [{ id: session }] : await client.context.tips({ sessionId: session });
      const [tip] = tips;
      if (!tip) throw new UsageError(`no session ${session} is in this project. \`stemma usage\` lists the sessions.`);
      const fillers = await client.usage.fillers({ id: commitName(tip.id) });
      return options.json ? printJson(byTool(fillers)) : printTools(byTool(fillers).slice(0, options.limit));
    }
    const groupBy = groupings[options.by ?? (session === undefined ? 'session' : 'model')];
    const sums = await client.usage.sessions({
      groupBy: groupBy as Exclude<typeof groupBy, 'tool'>,
      timeZone: options.timeZone ?? localZone(),
      limit: options.limit,
      ...(session !== undefined && { filter: { sessionId: session } }),
    });
    if (options.json) return printJson(sums);
    if (session !== undefined && sums.totals.calls === 0) throw new UsageError(`no calls of the session ${session} are in this project.`);
    const width = Math.min(60, Math.max(7, ...sums.rows.map(({ key }) => key.length)));
    printText(dim(`${groupBy.padEnd(width)} ${heads}`));
    for (const row of sums.rows) {
      printText(line`${firstLine(row.key || 'not recorded', width).padEnd(width)} ${columnsOf(row)}`);
      if (row.subagents) printText(dim(`${'  of these, by subagents'.padEnd(width)} ${columnsOf(row.subagents)}`));
    }
    if (sums.rows.length < sums.total) printText(dim(`${counted(sums.total - sums.rows.length, 'row')} more: --limit ${sums.total}`));
    printText(line`${bold('total'.padEnd(width))} ${columnsOf(sums.totals)}`);
    for (const note of notesOf(sums.totals)) printText(dim(note));
    for (const { kind, key, spent, budget } of sums.overBudget)
      say(red(`Over budget: ${kind} ${key} cost ${priceOf(spent)}, and the budget of a ${kind} is ${budget}.`));
  });
}

const wide = 14;
const heads = ['calls', 'input', 'cache read', 'cache write', 'output', 'cost'].map((head) => head.padStart(wide)).join('');
const number = (value: number): string => value.toLocaleString('en-US');

function columnsOf({ calls, tokens, cost, unknownOutputs }: UsageSums): string {
  const output = unknownOutputs === calls ? 'not recorded' : `${unknownOutputs > 0 ? '≥ ' : ''}${number(tokens.output)}`;
  const cells = [number(calls), number(tokens.input), number(tokens.cacheRead), number(tokens.cacheWrite), output, priceOf(cost)];
  return cells.map((cell) => cell.padStart(wide)).join('');
}

/** An amount in its currency. `≥` marks a lower bound. */
const priceOf = (money: Money | null): string =>
  money === null ? 'no price' : `${money.atLeast ? '≥ ' : ''}${money.currency === 'USD' ? '$' : `${money.currency} `}${money.amount.toFixed(2)}`;

function notesOf({ cost, unknownOutputs, calls }: UsageSums): string[] {
  return [
    ...(cost ? [`Cost at API prices of ${cost.priceDate}. A subscription does not pay them.`] : []),
    ...(cost && cost.unpriced > 0 ? [`${counted(cost.unpriced, 'call')} of ${number(calls)} without a price.`] : []),
    ...(unknownOutputs > 0 ? [`${counted(unknownOutputs, 'reply', 'replies')} without an output count: the sums leave their output out.`] : []),
  ];
}

interface ToolSum {
  readonly tool: string;
  readonly entries: number;
  readonly tokens: number;
  readonly tokenCalls: number;
}

/** What each tool put into the window, the largest first. */
function byTool(fillers: readonly UsageFiller[]): ToolSum[] {
  const sums = new Map<string, ToolSum>();
  for (const { tool, kind, tokens, tokenCalls } of fillers) {
    const name = tool ?? kind;
    const { entries = 0, tokens: before = 0, tokenCalls: times = 0 } = sums.get(name) ?? {};
    sums.set(name, { tool: name, entries: entries + 1, tokens: before + tokens, tokenCalls: times + tokenCalls });
  }
  return [...sums.values()].sort((a, b) => b.tokenCalls - a.tokenCalls);
}

function printTools(sums: readonly ToolSum[]): void {
  printText(dim(`${'tool'.padEnd(30)}${['entries', '≈ tokens', '× calls'].map((head) => head.padStart(wide)).join('')}`));
  for (const { tool, ...rest } of sums)
    printText(
      line`${firstLine(tool, 30).padEnd(30)}${[rest.entries, rest.tokens, rest.tokenCalls].map((value) => number(value).padStart(wide)).join('')}`,
    );
}

function showCache(session: string | undefined, options: ProjectOptions): Promise<void> {
  return withProject(options, async ({ client }) => {
    const { calls } = await client.usage.calls({ ...(session !== undefined && { sessionId: session }), filter: { miss: true } });
    if (options.json) return printJson(calls);
    for (const call of calls) printText(describeMiss(call));
    const lost = calls.reduce((sum, { cache }) => sum + (cache.lostTokens ?? 0), 0);
    const cost = calls.reduce((sum, { cache }) => sum + (cache.lostCost?.amount ?? 0), 0);
    printText(bold(`${counted(calls.length, 'miss', 'misses')}, ${number(lost)} tokens paid again, $${cost.toFixed(2)} more than a cache read`));
  });
}

function describeMiss({ at, requestId, model, cache, trigger }: UsageCall): Text {
  const { cause = 'unknown', idleMs, brokenAt, lostTokens = 0, lostCost } = cache;
  const why = cause === 'expired' && idleMs !== undefined ? `expired after ${Math.round(idleMs / 60_000)} min` : words[cause];
  const place = brokenAt === undefined ? '' : line` at ${brokenAt}`;
  const loss = lostTokens > 0 ? line`  ${red(`${number(lostTokens)} tokens lost, ${priceOf(lostCost ?? null)}`)}` : '';
  return line`${yellow(at)}  ${why}${place}${loss}  ${dim(`${model ?? 'model not recorded'} ${requestId}`)} ${firstLine(trigger ?? '', 60)}`;
}

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

/** A context's tokens as its provider counted them, with the part of the window; else the estimate. */
export function windowLine({ counted: tokens, limit, estimated }: UsageContext): string {
  if (tokens === null) return `≈${number(estimated)} tokens, not counted by a provider`;
  return `${number(tokens)} tokens counted${limit === null ? '' : `, ${Math.round((tokens / limit) * 100)} % of ${number(limit)}`}`;
}

import { type Command, Option } from 'commander';
import type { UsageCompaction } from '../../core/contract/index.js';
import type { ContractClient } from '../launch/index.js';
import { bold, dim, line, printJson, printText, type Text, yellow } from '../terminal/index.js';
import { addProjectCommand, commitName, type ProjectOptions, withProject } from './command.js';
import { UsageError } from './errors.js';
import { counted, firstLine } from './numbers.js';
import { wholeNumber } from './option-values.js';

interface CompactionOptions extends ProjectOptions {
  limit: number;
  provider?: string;
  model?: string;
}

/** Adds `stemma compaction`, which shows the content that compactions replaced and that their summaries do not mention. */
export function addCompactionCommand(program: Command): void {
  addProjectCommand(
    program,
    'compaction <session-or-commit>',
    'show what the compactions of a history replaced, and what their summaries do not mention',
  )
    .addOption(new Option('--limit <count>', 'largest number of losses for each compaction').argParser(wholeNumber).default(40))
    .addOption(new Option('--provider <id>', 'let a model of this provider judge which losses matter'))
    .addOption(new Option('--model <name>', 'the model that judges'))
    .action(showCompactions);
}

function showCompactions(name: string, options: CompactionOptions): Promise<void> {
  return withProject(options, async ({ client }) => {
    const ids = await compactionsOf(client, commitName(name));
    const all: UsageCompaction[] = [];
    for (const id of ids) all.push(await ask(client, id, options));
    if (options.json) return printJson(all);
    for (const [n, each] of all.entries()) printCompaction(each, n + 1);
    if (all.length === 0) printText(dim('No compaction.'));
  });
}

type Commits = Awaited<ReturnType<ContractClient['context']['history']>>;

/** The named compaction, or all compactions on the way from the root to a commit or to the tips of a session. */
async function compactionsOf(client: ContractClient, name: string): Promise<Commits[number]['id'][]> {
  const tips = name.startsWith('ctx-') ? [{ id: name }] : await client.context.tips({ sessionId: name });
  if (tips.length === 0) throw new UsageError(`no session ${name} is in this project. \`stemma usage\` lists the sessions.`);
  const found = new Set<Commits[number]['id']>();
  for (const { id } of tips) {
    const history = await client.context.history({ id });
    if (name.startsWith('ctx-') && history[0]?.type === 'compaction') return [history[0].id];
    for (const commit of history.toReversed()) if (commit.type === 'compaction') found.add(commit.id);
  }
  return [...found];
}

const ask = (client: ContractClient, id: string, { limit, provider, model }: CompactionOptions): Promise<UsageCompaction> =>
  provider === undefined ? client.usage.compaction({ id, limit }) : client.usage.judgeCompaction({ id, limit, provider, model });

const tokens = ({ counted: exact, estimated }: UsageCompaction['before']): string =>
  exact === null ? `≈${estimated.toLocaleString('en-US')}` : exact.toLocaleString('en-US');

function printCompaction({ commit, at, before, after, summaryTokens, totals, lost }: UsageCompaction, number: number): void {
  printText(line`${bold(`Compaction ${number}`)} ${yellow(commit)} ${at}`);
  const basis = before.counted === null || after.counted === null ? '' : ' counted';
  printText(`  ${tokens(before)} → ${tokens(after)} tokens${basis}; the summary has about ${counted(summaryTokens, 'token')}`);
  printText(dim(`  not mentioned: ${totals.map((total) => `${total.lost} of ${counted(total.found, total.kind)}`).join(', ')}`));
  for (const loss of lost) printText(lossLine(loss));
}

function lossLine({ kind, text, uses, key, judgment }: UsageCompaction['lost'][number]): Text {
  const verdict = judgment ? (judgment.matters ? yellow(` matters: ${judgment.reason}`) : dim(` trivial: ${judgment.reason}`)) : '';
  return line`  ${kind.padEnd(9)}${firstLine(text, 120)} ${dim(`×${uses} ${key}`)}${verdict}`;
}

import type { ContextId, OutlineRow } from '../../../core/contract/index.js';
import type { EntryBlock } from '../../parts';

export interface ShownTurn {
  readonly commit: ContextId;
  /** The number of the turn, as in the breadcrumb; undefined for a compaction, and until the numbers are loaded. */
  readonly number: number | undefined;
  readonly firstBlock: number;
  readonly firstEntry: number;
  /** The position at which reading starts: the prompt, which may follow reminders that the agent added. */
  readonly promptBlock: number;
  readonly promptEntry: number;
  readonly head: string;
  readonly tokens: number;
  readonly errors: number;
  readonly summary: boolean;
}

const known = new WeakMap<readonly EntryBlock[], readonly ShownTurn[]>();

/** The turns of a context, one per commit, titled as in the chain, else by the first prompt of a person. */
export function turnsOf(
  rows: readonly OutlineRow[],
  blocks: readonly EntryBlock[],
  names: ReadonlyMap<ContextId, string> = new Map(),
  numbers: ReadonlyMap<ContextId, number> = new Map(),
): readonly ShownTurn[] {
  // Names and numbers arrive later than the rows, and two parts of the window show the turns, so each result is cached.
  const turns = known.get(blocks) ?? countTurns(rows, blocks);
  known.set(blocks, turns);
  const named = turns.map((turn) => ({
    ...turn,
    number: numbers.get(turn.commit),
    head: turn.summary ? turn.head : names.get(turn.commit) || turn.head,
  }));
  // A prompt that was edited here and its answer are one turn.
  const joined: ShownTurn[] = [];
  for (const turn of named) {
    const before = joined.at(-1);
    if (turn.number === undefined || before?.number !== turn.number) joined.push(turn);
    else joined[joined.length - 1] = { ...before, tokens: before.tokens + turn.tokens, errors: before.errors + turn.errors };
  }
  return joined;
}

/** The turns of a context without their numbers, titled by their prompts. */
function countTurns(rows: readonly OutlineRow[], blocks: readonly EntryBlock[]): readonly ShownTurn[] {
  const sums = new Map<ContextId, { tokens: number; errors: number; prompt: number | undefined; summary: boolean }>();
  rows.forEach((row, place) => {
    const sum = sums.get(row.commit) ?? { tokens: 0, errors: 0, prompt: undefined, summary: false };
    if (!row.hidden) sum.tokens += row.tokens;
    if (row.isError) sum.errors++;
    if (row.kind === 'summary') sum.summary = true;
    if (row.prompt) sum.prompt = place;
    sums.set(row.commit, sum);
  });
  const blockAt = new Map(blocks.map((block, at) => [block.first, at] as const));
  return blocks.flatMap((block, firstBlock) => {
    if (!block.opens) return [];
    const sum = sums.get(block.commit);
    const promptEntry = sum?.summary ? block.first : (sum?.prompt ?? block.first);
    return [
      {
        commit: block.commit,
        number: undefined,
        firstBlock,
        firstEntry: block.first,
        promptBlock: blockAt.get(promptEntry) ?? firstBlock,
        promptEntry,
        head: (sum?.summary && 'Compaction summary') || promptOf(rows[promptEntry]?.head) || nameless(rows[promptEntry]),
        tokens: sum?.tokens ?? 0,
        errors: sum?.errors ?? 0,
        summary: sum?.summary ?? false,
      },
    ];
  });
}

/** The title of a prompt. A slash command in tags is titled by its name; other wrappers are no prompts and return undefined. */
export function promptOf(head: string | undefined): string | undefined {
  const command = head && /^<command-(?:name|message)>\s*([^<]+)/.exec(head)?.[1]?.trim();
  if (command) return command.startsWith('/') ? command : `/${command}`;
  return head && /^<(?:local-command-|system-reminder|bash-std|ide_)/.test(head) ? undefined : head;
}

const nameless = (row: OutlineRow | undefined): string => (row?.kind === 'image' ? 'Image' : 'No title');

/** The places of compaction summaries; each replaced everything before it. */
export const seamsOf = (rows: readonly OutlineRow[]): readonly number[] => rows.flatMap((row, index) => (row.kind === 'summary' ? [index] : []));

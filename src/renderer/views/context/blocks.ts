import type { ContextId, OutlineRow } from '../../../core/contract/index.js';

/** What the list shows as one: an entry, or a tool call with what came of it. Numbers are places in the context. */
export interface Block {
  readonly first: number;
  /** The result of the call at `first`, null where the context holds none, undefined where `first` is no call. */
  readonly result: number | null | undefined;
  readonly commit: ContextId;
  /** The first block of its commit. */
  readonly opens: boolean;
}

export interface Turn {
  readonly commit: ContextId;
  readonly firstBlock: number;
  readonly firstEntry: number;
  readonly head: string;
  readonly tokens: number;
  readonly errors: number;
  readonly summary: boolean;
}

/** The list of a context: in order, each result drawn up to its call. */
export function blocksOf(rows: readonly OutlineRow[]): readonly Block[] {
  const calls = new Map<string, number>();
  const resultOfCall = new Map<number, number>();
  rows.forEach((row, index) => {
    if (!row.toolCallId) return;
    if (row.kind === 'tool_call') calls.set(row.toolCallId, index);
    if (row.kind !== 'tool_result') return;
    const call = calls.get(row.toolCallId);
    // A second result for one call stays where it stands.
    if (call !== undefined && !resultOfCall.has(call)) resultOfCall.set(call, index);
  });
  const drawn = new Set(resultOfCall.values());
  const blocks: Block[] = [];
  let commit: ContextId | undefined;
  rows.forEach((row, first) => {
    if (drawn.has(first)) return;
    const result = row.kind === 'tool_call' ? (resultOfCall.get(first) ?? null) : undefined;
    blocks.push({ first, result, commit: row.commit, opens: row.commit !== commit });
    commit = row.commit;
  });
  return blocks;
}

/** The turns of a context: one a commit, named as the chain names it, else by the first words of a person in it. */
export function turnsOf(rows: readonly OutlineRow[], blocks: readonly Block[], names: ReadonlyMap<ContextId, string> = new Map()): readonly Turn[] {
  const sums = new Map<ContextId, { tokens: number; errors: number; head: string | undefined; summary: boolean }>();
  for (const row of rows) {
    const sum = sums.get(row.commit) ?? { tokens: 0, errors: 0, head: undefined, summary: false };
    if (!row.hidden) sum.tokens += row.tokens;
    if (row.isError) sum.errors++;
    if (row.kind === 'summary') sum.summary = true;
    if (sum.head === undefined && row.role === 'user' && (row.kind === 'text' || row.kind === 'summary')) sum.head = promptOf(row.head);
    sums.set(row.commit, sum);
  }
  return blocks.flatMap((block, firstBlock) => {
    if (!block.opens) return [];
    const sum = sums.get(block.commit);
    return [
      {
        commit: block.commit,
        firstBlock,
        firstEntry: block.first,
        head:
          (sum?.summary && 'Compaction summary') ||
          names.get(block.commit) ||
          sum?.head ||
          promptOf(rows[block.first]?.head) ||
          nameless(rows[block.first]),
        tokens: sum?.tokens ?? 0,
        errors: sum?.errors ?? 0,
        summary: sum?.summary ?? false,
      },
    ];
  });
}

/**
 * The beginning of a prompt as a person would name it. Agents wrap commands in tags and put warnings before them:
 * a command is known by its name, and a wrapping is no prompt.
 */
export function promptOf(head: string | undefined): string | undefined {
  const command = head && /^<command-(?:name|message)>\s*([^<]+)/.exec(head)?.[1]?.trim();
  if (command) return command.startsWith('/') ? command : `/${command}`;
  return head && /^<(?:local-command-|system-reminder|bash-std|ide_)/.test(head) ? undefined : head;
}

const nameless = (row: OutlineRow | undefined): string => (row?.kind === 'image' ? 'An image' : 'No words');

/** The block that shows an entry, by the entry's place. */
export function blockOfEntry(blocks: readonly Block[], entry: number): number {
  let low = 0;
  let high = blocks.length - 1;
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if ((blocks[middle]?.first ?? 0) <= entry) low = middle;
    else high = middle - 1;
  }
  // A result is drawn at its call, which stands before it.
  for (let at = low; at >= 0 && at > low - 400; at--) if (blocks[at]?.result === entry) return at;
  return Math.max(0, low);
}

/** Where summaries of compactions stand: what came before each was replaced by it. */
export const seamsOf = (rows: readonly OutlineRow[]): readonly number[] => rows.flatMap((row, index) => (row.kind === 'summary' ? [index] : []));

/** A first guess of a block's height in pixels, before it is measured. */
export function guessHeight(rows: readonly OutlineRow[], block: Block): number {
  const row = rows[block.first];
  if (!row) return 60;
  const turn = block.opens ? 37 : 0;
  const lines = (tokens: number) => Math.ceil((tokens * 3.8) / 110);
  if (block.result !== undefined) {
    const result = block.result === null ? 0 : (rows[block.result]?.tokens ?? 0);
    return turn + 48 + 18 * Math.min(20, lines(result) + 1);
  }
  if (row.kind === 'thinking') return turn + 58;
  if (row.kind === 'image') return turn + 240;
  return turn + 40 + 20 * Math.min(row.kind === 'text' ? 400 : 20, lines(row.tokens) + 1);
}

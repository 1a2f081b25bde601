import type { ContextId, OutlineRow } from '../../../core/contract/index.js';
import type { Block } from '../../parts';

export interface Turn {
  readonly commit: ContextId;
  readonly firstBlock: number;
  readonly firstEntry: number;
  readonly head: string;
  readonly tokens: number;
  readonly errors: number;
  readonly summary: boolean;
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

/** Where summaries of compactions stand: what came before each was replaced by it. */
export const seamsOf = (rows: readonly OutlineRow[]): readonly number[] => rows.flatMap((row, index) => (row.kind === 'summary' ? [index] : []));

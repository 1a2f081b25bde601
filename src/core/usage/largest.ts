import type { ContextId } from '../base/index.js';
import type { ReadChain } from '../chain/index.js';
import type { UsageFiller, UsageLargest } from '../contract/index.js';
import { usageFillers } from './fillers.js';

/** The files, groups and other content that filled most of the window of a context. @throws NOT_FOUND for an unknown commit. */
export const usageLargest = (chain: ReadChain, id: ContextId, most?: number): UsageLargest[] => largestOf(usageFillers(chain, id), most);

/** Adds up fillers by file and by group, the largest first. */
export function largestOf(fillers: readonly UsageFiller[], most = fillers.length): UsageLargest[] {
  const found = new Map<string, UsageLargest>();
  for (const filler of fillers) {
    const { kind, key, tokens, calls, tokenCalls, duplicateOf, unused } = filler;
    const { id, name, side } = nameFiller(filler);
    const sum = found.get(id) ?? { name, kind, tokens: 0, calls: 0, tokenCalls: 0, times: 0, duplicates: 0, unused: 0 };
    Object.assign(sum, { name, kind });
    if (side || sum.side) sum.side = side?.side;
    if (key !== undefined) sum.key ??= key;
    sum.tokens += tokens;
    sum.calls = Math.max(sum.calls, calls);
    sum.tokenCalls += tokenCalls;
    sum.times += 1;
    if (duplicateOf !== undefined) sum.duplicates += 1;
    if (unused) sum.unused += 1;
    found.set(id, sum);
  }
  // Entries after the last call are not part of any window yet.
  return [...found.values()]
    .filter(({ tokenCalls }) => tokenCalls > 0)
    .sort((a, b) => b.tokenCalls - a.tokenCalls)
    .slice(0, most);
}

/** The row of a filler, and the name that the row shows. */
function nameFiller({ key, path, tool, kind, head, group }: UsageFiller): { id: string; name: string; side?: Pick<UsageLargest, 'side'> } {
  if (group !== undefined) return { id: group, name: group };
  if (path !== undefined && kind !== 'tool_call') return { id: `file ${path}`, name: path };
  const name = `${tool ?? ''} ${path ?? (head === tool ? '' : (head ?? ''))}`.trim() || kindNames[kind] || kind;
  const side = tool === undefined ? undefined : sides[kind];
  return { id: `entry ${key ?? name}`, name, ...(side && { side: { side } }) };
}

const sides: Partial<Record<UsageFiller['kind'], UsageLargest['side']>> = { tool_call: 'call', tool_result: 'result' };
/** Names of fillers that have no text of their own. */
const kindNames: Partial<Record<UsageFiller['kind'], string>> = { system: 'System prompt', tools: 'Tools', image: 'Image' };

import type { Json } from '../base/index.js';
import type { Divergence, EntryDraft } from '../contract/index.js';
import { changedFields } from '../diff/index.js';
import { callName } from './reply.js';

/** How a reply differs from the recorded one, if it does. Different calls matter most, because their effects last; different words matter less. */
export function divergenceOf(recorded: readonly EntryDraft[], now: readonly EntryDraft[]): Divergence | undefined {
  const [before, after] = [callsIn(recorded), callsIn(now)];
  const at = [...Array(Math.max(before.length, after.length)).keys()].find((n) => nameCall(before[n]) !== nameCall(after[n]));
  if (at !== undefined) return { kind: 'calls', what: otherCall(before[at], after[at], at) };
  return wordsIn(recorded) === wordsIn(now) ? undefined : { kind: 'words', what: 'the same calls, with different words' };
}

const callsIn = (entries: readonly EntryDraft[]): EntryDraft[] => entries.filter((entry) => entry.kind === 'tool_call');
const nameCall = (call: EntryDraft | undefined): string | undefined => call && callName(call);

const wordsIn = (entries: readonly EntryDraft[]): string =>
  entries
    .flatMap((entry) => (entry.role === 'assistant' && entry.kind === 'text' ? [(entry.text ?? '').trim()] : []))
    .filter(Boolean)
    .join('\n');

function otherCall(before: EntryDraft | undefined, after: EntryDraft | undefined, at: number): string {
  const place = `call ${at + 1}`;
  if (!after) return `${place} (${before?.toolName}) is missing`;
  if (!before) return `${place} (${after.toolName}) is not in the recording`;
  if (before.toolName !== after.toolName) return `${place} is ${after.toolName} instead of ${before.toolName}`;
  const paths = changedFields((before.arguments ?? {}) as Json, (after.arguments ?? {}) as Json).map((field) => field.path || 'all');
  return `${place} (${after.toolName}) has different arguments: ${paths.slice(0, 4).join(', ')}${paths.length > 4 ? ' and more' : ''}`;
}

import type { WritableEntry } from '../format.js';
import { isHidden } from '../parsed.js';

/** The text that is sent in place of a result that was never recorded. No commit stores it. */
export const noResult = '[no result was recorded]';

/** The parts of an entry that pair calls and results. */
type Part = Pick<WritableEntry, 'role' | 'kind' | 'toolCallId' | 'marks'>;

/** Answers each call once, as providers require: a missing result says so, after its answer; stray and second results are left out. */
export function pairedCalls<One extends Part>(given: readonly One[]): One[] {
  const entries = withIds(given);
  const answers = new Set(entries.flatMap((entry) => (entry.kind === 'tool_result' && !isHidden(entry) ? [entry.toolCallId ?? ''] : [])));
  const called = new Set<string>();
  const answered = new Set<string>();
  const paired: One[] = [];
  let open: One[] = [];
  const close = (): void => {
    paired.push(...open.map(closing));
    open = [];
  };
  for (const entry of entries) {
    const id = entry.toolCallId ?? '';
    if (isHidden(entry)) {
      paired.push(entry);
      continue;
    }
    if (entry.role !== 'assistant') close();
    if (entry.kind === 'tool_call' && !entry.marks?.includes('server')) {
      if (called.has(id)) continue;
      called.add(id);
      if (!answers.has(id)) open.push(entry);
    }
    // The parts of a result, such as its images, stay with it.
    if (entry.role === 'tool' && (entry.kind === 'tool_result' || entry.toolCallId !== undefined)) {
      if (!called.has(id) || (entry.kind === 'tool_result' && answered.has(id))) continue;
      if (entry.kind === 'tool_result') answered.add(id);
    }
    paired.push(entry);
  }
  close();
  return paired;
}

/** Gives an id to each call without one, because every provider requires it. The next result without an id answers the oldest such call. */
function withIds<One extends Part>(entries: readonly One[]): readonly One[] {
  const open: string[] = [];
  let calls = 0;
  return entries.map((entry) => {
    if (entry.toolCallId || isHidden(entry)) return entry;
    if (entry.kind === 'tool_call') open.push(`unnamed_${++calls}`);
    const toolCallId = entry.kind === 'tool_call' ? open.at(-1) : entry.kind === 'tool_result' ? open.shift() : undefined;
    return toolCallId === undefined ? entry : { ...entry, toolCallId };
  });
}

function closing<One extends Part>(call: One): One {
  const { arguments: _, result: __, messageId: ___, media: ____, marks: _____, ...rest } = call as One & Partial<WritableEntry>;
  return { ...rest, role: 'tool', kind: 'tool_result', text: noResult } as unknown as One;
}

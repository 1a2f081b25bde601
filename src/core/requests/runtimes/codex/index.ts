// requests/runtimes/codex: model calls in Codex's rollouts: the base instructions, then each item as it was sent.
// A compaction is made by a call of its own, whose answer is recorded. The prompt that asked for the summary is not.
// Tools and parameters are not recorded.
import { isObject, type Json, type JsonObject, stringAt } from '../../../base/index.js';
import { type CodexLine, codexItem, codexLines } from '../../../formats/index.js';
import { fromEntries } from '../from-entries.js';
import { type CallPlace, type CallReader, type Delta, recordId, type Stated, unknownUsage } from '../runtime.js';
import { callsOfRollout, repliesIn } from './counts.js';

export const codex: CallReader = {
  ...fromEntries,
  format: 'codex-v1',
  source: 'codex',
  proof: 'recorded',
  recordsCompactions: true,
  isListed: () => true,
  startsMessage: (entry, begun) => begun === undefined || recordId(entry.key) !== recordId(begun.key),
  // The runtime adds a result to each call that has none, and does not record it.
  unanswered: (calls) => calls,
  leading: ({ bytes }, isRoot) => leadingIn(codexLines(bytes), isRoot),
  /** The counts stand after the answer, in the agent's running sums; the model stands with the settings of a turn before it. */
  answer(delta, at) {
    const entry = delta.entries[at];
    const reply = repliesIn(delta).replies.find(({ entries }) => entry !== undefined && entries.includes(entry));
    return { model: reply?.state.model ?? null, usage: reply?.usage ?? unknownUsage };
  },
  counted: callsOfRollout,
  body({ answer: { model }, makesCompaction, deltas, earlier }) {
    const context = deltas().map(({ bytes, entries, end }) => {
      const lines = codexLines(bytes);
      return { entries, end, lines, model: modelIn(lines.filter(({ raw }) => raw.start < end)) };
    });
    const { meta, leading, awaited } = readSession(context, earlier);
    const items = context.flatMap(sentIn);
    // A compaction precedes the settings of its turn, and the previous turn may have other settings.
    const named = model ?? (makesCompaction ? undefined : context.findLast(({ model: one }) => one !== undefined)?.model);
    const first = meta && leading > 0 ? [instructionsItem(offered(meta.text, items))] : [];
    return {
      provider: 'openai',
      body: {
        ...(named !== undefined && { model: named }),
        ...(meta && !meta.isPaginated && { instructions: meta.text }),
        input: [...first, ...closed(items)] as readonly Json[],
      },
      missing: [
        ...(named === undefined ? ['model'] : []),
        ...(meta ? [] : ['instructions']),
        ...(first.length > 0 ? ['input[0].id', 'input[0]: what the runtime takes out of its instructions for tools that are not offered'] : []),
        ...(awaited === undefined ? [] : [`input: what came before the fork, in the session ${awaited}`]),
        ...(makesCompaction ? ['input: the prompt that asks for the summary'] : []),
        ...(items.some(({ type }) => type === toolsItem) ? [] : ['tools']),
        'parameters',
      ],
    };
  },
  stated(delta): Stated | undefined {
    const meta = metaIn(codexLines(delta.bytes));
    return meta && { system: meta.text, ...(meta.version !== undefined && { version: meta.version }) };
  },
  besides({ bytes }, before): Stated | undefined {
    const lines = codexLines(bytes);
    const meta = metaIn(lines);
    return meta ? { system: offered(meta.text, lines.flatMap(readItems)) } : before;
  },
};

/** The session line in a delta. A file's own line is its first. */
function metaIn(lines: readonly CodexLine[]) {
  const meta = lines.find(({ sort }) => sort === 'meta')?.payload;
  const text = stringAt(meta?.base_instructions, 'text');
  if (!meta || text === undefined) return undefined;
  return {
    text,
    version: stringAt(meta, 'cli_version'),
    /** Before rollouts were paginated the instructions were sent as `instructions`, not as the first item. */
    isPaginated: meta.history_mode === 'paginated',
    /** The rollout that the session continues, if it is a fork by reference. */
    origin: stringAt(meta.history_base, 'thread_id'),
  };
}

/**
 * Whether the base instructions are sent as an item of their own; undefined if the delta does not show it. Sessions that send their tools as
 * an item have the instructions among their items. A fork by reference does the same as the session that it continues.
 */
function leadingIn(lines: readonly CodexLine[], isRoot: boolean): number | undefined {
  if (lines.flatMap(readItems).some(({ type }) => type === toolsItem)) return 0;
  const meta = metaIn(lines);
  if (!meta || (meta.origin !== undefined && !isRoot)) return undefined;
  return meta.isPaginated ? 1 : 0;
}

const toolsItem = 'additional_tools';

const modelIn = (lines: readonly CodexLine[]): string | undefined => {
  const settings = lines.findLast(({ sort, payload }) => sort === 'context' && typeof payload.model === 'string');
  return settings && stringAt(settings.payload, 'model');
};

/** Facts about the session from the deltas before an answer, nearest first. */
function readSession(context: readonly { readonly lines: readonly CodexLine[] }[], earlier: CallPlace['earlier']) {
  let meta: ReturnType<typeof metaIn>;
  let leading: number | undefined;
  /** The session that this one continues, if the project has no part of it. */
  let awaited: string | undefined;
  for (const { lines, isRoot } of newestFirst(context, earlier)) {
    const here = metaIn(lines);
    if (!meta && isRoot) awaited = here?.origin;
    meta ??= here;
    leading ??= leadingIn(lines, isRoot);
    if (meta && leading !== undefined) break;
  }
  return { meta, leading: leading ?? 0, awaited };
}

function* newestFirst(context: readonly { readonly lines: readonly CodexLine[] }[], earlier: CallPlace['earlier']) {
  const before = earlier()[Symbol.iterator]();
  let next = before.next();
  for (const [at, { lines }] of [...context.entries()].toReversed()) yield { lines, isRoot: at === 0 && next.done === true };
  while (!next.done) {
    const { bytes } = next.value;
    next = before.next();
    yield { lines: codexLines(bytes), isRoot: next.done === true };
  }
}

/** The instructions without the part about the plan tool, which is sent only if that tool is offered and then used (0.169). */
function offered(instructions: string, items: readonly JsonObject[]): string {
  if (items.some(({ name }) => name === planTool)) return instructions;
  return instructions
    .split(/^(?=## )/m)
    .filter((section) => !section.includes(`\`${planTool}\``))
    .join('')
    .replace(/^- If you create a checklist or task list, .*\n/m, '');
}

const planTool = 'update_plan';

/** The sent items of a delta before the answer: those that its format parses as visible entries. */
function sentIn({ entries, lines, end }: Pick<Delta, 'entries' | 'end'> & { readonly lines: readonly CodexLine[] }): JsonObject[] {
  const shown = new Set(entries.flatMap(({ raw, marks }) => (raw && raw.start < end && !marks?.includes('hidden') ? [raw.start] : [])));
  return lines.filter(({ raw }) => shown.has(raw.start)).flatMap(readItems);
}

function readItems({ sort, payload }: CodexLine): JsonObject[] {
  if (sort === 'item') return [codexItem(payload)];
  if (sort !== 'compacted') return [];
  const history = payload.replacement_history;
  if (Array.isArray(history)) return history.filter(isObject).map(codexItem);
  return [{ type: 'message', role: 'user', content: [{ type: 'input_text', text: stringAt(payload, 'message') ?? '' }] }];
}

const instructionsItem = (text: string): JsonObject => ({ type: 'message', role: 'developer', content: [{ type: 'input_text', text }] });

/** The item that closes a call without a result, by the call's type. */
const outputs: Readonly<Record<string, string>> = {
  function_call: 'function_call_output',
  local_shell_call: 'function_call_output',
  custom_tool_call: 'custom_tool_call_output',
};

/** Adds a result to each call without one. After an interruption the runtime sends a result that says so. */
function closed(items: readonly JsonObject[]): JsonObject[] {
  const answered = new Set(items.flatMap((item) => (String(item.type).endsWith('_output') ? [item.call_id] : [])));
  return items.flatMap((item) => {
    const type = outputs[String(item.type)];
    if (type === undefined || typeof item.call_id !== 'string' || answered.has(item.call_id)) return [item];
    return [item, { type, call_id: item.call_id, output: 'aborted' }];
  });
}

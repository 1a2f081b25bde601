// requests/runtimes/opencode: model calls in OpenCode's sessions: the messages, in Anthropic's wire format if that was used.
// Messages are built by the rules of OpenCode 1.18.34. System prompt, tools, parameters and cache marks are not recorded.
// A call of another provider is rebuilt from entries.
import { isObject, type Json, stringAt } from '../../../base/index.js';
import { openCodeUsage } from '../../../formats/index.js';
import { callBlock, mediaBlocks, type SentBlock, type SentEntry, type SentMessage, signedBlocks, textBlocks, viaOf } from '../blocks.js';
import { bodyInWords, fromEntries } from '../from-entries.js';
import { type CallReader, lineOf, recordId, unknownUsage } from '../runtime.js';

/** The prompt with which the agent asks for a summary. The database does not contain it. */
const question = 'What did we do so far?';
/** The result that the agent sends for a call that never ended. */
const interrupted = '[Tool execution was interrupted]';

export const opencode: CallReader = {
  ...fromEntries,
  format: 'opencode-v1',
  source: 'opencode',
  proof: 'recorded',
  startsAnswer: (entry, last) => last === undefined || recordId(entry.key) !== recordId(last.key),
  // An empty text is not sent.
  isListed: ({ role, kind, head }) => role !== 'system' && !(kind === 'text' && head === undefined),
  startsMessage: (entry, begun) => begun === undefined || speaks(entry) !== speaks(begun),
  leading: ({ type, entries }, isRoot) => (type === 'compaction' && entries.some(({ kind }) => kind === 'summary') ? 1 : isRoot ? 0 : undefined),
  answer({ bytes, entries }, at) {
    const line = lineOf(bytes, entries[at]?.raw);
    const info = isObject(line) && isObject(line.info) ? line.info : {};
    return {
      model: stringAt(info, 'modelID') ?? null,
      usage: openCodeUsage(info) ?? unknownUsage,
      ...(stringAt(info, 'providerID') !== 'anthropic' && { isRebuilt: true }),
    };
  },
  body(call) {
    const reply = call
      .deltas()
      .at(-1)
      ?.entries.find(({ key }) => key === call.replyKey);
    if (!reply || viaOf(reply) !== 'anthropic') return bodyInWords(call, 'openai');
    const { model } = call.answer;
    const isOwn = (entry: SentEntry): boolean => viaOf(entry) === 'anthropic' && entry.author === model;
    return {
      provider: 'anthropic',
      body: { ...(model !== null && { model }), messages: sentMessages(call.entries(), isOwn).map(({ role, content }): Json => ({ role, content })) },
      missing: [...(model === null ? ['model'] : []), 'system', 'tools', 'cache_control', 'parameters'],
    };
  },
};

/** The sender of an entry on the wire. Consecutive messages of one sender are one. */
const speaks = ({ role, kind }: Pick<SentEntry, 'role' | 'kind'>): 'user' | 'assistant' =>
  role === 'assistant' || kind === 'summary' ? 'assistant' : 'user';

/** The messages in the order sent. `isOwn` tells whether the called model gave an answer. Thinking of other models is sent as text. */
function sentMessages(entries: readonly SentEntry[], isOwn: (entry: SentEntry) => boolean): SentMessage[] {
  const messages: SentMessage[] = [];
  const say = (role: SentMessage['role'], blocks: readonly SentBlock[]): void => {
    const last = messages.at(-1);
    if (last?.role === role) last.content.push(...blocks);
    else if (blocks.length > 0) messages.push({ role, content: [...blocks] });
  };
  /** The calls of the current answer, in order, each with its results. */
  let calls: { readonly id: string; readonly results: SentEntry[] }[] = [];
  const settle = (): void => {
    say('user', calls.map(resultBlock));
    calls = [];
  };
  let answering: string | undefined;
  for (const entry of entries) {
    if (entry.role === 'tool') {
      calls.find(({ id }) => id === entry.toolCallId)?.results.push(entry);
      continue;
    }
    const record = recordId(entry.key);
    if (entry.role !== 'assistant' || record !== answering) settle();
    answering = entry.role === 'assistant' ? record : undefined;
    if (entry.role === 'assistant') {
      say('assistant', answerBlocks(entry, isOwn(entry)));
      if (entry.kind === 'tool_call') calls.push({ id: entry.toolCallId ?? '', results: [] });
    } else if (entry.kind === 'summary') {
      say('user', textBlocks(question));
      say('assistant', textBlocks(entry.text));
    } else if (entry.role === 'user') say('user', entry.kind === 'image' ? mediaBlocks(entry) : textBlocks(entry.text));
  }
  settle();
  return messages;
}

function answerBlocks(entry: SentEntry, isOwn: boolean): SentBlock[] {
  const { kind, text } = entry;
  if (kind === 'tool_call') return [callBlock(entry)];
  if (kind === 'text' || (kind === 'thinking' && !isOwn)) return textBlocks(text);
  // The provider accepts only thinking that it signed.
  return kind === 'thinking' ? signedBlocks(entry) : [];
}

function resultBlock({ id, results }: { readonly id: string; readonly results: readonly SentEntry[] }): SentBlock {
  const result = results.find(({ kind }) => kind === 'tool_result');
  if (!result) return { type: 'tool_result', tool_use_id: id, content: interrupted, is_error: true };
  const files = results.filter(({ kind }) => kind === 'image').flatMap(mediaBlocks);
  const content: Json = files.length > 0 ? [...textBlocks(result.text), ...files] : (result.text ?? '');
  return { type: 'tool_result', tool_use_id: id, content, ...(result.isError ? { is_error: true } : {}) };
}

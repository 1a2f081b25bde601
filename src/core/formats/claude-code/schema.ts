import { isObject, type JsonObject, stringAt } from '../../base/index.js';
import { clip } from '../shared/headline.js';
import { readTime } from '../shared/jsonl.js';
import { renderedOf } from './schema-attachments.js';

export { clip, readTime };

/**
 * The role of a chained record in the tree. `prompt` begins a turn. `command` is a slash command or shell line that the agent ran itself; `aside` is
 * its output or another user text that begins no turn. `result` answers tool calls. `quiet` is bookkeeping (progress, hooks, durations).
 */
export type ChainedRole = 'prompt' | 'command' | 'aside' | 'result' | 'assistant' | 'boundary' | 'summary' | 'meta' | 'attachment' | 'quiet';

/** The content of the record's message. */
export const readContent = (record: JsonObject): unknown => (isObject(record.message) ? record.message.content : undefined);
/** The content blocks of the record's message; empty if the content is a string. */
export const readBlocks = (record: JsonObject): readonly unknown[] => {
  const content = readContent(record);
  return Array.isArray(content) ? content : [];
};
/** The agent's id of the message. */
export const messageIdOf = (record: JsonObject): string | undefined => stringAt(record.message, 'id');
/** The record's id. */
export const uuidOf = (record: JsonObject): string | undefined => (typeof record.uuid === 'string' && record.uuid !== '' ? record.uuid : undefined);

/** Whether the record has a place in the tree: it has an id, and is a message or names a parent. */
export function isChained(record: JsonObject): boolean {
  if (uuidOf(record) === undefined || typeof record.type !== 'string') return false;
  return record.type === 'user' || record.type === 'assistant' || record.type === 'system' || Object.hasOwn(record, 'parentUuid');
}

/** The role of a chained record in the tree. */
export function roleInTree(record: JsonObject): ChainedRole {
  switch (record.type) {
    case 'assistant':
      return 'assistant';
    case 'system':
      return record.subtype === 'compact_boundary'
        ? 'boundary'
        : record.subtype === 'local_command'
          ? localPartOf(stringAt(record, 'content') ?? '')
          : 'quiet';
    case 'attachment':
      return renderedOf(record) ? 'attachment' : 'quiet';
    case 'user':
      return userPartOf(record);
    default:
      return 'quiet';
  }
}

const localPartOf = (text: string): ChainedRole => (/^\s*<(command-name|command-message|bash-input)>/.test(text) ? 'command' : 'aside');

function userPartOf(record: JsonObject): ChainedRole {
  if (record.isCompactSummary === true) return 'summary';
  const content = readContent(record);
  if (Array.isArray(content) && content.some((block) => isObject(block) && block.type === 'tool_result')) return 'result';
  const text = firstTextOf(content);
  if (isCaveat(text)) return 'command';
  if (record.isMeta === true) return 'meta';
  if (/^\s*<(command-name|command-message|bash-input)>/.test(text)) return 'command';
  if (/^\s*(<(local-command-std(out|err)|bash-std(out|err)|command-contents)>|\[Request interrupted by user)/.test(text)) return 'aside';
  return 'prompt';
}

const isCaveat = (text: string): boolean => text.startsWith('<local-command-caveat>') || text.startsWith('Caveat: The messages below were generated');

/** The first text of a message that is not a frame added by the runtime (`<ide_opened_file>`, reminders), else the first text. */
export function firstTextOf(content: unknown): string {
  if (typeof content === 'string') return content;
  if (!Array.isArray(content)) return '';
  const texts = content.flatMap((block) => (isObject(block) && block.type === 'text' && typeof block.text === 'string' ? [block.text] : []));
  return texts.find((text) => !isFrame(text)) ?? texts[0] ?? '';
}

/** Whether the text is a frame that the runtime added around a message. */
export const isFrame = (text: string): boolean => /^\s*<(ide_|system-reminder)/.test(text);

/** The author name of answers that the agent generated itself. */
export const syntheticModel = '<synthetic>';

/** The person's text on one line, without the agent's tags. */
export function writeHeadline(record: JsonObject): string | undefined {
  const content = readContent(record);
  const text = firstTextOf(content);
  if (text === '') return Array.isArray(content) && content.some((block) => isObject(block) && block.type === 'image') ? '[image]' : undefined;
  const tag = (name: string): string | undefined => new RegExp(`<${name}>([\\s\\S]*?)</${name}>`).exec(text)?.[1]?.trim();
  const command = tag('command-name') ?? tag('command-message');
  if (command !== undefined) return clip(`${command} ${tag('command-args') ?? ''}`);
  const shell = tag('bash-input');
  if (shell !== undefined) return clip(`! ${shell}`);
  const notification = /^\s*<task-notification>/.test(text) ? tag('summary') : undefined;
  return clip(notification ?? text.replace(/<(system-reminder|ide_[a-z_]+)>[\s\S]*?<\/\1>/g, ''));
}

/** A tool call that may start a subagent, with the prompt for the subagent. */
export interface AgentCall {
  readonly id: string;
  readonly prompt: string | undefined;
  readonly type: string | undefined;
}

/** The calls in the record that may start subagents. */
export function agentCallsOf(record: JsonObject): readonly AgentCall[] {
  if (record.type !== 'assistant') return [];
  return readBlocks(record).flatMap((block) => {
    if (!isObject(block) || block.type !== 'tool_use' || typeof block.id !== 'string') return [];
    return block.name === 'Task' || block.name === 'Agent'
      ? [{ id: block.id, prompt: stringAt(block.input, 'prompt'), type: stringAt(block.input, 'subagent_type') }]
      : [];
  });
}

/** The ids of the calls whose results the record holds. */
export const resultIdsOf = (record: JsonObject): readonly string[] =>
  readBlocks(record).flatMap((block) =>
    isObject(block) && block.type === 'tool_result' && typeof block.tool_use_id === 'string' ? [block.tool_use_id] : [],
  );

/** The field of a record with what other providers signed its blocks with. Stemma alone writes it; the agent keeps it and does not send it. */
export const sealsField = 'seals';
/** The names of these signatures, as the providers' APIs call them. */
export const foreignSeals: readonly string[] = ['thoughtSignature', 'encrypted_content'];

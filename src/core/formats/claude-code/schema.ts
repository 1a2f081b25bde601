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
/** The agent's id of the message. An empty id is none: it would make one message of all that have it. */
export const messageIdOf = (record: JsonObject): string | undefined => stringAt(record.message, 'id') || undefined;
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
      if (record.subtype === 'compact_boundary') return 'boundary';
      if (record.subtype !== 'local_command') return 'quiet';
      return command.test(stringAt(record, 'content') ?? '') ? 'command' : 'aside';
    case 'attachment':
      return renderedOf(record) ? 'attachment' : 'quiet';
    case 'user':
      return userPartOf(record);
    default:
      return 'quiet';
  }
}

/** A slash command or a shell line, which the agent ran itself. */
const command = /^\s*<(command-name|command-message|bash-input)>/;

function userPartOf(record: JsonObject): ChainedRole {
  if (record.isCompactSummary === true) return 'summary';
  const content = readContent(record);
  if (Array.isArray(content) && content.some((block) => isObject(block) && block.type === 'tool_result')) return 'result';
  const text = firstTextOf(content);
  if (isCaveat(text)) return 'command';
  if (record.isMeta === true) return 'meta';
  if (command.test(text)) return 'command';
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
  const name = tag('command-name') ?? tag('command-message');
  if (name !== undefined) return clip(`${name} ${tag('command-args') ?? ''}`);
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
    if (!isObject(block) || block.type !== 'tool_use' || typeof block.id !== 'string' || (block.name !== 'Task' && block.name !== 'Agent')) return [];
    return [{ id: block.id, prompt: stringAt(block.input, 'prompt'), type: stringAt(block.input, 'subagent_type') }];
  });
}

/** The id of the call that a block makes. */
export const callIn = (block: unknown): string | undefined => (isObject(block) && block.type === 'tool_use' ? stringAt(block, 'id') : undefined);
/** The id of the call whose result a block is. */
export const resultIn = (block: unknown): string | undefined =>
  isObject(block) && block.type === 'tool_result' ? stringAt(block, 'tool_use_id') : undefined;
/** The ids of the calls that the record makes. */
export const callIdsOf = (record: JsonObject): readonly string[] =>
  record.type === 'assistant' ? readBlocks(record).flatMap((block) => callIn(block) ?? []) : [];
/** The ids of the calls whose results the record holds. */
export const resultIdsOf = (record: JsonObject): readonly string[] => readBlocks(record).flatMap((block) => resultIn(block) ?? []);

/** The field of a record with what other providers signed its blocks with. Stemma alone writes it; the agent keeps it and does not send it. */
export const sealsField = 'seals';
/** The names of these signatures, as the providers' APIs call them. */
export const foreignSeals: readonly string[] = ['thoughtSignature', 'encrypted_content'];

export interface Title {
  readonly text: string;
  readonly worth: number;
}

/** The session's title. A person's title takes precedence over the agent's title, and a later title over an earlier one. */
export const titleIn = (records: readonly JsonObject[]): string | undefined => bestTitle(records.flatMap((record) => readTitle(record) ?? []));

/** The last of the titles with the highest rank. */
export function bestTitle(titles: readonly Title[]): string | undefined {
  let best: string | undefined;
  let rank = 0;
  for (const { text, worth } of titles) {
    const title = worth >= rank ? clip(text) : undefined;
    if (title === undefined) continue;
    best = title;
    rank = worth;
  }
  return best;
}

/** The field of a title by the type of its record, and its rank. */
const fields: ReadonlyMap<unknown, readonly [key: string, worth: number]> = new Map([
  ['custom-title', ['customTitle', 3]],
  ['ai-title', ['aiTitle', 2]],
  ['summary', ['summary', 1]],
]);

/** The title that the record sets. */
export function readTitle(record: JsonObject): Title | undefined {
  const [key, worth = 0] = fields.get(record.type) ?? [];
  const text = key && stringAt(record, key);
  return text === undefined ? undefined : { text, worth };
}

/** How a session goes on from another one, or in another one. An accepted plan and `/clear` begin a new file. */
export type SessionLink = { readonly from: string } | { readonly to: string } | { readonly cleared: true };

const sessionName = /^[\w.-]{1,100}$/;
const transcript = /([0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12})\.jsonl/i;

/** The link in a record; undefined for most records. */
export function linkOf(record: JsonObject, part: ChainedRole): SessionLink | undefined {
  if (part === 'prompt') {
    const text = firstTextOf(readContent(record));
    const isPlan = typeof record.planContent === 'string' || text.startsWith('Implement the following plan:');
    // The path of the session in which the plan was made is at the end.
    const from = isPlan ? transcript.exec(text.slice(-1_000))?.[1] : undefined;
    return from === undefined ? undefined : { from };
  }
  if (part === 'command')
    return /<command-name>\/(?:clear|new|reset)<\/command-name>/.test(firstTextOf(readContent(record))) ? { cleared: true } : undefined;
  const to = record.type === 'continued-in' ? stringAt(record, 'continuedInSessionId') : undefined;
  return to !== undefined && sessionName.test(to) ? { to } : undefined;
}

/** The name under which a commit of a session is found by a link. */
export function linkName(link: SessionLink, session: string | undefined): readonly string[] {
  if (session === undefined || !sessionName.test(session)) return [];
  if ('cleared' in link) return [`cleared:${session}`];
  const name = 'from' in link ? `continues:${session}:${link.from}` : `continues:${link.to}:${session}`;
  return 'from' in link && link.from === session ? [] : [name];
}

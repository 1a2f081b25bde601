import type { WritableEntry } from '../format.js';
import { callBlock } from '../shared/anthropic-blocks.js';
import { base64Of } from '../shared/groups.js';
import { textParts } from '../shared/result-parts.js';

/** A block of a message on the wire, with only the fields that this file reads. */
export type WireBlock = {
  type: string;
  text?: string;
  tool_use_id?: string;
  content?: string | WireBlock[];
  is_error?: boolean;
  [key: string]: unknown;
};
export interface WireMessage {
  role: 'user' | 'assistant';
  content: string | WireBlock[];
}

/** The agent's placeholder for a call that never got a result. */
export const interrupted =
  "[Tool call interrupted: the session ended before this call's result was recorded, so its outcome is unknown. Check whether it took effect before relying on it or running it again.]";

interface Draft {
  readonly role: 'user' | 'assistant';
  readonly id: string | undefined;
  /** True for text that the agent added outside of the conversation. It moves up to the last answer or tool result before it. */
  readonly attachment: boolean;
  readonly blocks: WireBlock[];
}

/** Whether the entry was never sent to the model. */
export const isHidden = (entry: WritableEntry): boolean => entry.marks?.includes('hidden') === true;
/** Whether the entry is a system prompt. Reminders also have the role system if the provider accepts it inside a conversation. */
export const isSystemPrompt = (entry: WritableEntry): boolean =>
  entry.role === 'system' && (!entry.marks?.includes('attachment') || entry.toolName === systemPromptType);
/** The type of a system prompt in formats that record it as a text of the agent. */
export const systemPromptType = 'system_prompt';

/**
 * The messages that Claude Code sends for these entries, established by running it (2.1.329). Entries of one answer become one message even if
 * results are between them. Reminders go before the text that a person typed after the same answer or result. A reminder after a tool result becomes
 * part of that result. Consecutive messages of one role become one, with a newline between two texts. A call without a result is dropped, or gets a
 * placeholder result if the conversation ends with it. `keepsOpen` leaves calls and results as they are.
 */
export function wireMessages(entries: readonly WritableEntry[], keepsOpen = false): WireMessage[] {
  const drafts = paired(draft(entries.filter((entry) => !isHidden(entry) && !isSystemPrompt(entry))), keepsOpen);
  return merge(reorder(drafts.flatMap(sendable))).map(({ role, blocks }) => {
    const filled = blocks.length > 1 ? blocks.filter((block) => block.type !== 'text' || block.text !== '') : blocks;
    const [only] = filled;
    return { role, content: filled.length === 1 && only?.type === 'text' ? only.text || noContent : filled };
  });
}

function draft(entries: readonly WritableEntry[]): Draft[] {
  const drafts: Draft[] = [];
  const results = new Map<string, WireBlock>();
  const answers = new Map<string, number>();
  /** The last user message without a tool result. Answers do not merge across it. */
  let barrier = -1;
  for (const entry of entries) {
    const role = entry.role === 'assistant' ? 'assistant' : 'user';
    const attachment = entry.marks?.includes('attachment') === true;
    const block = writeBlock(entry);
    if (block === undefined) continue;
    const owner = entry.role === 'tool' && entry.kind !== 'tool_result' ? results.get(entry.toolCallId ?? '') : undefined;
    if (owner) {
      addPart(owner, block);
      continue;
    }
    if (block.type === 'tool_result') results.set(block.tool_use_id ?? '', block);
    const known = entry.messageId === undefined ? -1 : (answers.get(entry.messageId) ?? -1);
    const home = known > barrier && role === 'assistant' ? drafts[known] : joinable(drafts.at(-1), role, entry.messageId, attachment);
    if (home) {
      home.blocks.push(block);
      continue;
    }
    drafts.push({ role, id: entry.messageId, attachment, blocks: [block] });
    if (role === 'assistant' && entry.messageId !== undefined) answers.set(entry.messageId, drafts.length - 1);
    if (role === 'user' && !attachment && block.type !== 'tool_result') barrier = drafts.length - 1;
  }
  return drafts;
}

/** The last message, if a block of this message must be merged into it. */
function joinable(last: Draft | undefined, role: Draft['role'], id: string | undefined, attachment: boolean): Draft | undefined {
  if (last?.role !== role || last.id !== id) return undefined;
  if (role === 'assistant') return id === undefined ? last : undefined;
  return attachment || last.attachment ? undefined : last;
}

/** Puts an image at its position in the list of the tool result, else at the end. */
function addPart(result: WireBlock, block: WireBlock): void {
  const list = typeof result.content === 'string' ? (result.content === '' ? [] : [{ type: 'text', text: result.content }]) : (result.content ?? []);
  const place = list.indexOf(absent);
  result.content = place < 0 ? [...list, block] : list.toSpliced(place, 1, block);
}
const absent: WireBlock = { type: 'absent' };

/** Pairs calls and results; each id occurs once. */
function paired(drafts: readonly Draft[], keepsOpen: boolean): Draft[] {
  const answered = new Set(drafts.flatMap(({ blocks }) => blocks.filter(isResult).map((block) => block.tool_use_id)));
  const lastWord = drafts.findLastIndex((one, at) =>
    one.role === 'user' ? !one.attachment && !one.blocks.some(isResult) : drafts.slice(at + 1).every((after) => after.role === 'user'),
  );
  const open = drafts[lastWord]?.role === 'assistant' ? (drafts[lastWord] as Draft) : undefined;
  const called = new Set<unknown>();
  const given = new Set<unknown>();
  const kept = drafts.flatMap((one): Draft[] => {
    let isOrphan = false;
    const blocks = one.blocks.filter((block) => {
      if (block.type === 'tool_use') {
        const fresh = !called.has(block.id) && (keepsOpen || one === open || answered.has(block.id as string));
        if (fresh) called.add(block.id);
        return fresh;
      }
      if (!isResult(block)) return true;
      if (Array.isArray(block.content)) block.content = block.content.filter((part) => part !== absent);
      const hasCall = keepsOpen || called.has(block.tool_use_id);
      isOrphan ||= !hasCall;
      const fresh = hasCall && !given.has(block.tool_use_id);
      if (fresh) given.add(block.tool_use_id);
      return fresh;
    });
    // A message of results without calls stays as an empty message. Second results are dropped.
    if (blocks.length === 0 && one.role === 'user') return isOrphan ? [{ ...one, blocks: [nothing()] }] : [];
    return [{ ...one, blocks }];
  });
  const unanswered = open && !keepsOpen ? open.blocks.filter((block) => block.type === 'tool_use' && !answered.has(block.id as string)) : [];
  const results = unanswered.map((block) => ({ type: 'tool_result', tool_use_id: block.id as string, content: interrupted, is_error: true }));
  return results.length === 0 ? kept : [...kept, { role: 'user', id: undefined, attachment: false, blocks: results }];
}
/** Whether the block is the result of a call. */
export const isResult = ({ type }: WireBlock): boolean => type === 'tool_result';
/** The runtime's placeholder for an empty message. */
export const noContent = '(no content)';
const nothing = (): WireBlock => ({ type: 'text', text: noContent });

/** The provider refuses answers with only white space or thinking, so they are dropped, and an empty answer is replaced. */
function sendable(one: Draft): readonly Draft[] {
  if (one.role === 'user') return [one];
  const blocks = one.blocks.filter((block) => block.type !== 'text' || (block.text ?? '').trim() !== '');
  if (blocks.some((block) => block.type !== 'thinking' && block.type !== 'redacted_thinking')) return [{ ...one, blocks }];
  return one.blocks.length > 0 && one.blocks.every((block) => block.type === 'text' && block.text === '') ? [{ ...one, blocks: [nothing()] }] : [];
}

function writeBlock(entry: WritableEntry): WireBlock | undefined {
  switch (entry.kind) {
    case 'text':
    case 'summary':
      return { type: 'text', text: entry.text ?? '' };
    case 'thinking': {
      // The provider accepts only thinking that it signed, so other thinking is not sent.
      const sealed = entry.result as { signature?: string; data?: string } | undefined;
      if (sealed?.data !== undefined) return { type: 'redacted_thinking', data: sealed.data };
      return sealed?.signature ? { type: 'thinking', thinking: entry.text ?? '', signature: sealed.signature } : undefined;
    }
    case 'tool_call':
      return callBlock(entry);
    case 'tool_result': {
      const parts = textParts(entry);
      const content = parts ? parts.map((text): WireBlock => (text === null ? absent : { type: 'text', text })) : (entry.text ?? '');
      return { type: 'tool_result', tool_use_id: entry.toolCallId ?? '', content, ...(entry.isError ? { is_error: true } : {}) };
    }
    case 'image': {
      if (!entry.media) return isBlock(entry.result) ? entry.result : { type: 'text', text: entry.text ?? '[image]' };
      const { mediaType } = entry.media;
      const source = { type: 'base64', media_type: mediaType, data: base64Of(entry.media) };
      return { type: mediaType.startsWith('image/') ? 'image' : 'document', source };
    }
    case 'event':
      return isBlock(entry.result) ? entry.result : undefined;
  }
}
const isBlock = (value: unknown): value is WireBlock => typeof value === 'object' && value !== null && typeof (value as WireBlock).type === 'string';

/** Within consecutive user messages, the texts of the agent come first. */
function reorder(drafts: readonly Draft[]): Draft[] {
  const ordered: Draft[] = [];
  let run: Draft[] = [];
  const flush = (): void => {
    ordered.push(...run.filter((one) => one.attachment), ...run.filter((one) => !one.attachment));
    run = [];
  };
  for (const one of drafts) {
    if (one.role === 'assistant' || one.blocks.some(isResult)) {
      flush();
      ordered.push(one);
    } else run.push(one);
  }
  flush();
  return ordered;
}

function merge(drafts: readonly Draft[]): readonly Draft[] {
  const merged: Merged[] = [];
  let openAttachment: string | undefined;
  for (const one of drafts) {
    const last = merged.at(-1);
    // The parts of an attachment directly after an answer stay separate, because the agent merges them into a user message but not into each other.
    const apart = one.attachment && openAttachment !== undefined && one.id === openAttachment;
    if (!last || last.role !== one.role || apart) {
      openAttachment = one.attachment ? one.id : undefined;
      const fresh: Merged = { ...one, blocks: [], results: 0 };
      add(fresh, one.blocks);
      merged.push(fresh);
      continue;
    }
    if (!one.attachment || one.id !== openAttachment) openAttachment = undefined;
    if (one.attachment) addReminder(last, one.blocks);
    else {
      if (one.role === 'user' && last.id !== undefined && one.id !== undefined && one.blocks[0]?.type === 'text') endText(last.blocks.at(-1));
      add(last, one.blocks);
    }
  }
  return merged;
}

interface Merged extends Draft {
  /** The number of leading blocks that are results. */
  results: number;
}

/** Adds blocks; results come before all other blocks of the message. */
function add(message: Merged, blocks: readonly WireBlock[]): void {
  for (const block of blocks) {
    if (!isResult(block)) message.blocks.push(block);
    else if (message.results === message.blocks.length) message.results = message.blocks.push(block);
    else message.blocks.splice(message.results++, 0, block);
  }
}

/** The agent ends a text with a newline if a separately written text follows. */
function endText(block: WireBlock | undefined): void {
  if (block?.type === 'text') block.text = `${block.text}\n`;
}

function addReminder(message: Merged, added: readonly WireBlock[]): void {
  const last = message.blocks.at(-1);
  if (last?.type !== 'tool_result' || !added.every((block) => block.type === 'text')) {
    add(message, added);
    return;
  }
  if (!Array.isArray(last.content)) {
    const texts = added.map((block) => (block.text ?? '').trim());
    last.content = [last.content ?? '', ...texts].filter((text) => text !== '').join('\n\n');
    return;
  }
  for (const block of added) {
    endText(last.content.at(-1));
    last.content.push(block);
  }
}

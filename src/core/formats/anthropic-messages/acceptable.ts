import { isObject, type Json, stringAt, wellFormed } from '../../base/index.js';
import { leftOutImage, maxImageBytes } from '../shared/losses.js';
import { interrupted, isResult, noContent, type WireBlock, type WireMessage } from './write-messages.js';

/**
 * The messages without what the Messages API refuses: results follow their calls in the next message, no text is empty or holds half of a character,
 * no image is too large, and in a whole conversation a person speaks first. Messages that the API accepts stay as they are.
 */
export function acceptable(messages: readonly WireMessage[], isWhole: boolean): readonly WireMessage[] {
  const whole = messages.map((message): WireMessage => withoutLarge(wellFormed(message as unknown as Json) as unknown as WireMessage));
  if (isAccepted(whole, isWhole)) return whole;
  const results = new Map<string, WireBlock>();
  for (const block of whole.flatMap(readBlocks))
    if (isResult(block) && !results.has(block.tool_use_id ?? '')) results.set(block.tool_use_id ?? '', block);
  const made: { readonly role: WireMessage['role']; readonly blocks: WireBlock[] }[] = [];
  const put = (role: WireMessage['role'], blocks: readonly WireBlock[]): void => {
    const last = made.at(-1);
    if (last?.role === role) last.blocks.push(...blocks);
    else made.push({ role, blocks: [...blocks] });
  };
  for (const message of whole) {
    const blocks = readBlocks(message).filter((block) => !isResult(block) && !isEmpty(block));
    if (blocks.length === 0) continue;
    if (isWhole && message.role === 'assistant' && made.length === 0) put('user', [{ type: 'text', text: noContent }]);
    put(message.role, blocks);
    const calls = message.role === 'assistant' ? blocks.filter(isCall).map(({ id }) => id as string) : [];
    const answers = calls.map((id) => results.get(id) ?? unanswered(id));
    if (answers.length > 0) put('user', answers);
  }
  return made.map(({ role, blocks }) => ({ role, content: blocks }));
}

const readBlocks = ({ content }: WireMessage): readonly WireBlock[] => (typeof content === 'string' ? [{ type: 'text', text: content }] : content);
const isCall = ({ type }: WireBlock): boolean => type === 'tool_use';
const isEmpty = ({ type, text }: WireBlock): boolean => type === 'text' && (text ?? '').trim() === '';
const unanswered = (id: string): WireBlock => ({ type: 'tool_result', tool_use_id: id, content: interrupted, is_error: true });

const withoutLarge = (message: WireMessage): WireMessage =>
  typeof message.content === 'string' ? message : { ...message, content: message.content.map(smallBlock) };
function smallBlock(block: WireBlock): WireBlock {
  if (Array.isArray(block.content)) return { ...block, content: block.content.map(smallBlock) };
  const size = block.type === 'image' && isObject(block.source) ? (stringAt(block.source, 'data')?.length ?? 0) : 0;
  return size > maxImageBytes ? { type: 'text', text: leftOutImage } : block;
}

function isAccepted(messages: readonly WireMessage[], isWhole: boolean): boolean {
  if (isWhole && messages[0] && messages[0].role !== 'user') return false;
  return messages.every((message, at) => {
    const blocks = readBlocks(message);
    if (blocks.length === 0 || blocks.some(isEmpty)) return false;
    const calls = new Set(message.role === 'assistant' ? blocks.filter(isCall).map(({ id }) => id) : []);
    const next = at + 1 < messages.length ? readBlocks(messages[at + 1] as WireMessage) : [];
    const before = at > 0 ? readBlocks(messages[at - 1] as WireMessage) : [];
    return (
      [...calls].every((id) => next.some((block) => isResult(block) && block.tool_use_id === id)) &&
      blocks.filter(isResult).every((result) => before.some((block) => isCall(block) && block.id === result.tool_use_id))
    );
  });
}

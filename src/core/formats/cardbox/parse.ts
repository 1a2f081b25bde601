import { defined, type EntryKey, isObject, type JsonObject, parseJson, stringAt, type Timestamp } from '../../base/index.js';
import { type Kind, kinds, type Role, roles } from '../../contract/index.js';
import type { ParsedEntry } from '../format.js';
import { answered, pictured, type UnplacedEntry } from '../shared/drafts.js';
import { countTokens } from '../shared/tokens.js';
import type { CardLine } from './schema.js';
import { spacedJson, textOfContent } from './schema-texts.js';

/** Types that make no message, because tools and parameters are sent in separate fields. */
const besideMessages = ['sys.tools', 'sys.parameters'];

/** The entries of cards, in order. A `tool.call` card is skipped where a thought already carries its call. */
export function entriesOfCards(cards: readonly CardLine[]): ParsedEntry[] {
  const carried = new Set(cards.flatMap((card) => (card.toolCalls ?? []).flatMap((call) => stringAt(call, 'id') ?? [])));
  return cards.flatMap((card) => {
    const type = stringAt(card.metadata, 'type') ?? '';
    const drafts = draftEntries(card, type, carried);
    const kept = card.metadata.entry_result;
    return drafts.map((draft, index): ParsedEntry => {
      const marks = [...(draft.marks ?? []), ...marksOf(card.metadata), ...(writtenByAgent(card) ? ['agent'] : [])];
      return {
        key: (card.entryKeys?.[index] ?? `${card.cardId}.${index}`) as EntryKey,
        ...draft,
        ...(kept !== undefined && index === 0 && { result: kept }),
        ...(card.createdAt !== undefined && { at: card.createdAt as Timestamp }),
        author: card.authorId,
        messageId: stringAt(card.metadata, 'message_id') ?? card.cardId,
        ...(marks.length > 0 && { marks }),
      };
    });
  });
}

function draftEntries(card: CardLine, type: string, carried: ReadonlySet<string>): UnplacedEntry[] {
  const role = readRole(card.metadata, type);
  if (besideMessages.includes(type)) return [{ role, kind: 'event', text: textOfContent(card.content), tokens: 0, marks: ['hidden'] }];
  if (card.toolCalls?.length) {
    const text = textOfContent(card.content);
    return [...(text === '' ? [] : [plain(role, kindOf(card) ?? 'text', text)]), ...card.toolCalls.map(readCall)];
  }
  if (type === 'tool.call') {
    const call = standaloneCall(card);
    return [card.toolCallId !== undefined && carried.has(card.toolCallId) ? { ...call, marks: ['hidden'] } : call];
  }
  const image = imageOf(card, role);
  if (image) return [image];
  if (card.toolCallId !== undefined) return [readResult(card)];
  return [plain(role, kindOf(card) ?? 'text', textOfContent(card.content))];
}

const plain = (role: Role, kind: Kind, text: string): UnplacedEntry => ({ role, kind, text, tokens: countTokens(text) });

const marksOf = (metadata: JsonObject): string[] =>
  Array.isArray(metadata.marks) ? metadata.marks.filter((mark): mark is string => typeof mark === 'string') : [];

/** Whether an agent wrote the card in a turn. Its author is then the agent, not a model. */
const writtenByAgent = ({ metadata }: CardLine): boolean => metadata.agent_turn_id !== undefined && !marksOf(metadata).includes('agent');

const readRole = (metadata: JsonObject, type: string): Role =>
  roles.find((role) => role === metadata.role) ?? (type === 'tool.result' ? 'tool' : 'user');

const kindOf = ({ metadata }: CardLine): Kind | undefined => kinds.find((kind) => kind === metadata.entry_kind);

/** A call in a provider's shape, `{id, function: {name, arguments}}`, or flat. */
function readCall(call: JsonObject): UnplacedEntry {
  const inner = isObject(call.function) ? call.function : call;
  const given = inner.arguments ?? inner.input ?? inner.args;
  return callDraft(stringAt(inner, 'name') ?? 'unknown', stringAt(call, 'id'), typeof given === 'string' ? (parseJson(given) ?? given) : given);
}

function standaloneCall(card: CardLine): UnplacedEntry {
  const data = card.content.kind === 'json' ? card.content.data : {};
  return callDraft(stringAt(data, 'tool_name') ?? 'unknown', card.toolCallId, isObject(data) ? data.arguments : undefined);
}

const callDraft = (toolName: string, toolCallId: string | undefined, args: unknown): UnplacedEntry => ({
  role: 'assistant',
  kind: 'tool_call',
  toolName,
  ...defined({ toolCallId, arguments: args }),
  tokens: countTokens(toolName) + (args === undefined ? 0 : countTokens(JSON.stringify(args))),
});

/** Reads a result from its envelope `{status, result?, error?}`. Any other content is the result itself. */
function readResult(card: CardLine): UnplacedEntry {
  const data = card.content.kind === 'json' ? card.content.data : undefined;
  const status = stringAt(data, 'status');
  const isError = status !== undefined && status !== 'success';
  const result: unknown = status === undefined || !isObject(data) ? undefined : isError ? { error: data.error ?? null } : data.result;
  const text =
    status === undefined
      ? textOfContent(card.content)
      : isError
        ? errorText(data)
        : typeof result === 'string'
          ? result
          : result == null
            ? ''
            : spacedJson(result);
  return answered(card.toolCallId, text, {
    ...defined({ toolName: stringAt(card.metadata, 'function_name') }),
    ...(typeof result === 'object' && result !== null && !isError && { result }),
    ...(isError && { isError }),
  });
}

/** An error that was a single text stays a text. */
function errorText(data: unknown): string {
  const error = isObject(data) ? data.error : undefined;
  const message = stringAt(error, 'message');
  return stringAt(error, 'code') === 'tool_error' && message !== undefined ? (stringAt(data, 'result') ?? message) : spacedJson({ error });
}

function imageOf(card: CardLine, role: Role): UnplacedEntry | undefined {
  if (kindOf(card) !== 'image' || card.content.kind !== 'json') return undefined;
  const mediaType = stringAt(card.content.data, 'media_type');
  const data = stringAt(card.content.data, 'data');
  if (mediaType === undefined || data === undefined) return undefined;
  return pictured(role, { mediaType, base64: data }, defined({ toolCallId: card.toolCallId }));
}

import { canonicalJson, isObject, type JsonObject, stringAt } from '../../base/index.js';
import { idOf, isContext, isThought, readCalls, readParts, readSpokenText } from './schema.js';

/** Whether a person or the model wrote the message. */
export const isSpoken = ({ type }: JsonObject): boolean => type === 'user' || type === 'gemini';

/** A message with the text by which histories are compared. */
export interface SentMessage {
  readonly message: JsonObject;
  /** The text that the model gets, in a form that does not depend on the recording; empty if it gets nothing. Computed on demand. */
  readonly sentText: () => string;
}

/** The message with its text for comparisons. */
export function sent(message: JsonObject): SentMessage {
  let text: string | undefined;
  return {
    message,
    sentText: () => {
      text ??= sentTextOf(message);
      return text;
    },
  };
}

/** The messages that the model gets. */
export const sentOf = (messages: readonly JsonObject[]): readonly SentMessage[] => messages.map(sent).filter(({ sentText }) => sentText() !== '');

function sentTextOf(message: JsonObject): string {
  if (!isSpoken(message) || isContext(message)) return '';
  const parts = readParts(message.content).filter((part) => !isThought(part));
  const calls = new Set(
    [...parts.flatMap(({ functionCall }) => (isObject(functionCall) ? [functionCall] : [])), ...readCalls(message)].map(
      (call) => stringAt(call, 'id') ?? '',
    ),
  );
  const others = parts.filter((part) => part.text === undefined && part.functionCall === undefined);
  const text = readSpokenText(message);
  if (text === '' && calls.size === 0 && others.length === 0) return '';
  return canonicalJson([idOf(message), text, [...calls], others]);
}

/** The number of first messages that both histories share. */
export function commonLength(a: readonly Pick<SentMessage, 'sentText'>[], b: readonly Pick<SentMessage, 'sentText'>[]): number {
  let at = 0;
  while (at < a.length && at < b.length && a[at]?.sentText() === b[at]?.sentText()) at++;
  return at;
}

/** Whether the later line only adds calls to the earlier line. */
export const isMore = (before: JsonObject, after: JsonObject): boolean =>
  after.type === 'gemini' && readCalls(before).length === 0 && readCalls(after).length > 0 && readSpokenText(before) === readSpokenText(after);

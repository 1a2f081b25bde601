import type { History } from '../../contract/index.js';

/** The beginning of a message before the window. */
export interface EarlierMessage {
  readonly name: string;
  readonly text: string;
}

/** The number of messages that a summary quotes from each end. */
export const quotedAtEachEnd = 3;

/** A summary of the messages before the window, made of the first and the last of them. Undefined without such messages. */
export function summarizeEarlier(count: number, first: readonly EarlierMessage[], last: readonly EarlierMessage[]): History['summary'] {
  if (count === 0) return undefined;
  const gap = count > first.length + last.length ? ['…'] : [];
  const rest = last.slice(Math.max(0, first.length + last.length - count));
  return { messages: count, text: [...first.map(quoteOf), ...gap, ...rest.map(quoteOf)].join(' | ') };
}

const quoteOf = ({ name, text }: EarlierMessage): string => {
  const line = text.slice(0, 1_000).replace(/\s+/g, ' ').trim();
  return `${name}: ${Array.from(line).length > 80 ? `${Array.from(line).slice(0, 80).join('')}…` : line}`;
};

import type { History } from '../../contract/index.js';

/** A message that fell out of the window, as far as its summary says it. */
export interface FallenMessage {
  readonly name: string;
  readonly text: string;
}

/** How many messages of each end a summary quotes. */
export const quotedAtEachEnd = 3;

/** What stands for messages before the window, in their own words: how it began and how it went on just before. */
export function summaryOf(count: number, firstOnes: readonly FallenMessage[], lastOnes: readonly FallenMessage[]): History['summary'] {
  if (count === 0) return undefined;
  const gap = count > firstOnes.length + lastOnes.length ? ['…'] : [];
  const last = lastOnes.slice(Math.max(0, firstOnes.length + lastOnes.length - count));
  return { messages: count, text: [...firstOnes.map(words), ...gap, ...last.map(words)].join(' | ') };
}

const words = ({ name, text }: FallenMessage): string => {
  const line = text.slice(0, 1_000).replace(/\s+/g, ' ').trim();
  return `${name}: ${Array.from(line).length > 80 ? `${Array.from(line).slice(0, 80).join('')}…` : line}`;
};

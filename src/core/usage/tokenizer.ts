import { stringAt } from '../base/index.js';
import type { ParsedEntry } from '../formats/index.js';

type CountTokens = (text: string, options: { disallowedSpecial: Set<string> }) => number;
let countText: CountTokens | undefined;
/** Whether a question is tried that can wait for the tokenizer. */
let canWait = false;

class TokenizerNeeded extends Error {
  override readonly name = 'TokenizerNeeded';
}

/** Loads the tokenizer of OpenAI's models, which is large. Call it before work that measures contents. */
export async function loadTokenizer(): Promise<void> {
  countText ??= (await import('gpt-tokenizer/encoding/o200k_base')).countTokens;
}

/** Answers a question that divides a window into parts. The tokenizer is loaded only if not all parts are measured yet. */
export async function withTokenizer<Answer>(answer: () => Answer): Promise<Answer> {
  canWait = true;
  try {
    return answer();
  } catch (error) {
    if (!(error instanceof TokenizerNeeded)) throw error;
  } finally {
    canWait = false;
  }
  await loadTokenizer();
  return answer();
}

/** Whether contents are measured with the tokenizer: it is loaded, or will be if one must be measured. */
export const hasTokenizer = (): boolean => countText !== undefined || canWait;

/** Longer texts are counted in pieces, because the time of one piece grows faster than its length. */
const pieceLength = 20_000;
/** Special tokens in a transcript are text. */
const options = { disallowedSpecial: new Set<string>() };

/** The end of a piece: between two words, because no token crosses that boundary; in a text without words, anywhere. */
function endOfPiece(text: string, from: number): number {
  const end = from + pieceLength;
  if (end >= text.length) return text.length;
  for (let at = end; at > end - 1_000; at--) if (/^[a-z] [a-z]$/i.test(text.slice(at - 1, at + 2))) return at;
  return end;
}

/** The tokens of a text by the tokenizer of OpenAI's models: exact for their plain text, and a measure of size for others. */
function countTokensExactly(text: string): number {
  if (!countText && canWait) throw new TokenizerNeeded('a content is not measured yet');
  if (!countText) return Math.ceil(Buffer.byteLength(text) / 4);
  let tokens = 0;
  for (let from = 0; from < text.length; ) {
    const end = endOfPiece(text, from);
    tokens += countText(text.slice(from, end), options);
    from = end;
  }
  return tokens;
}

/** The measures of entries. Each measure has its own factor. */
export const measures = ['system', 'user', 'assistant', 'thinking', 'signature', 'call', 'result', 'image', 'calls', 'results', 'replies'] as const;
export type Measure = (typeof measures)[number];
export type Measures = Partial<Record<Measure, number>>;

/** Adds measures to a sum, and returns it. */
export function addMeasures(sum: Measures, added: Measures, sign: 1 | -1 = 1): Measures {
  for (const [name, size] of Object.entries(added) as [Measure, number][]) sum[name] = (sum[name] ?? 0) + sign * size;
  return sum;
}

/** The tokens of an image of unknown size. */
const imageTokens = 1_500;

/** The sizes of one entry. */
export function measuresOf({ role, kind, text = '', toolName = '', arguments: given, result, marks }: ParsedEntry): Measures {
  switch (kind) {
    case 'tool_call':
      return { call: countTokensExactly(toolName + (typeof given === 'string' ? given : JSON.stringify(given ?? {}))), calls: 1 };
    case 'tool_result':
      return { result: countTokensExactly(text), results: 1 };
    case 'thinking':
      return { thinking: countTokensExactly(text), signature: Math.ceil(sealOf(result) / 4) };
    case 'image':
      return { image: imageTokens };
    case 'event':
      return { system: text === '' ? 0 : countTokensExactly(text) };
    case 'summary':
      return { user: countTokensExactly(text) };
    case 'text':
      if (role === 'assistant') return { assistant: countTokensExactly(text) };
      return role === 'system' || marks?.includes('meta') ? { system: countTokensExactly(text) } : { user: countTokensExactly(text) };
  }
}

/** The length of encrypted thinking, which only the provider can read. */
const sealOf = (result: unknown): number => (stringAt(result, 'signature') ?? '').length + (stringAt(result, 'data') ?? '').length;

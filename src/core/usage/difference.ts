import { isObject, type Json } from '../base/index.js';
import type { ReadChain } from '../chain/index.js';
import type { UsageCache } from '../contract/index.js';
import { getRequest } from '../requests/index.js';

/** The number of characters to show before and after the first difference. */
const shown = { before: 24, after: 120 };

/** The text at a place of two requests, from a little before its first difference on. */
export function differingText(chain: ReadChain, a: string, b: string, path: string): NonNullable<UsageCache['brokenText']> {
  const [before, after] = [textAt(getRequest(chain, a).body as Json, path), textAt(getRequest(chain, b).body as Json, path)];
  let same = 0;
  while (before !== null && after !== null && same < before.length && before[same] === after[same]) same++;
  const from = before === null || after === null ? 0 : Math.max(0, same - shown.before);
  const around = (text: string | null): string | null =>
    text === null
      ? null
      : `${from > 0 ? '…' : ''}${text.slice(from, from + shown.before + shown.after)}${text.length > from + shown.before + shown.after ? '…' : ''}`.toWellFormed();
  return { before: around(before), after: around(after) };
}

/**
 * The value at a path such as `messages[2].content[0]` as text. If the body has a text in place of a list of blocks, the text counts as the first
 * block.
 */
function textAt(body: Json, path: string): string | null {
  let value: Json | undefined = body;
  for (const [name] of path.matchAll(/[^.[\]]+/g)) {
    if (typeof value === 'string' && name === '0') continue;
    value = Array.isArray(value) ? value[Number(name)] : isObject(value) && Object.hasOwn(value, name) ? value[name] : undefined;
  }
  if (value === undefined) return null;
  if (typeof value === 'string') return value;
  return isObject(value) && typeof value.text === 'string' ? value.text : JSON.stringify(value);
}

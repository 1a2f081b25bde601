import { expect, test } from 'vitest';
import type { ContextId } from '../../../src/core/base/index.js';
import { checkpoint, entries, find, type WriteChain } from '../../../src/core/chain/index.js';
import { answer, call, prompt } from '../../support/claude-lines.js';
import { emptyChain } from '../../support/project.js';

const shared = { type: 'delta', format: 'claude-code-v1', template: 'claude-code', checkpoint: 'turn_boundary' } as const;

/** A context of some turns whose stated sizes make it a long one. */
function turns(texts: readonly string[], tokenCount?: number): { readonly chain: WriteChain; readonly id: ContextId } {
  const chain = emptyChain();
  let parent: ContextId | null = null;
  for (const [n, text] of texts.entries()) {
    const lines = prompt(`u${n}`, text) + call(`c${n}`, `t${n}`, 'Grep', { pattern: `Needle${n}` }, { parent: `u${n}` }) + answer(`a${n}`, 'Done.');
    parent = checkpoint(chain, { ...shared, parent, text: lines }).id;
  }
  // Only the sum decides whether deltas are read past the cache.
  if (tokenCount !== undefined) chain.db.run('UPDATE commits SET tokenCount = ?', tokenCount);
  return { chain, id: parent as ContextId };
}

const texts = ['One apple', 'A Kelvin sign: \u212aelvin', 'tab\tand "quotes"', 'Ünder \u001b[31mred', 'İstanbul apple', 'nothing'];
const words = ['apple', 'APPLE', 'kelvin', 'istanbul', 'needle3', 'grep', 'and "quotes"', 'ünder', 'red', 'one', '3', 'absent words', 'a'];

test('[C34] a search of a long context finds what it finds in a short one', () => {
  const [short, long] = [turns(texts), turns(texts, 1_000_000)];
  for (const text of words) {
    const lower = text.toLowerCase();
    const expected = entries(short.chain, { id: short.id }).entries.flatMap((entry, at) =>
      `${entry.text ?? ''}\n${entry.toolName ?? ''}\n${JSON.stringify(entry.arguments) ?? ''}`.toLowerCase().includes(lower) ? [at] : [],
    );
    expect(find(short.chain, { id: short.id, text }).hits, text).toEqual(expected);
    expect(find(long.chain, { id: long.id, text }).hits, text).toEqual(expected);
  }
});

test('[C34] a search of a long context leaves the cache of parsed deltas as it was', () => {
  const { chain, id } = turns(texts, 1_000_000);
  chain.parsed.clear();
  const set = chain.parsed.set;
  let kept = 0;
  chain.parsed.set = (...given) => {
    kept += 1;
    set(...given);
  };
  expect(find(chain, { id, text: 'apple' }).hits).toHaveLength(2);
  expect(kept).toBe(0);
});

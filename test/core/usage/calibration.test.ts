import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { beforeAll, describe, expect, test } from 'vitest';
import { tips } from '../../../src/core/chain/index.js';
import { type CountedGrowth, fitFactors, isUsable, loadTokenizer, sizeBy, usageOfContext } from '../../../src/core/usage/index.js';
import { measuresOf } from '../../../src/core/usage/tokenizer.js';
import { holdOut } from '../../support/accuracy.js';
import { prompt, result } from '../../support/claude-lines.js';
import { reply, usage } from '../../support/counted-lines.js';
import { importInto } from '../../support/imports.js';
import { emptyChain, scratch } from '../../support/project.js';

beforeAll(loadTokenizer);

/** A repeatable number from 0 to 1. */
const numbers = (seed: number) => () => {
  seed = (Math.imul(seed, 1_664_525) + 1_013_904_223) >>> 0;
  return seed / 2 ** 32;
};

/** Growths that cost 1.3 tokens per unit of a result, 0.9 per unit of a call, and 40 per reply; every tenth has more that nobody recorded. */
function growths(seed: number): CountedGrowth[] {
  const next = numbers(seed);
  return Array.from({ length: 120 }, (_, n) => {
    const added = { result: Math.round(next() * 4_000), call: Math.round(100 + next() * 600), replies: 1 };
    return { tokens: Math.round(added.result * 1.3 + added.call * 0.9 + 40 + (n % 10 === 0 ? 2_000 : 0)), added };
  });
}

describe('the tokenizer', () => {
  // Counts that OpenAI publishes for o200k_base, the encoding of GPT-4o and later, and texts that are cut or contain special tokens.
  test.each([
    ['tiktoken is great!', 6],
    ['2 + 2 = 4', 7],
    ['antidisestablishmentarianism', 6],
    ['', 0],
    ['<|endoftext|>', 7],
  ])('[N8] counts plain text exactly: %j', (text, tokens) => {
    expect(measuresOf({ role: 'user', kind: 'text', text } as never)).toEqual({ user: tokens });
  });

  test('[N8] counts a long text exactly, although it is counted in pieces', () => {
    const text = 'hello world '.repeat(5_000);
    // Each word is a token together with the space before it; the last space is one more.
    expect(measuresOf({ role: 'user', kind: 'text', text } as never)).toEqual({ user: 10_001 });
  });
});

describe('calibration', () => {
  test('[N8] finds what content costs from growth, although some calls have unrecorded content', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 1e6 }), (seed) => {
        const factors = fitFactors(growths(seed));
        expect(factors.result).toBeCloseTo(1.3, 1);
        expect(factors.call).toBeCloseTo(0.9, 0);
        expect(Math.min(...Object.values(factors))).toBeGreaterThanOrEqual(0);
      }),
      { numRuns: 20 },
    );
  });

  test('[N8] is judged on growths that it was not fitted to', () => {
    const { growths: judged, medianError, within15 } = holdOut(growths(7));
    expect(judged).toBe(growths(7).filter(isUsable).length);
    expect(medianError).toBeLessThan(0.02);
    expect(within15).toBeGreaterThan(0.85);
  });

  test('[N8] leaves out small growths and images', () => {
    expect(isUsable({ tokens: 150, added: { result: 100 } })).toBe(false);
    expect(isUsable({ tokens: 2_000, added: { image: 1_500 } })).toBe(false);
    expect(isUsable({ tokens: 2_000, added: { result: 1_000 } })).toBe(true);
    expect(sizeBy(fitFactors([]), { result: 10, calls: 3 })).toBe(10);
  });

  test('[N8] parts of a context add up to its count, and say on what they are based', () => {
    const next = numbers(3);
    let parent: string | null = null;
    let window = 20_000;
    const lines: string[] = [];
    for (let n = 0; n < 60; n++) {
      const text = 'the queue retries a job twice before it gives up '.repeat(10 + Math.floor(next() * 60));
      const block = { type: 'tool_use', id: `t${n}`, name: 'Read', input: { file_path: `/src/file-${n}.ts` } };
      lines.push(n === 0 ? prompt('p', 'start') : result(`r${n}`, `t${n - 1}`, text, { parent }));
      window += Math.round(text.length / 3.5) + 60;
      lines.push(reply(`a${n}`, { parent: n === 0 ? 'p' : `r${n}`, block, stop: 'tool_use', usage: usage(3, window - 3, 0, 30) }));
      parent = `a${n}`;
    }
    const chain = emptyChain();
    const path = join(scratch(), 'session.jsonl');
    writeFileSync(path, lines.join(''));
    importInto(chain, path);
    const { counted, parts, notRecorded } = usageOfContext(chain, tips(chain, {})[0]?.id as never);
    expect(counted).toBe(window);
    expect(parts.reduce((sum, { tokens }) => sum + tokens, 0) + (notRecorded ?? 0)).toBe(window);
    expect(new Set(parts.map(({ basis }) => basis))).toEqual(new Set(['calibrated']));
    // The system prompt and tools, which no record contains, had 20,000 tokens.
    expect(Math.abs((notRecorded ?? 0) - 20_000)).toBeLessThan(1_500);
  });
});

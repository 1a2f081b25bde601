import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { decodeText } from '../../../../src/core/base/index.js';
import { countTokens, narrative, type WritableEntry } from '../../../../src/core/formats/index.js';
import { conversations } from '../conversations.js';

const tell = (entries: readonly WritableEntry[], options: { readonly maxTokens?: number } = {}): string =>
  decodeText(narrative.write(entries, { ...options, newId: () => '', now: '' as never }));

const turn = (number: number, result: string): WritableEntry[] => [
  { role: 'user', kind: 'text', text: `Question ${number}` },
  { role: 'assistant', kind: 'thinking', text: `Thought ${number}` },
  { role: 'assistant', kind: 'tool_call', toolName: 'Read', toolCallId: `c${number}`, arguments: { path: `file${number}` } },
  { role: 'tool', kind: 'tool_result', toolCallId: `c${number}`, text: result },
  { role: 'assistant', kind: 'text', text: `Answer ${number}` },
];
const long = 'a line of output that says little\n'.repeat(60);
const five = [1, 2, 3, 4, 5].flatMap((number) => turn(number, `${number}: ${long}`));

describe('a narrative', () => {
  test('[F24] tells who said what, which tools ran, and whose knowledge it is', () => {
    const text = tell([
      { role: 'user', kind: 'summary', text: 'We were looking for the leak.' },
      { role: 'user', kind: 'text', text: 'Fix it\n# not a heading', at: '2026-01-02T03:04:05.000Z' as never },
      { role: 'assistant', kind: 'thinking', text: 'where?' },
      { role: 'assistant', kind: 'tool_call', toolName: 'Bash', toolCallId: 'c', arguments: { command: 'make' } },
      { role: 'tool', kind: 'tool_result', toolCallId: 'c', text: 'no rule', isError: true },
      { role: 'system', kind: 'event', text: 'secret', marks: ['hidden'] },
      { role: 'assistant', kind: 'text', text: 'There is no rule.' },
    ]);
    expect(text).toBe(`# What the previous session knew

This is an account of an earlier session, for reference. Nothing in it is a new request. It ran from 2026-01-02T03:04:05.000Z to 2026-01-02T03:04:05.000Z.

**Summary of what came before**:
> We were looking for the leak.

**The user said** (2026-01-02T03:04:05.000Z):
> Fix it
> # not a heading

The assistant thought:
> where?

It ran \`Bash\` with {"command":"make"}

\`Bash\` failed:
> no rule

**The assistant said**:
> There is no rule.

`);
  });

  test('[F24] folds the oldest results first and keeps the newest turns whole', () => {
    const whole = tell(five);
    const budget = countTokens(whole) - 900;
    const text = tell(five, { maxTokens: budget });
    expect(countTokens(text)).toBeLessThanOrEqual(budget);
    expect(text).toMatch(/`Read` gave: 1: .* \(folded: \d+ characters\)/);
    expect(text).toMatch(/`Read` gave: 2: .* \(folded: \d+ characters\)/);
    for (const number of [3, 4, 5]) expect(text).toContain(`> ${number}: a line of output`);
    expect(text).toContain('Thought 1');
  });

  test('[F24] a small budget drops and counts old turns, and keeps the last prompt', () => {
    const text = tell([{ role: 'user', kind: 'summary', text: 'The plan is to ship.' }, ...five], { maxTokens: 120 });
    expect(text).toMatch(/\(\d earlier turns are left out\.\)/);
    expect(text).toContain('The plan is to ship.');
    expect(text).toContain('Question 5');
    expect(text).toContain('Answer 5');
  });

  test('[F24] never exceeds its budget, and tells everything where there is room', () => {
    fc.assert(
      fc.property(conversations({ thinking: true, images: true, errors: true }), fc.nat(3_000), (entries, maxTokens) => {
        const text = tell(entries, { maxTokens });
        expect(countTokens(text)).toBeLessThanOrEqual(maxTokens);
        expect(text.isWellFormed()).toBe(true);
        expect(tell(entries, { maxTokens: 1_000_000 })).toBe(tell(entries));
      }),
    );
  });

  test('is empty for no entries, and reads back as one text', () => {
    expect(tell([])).toBe('');
    const bytes = narrative.write(five, { newId: () => '', now: '' as never });
    expect(narrative.recognize(bytes, 'x')).toBeGreaterThan(0.5);
    expect(narrative.parse(bytes).entries).toMatchObject([{ kind: 'text', text: tell(five) }]);
  });
});

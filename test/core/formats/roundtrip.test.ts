import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { EntryKey, Timestamp } from '../../../src/core/base/index.js';
import { type Fact, type Format, factsOf, formats, lossesOf, type WritableEntry } from '../../../src/core/formats/index.js';

/** Turns as people and models have them, with all that an entry can say. */
const words = fc.oneof(
  fc.string({ unit: 'grapheme', minLength: 1, maxLength: 40 }).filter((text) => text.trim() !== '' && text.trim() === text),
  fc.constantFrom(
    'naïve 日本語 🧑‍🚀',
    'line\nline',
    '</script><b>',
    '{"json": true}',
    'a "quoted" \\ word',
    '#!/bin/sh',
    '<system-reminder>x</system-reminder>',
  ),
);
const json = fc
  .dictionary(
    fc.string({ minLength: 1, maxLength: 8 }).filter((key) => key !== '__proto__'),
    fc.jsonValue({ maxDepth: 2 }),
    { maxKeys: 4 },
  )
  // JSON writes no negative nought.
  .map((value) => JSON.parse(JSON.stringify(value)) as Record<string, unknown>);
const bytes = fc.uint8Array({ minLength: 1, maxLength: 12 });
const turn = fc.record({
  prompt: words,
  picture: fc.option(bytes, { freq: 4 }),
  thought: fc.option(fc.record({ text: words, isSigned: fc.boolean() })),
  answer: fc.option(words),
  calls: fc.array(
    fc.record({
      name: fc.constantFrom('Read', 'Bash', 'mcp__x__y'),
      input: json,
      output: fc.oneof(words, fc.constant('')),
      failed: fc.boolean(),
      picture: fc.option(bytes, { freq: 4 }),
      data: fc.option(json, { freq: 4 }),
    }),
    { maxLength: 3 },
  ),
  last: words,
});
const conversation = fc
  .record({ system: fc.option(words, { freq: 3 }), summary: fc.option(words, { freq: 4 }), turns: fc.array(turn, { minLength: 1, maxLength: 3 }) })
  .map(({ system, summary, turns }) =>
    numbered([...(system === null ? [] : [said('system', system)]), ...(summary === null ? [] : [summed(summary)]), ...turns.flatMap(told)]),
  );

type Draft = WritableEntry;
const said = (role: 'system' | 'user', text: string): Draft => ({ role, kind: 'text', text, messageId: `${role}-0` });
const summed = (text: string): Draft => ({ role: 'user', kind: 'summary', text, messageId: 's' });
type Turn = typeof turn extends fc.Arbitrary<infer T> ? T : never;
function told({ prompt, picture, thought, answer, calls, last }: Turn, number: number): Draft[] {
  const answered = { role: 'assistant' as const, messageId: `m${number}`, author: 'model-1' };
  return [
    { role: 'user', kind: 'text', text: prompt, messageId: `u${number}`, author: 'ann' },
    ...(picture
      ? [{ role: 'user' as const, kind: 'image' as const, messageId: `u${number}`, media: { mediaType: 'image/png', bytes: picture } }]
      : []),
    ...(thought
      ? [
          {
            ...answered,
            kind: 'thinking' as const,
            text: thought.text,
            ...(thought.isSigned ? { marks: ['signed'], result: { signature: 'c2ln' } } : {}),
          },
        ]
      : []),
    ...(answer === null && calls.length > 0 ? [] : [{ ...answered, kind: 'text' as const, text: answer ?? last }]),
    ...calls.map(
      (call, at): Draft => ({ ...answered, kind: 'tool_call', toolName: call.name, toolCallId: `call_${number}_${at}`, arguments: call.input }),
    ),
    ...calls.flatMap((call, at): Draft[] => {
      const given = { role: 'tool' as const, toolCallId: `call_${number}_${at}`, toolName: call.name, messageId: `r${number}` };
      return [
        { ...given, kind: 'tool_result', text: call.output, ...(call.failed ? { isError: true } : {}), ...(call.data ? { result: call.data } : {}) },
        ...(call.picture ? [{ ...given, kind: 'image' as const, media: { mediaType: 'image/jpeg', bytes: call.picture } }] : []),
      ];
    }),
    ...(calls.length > 0 ? [{ role: 'assistant' as const, kind: 'text' as const, text: last, messageId: `n${number}`, author: 'model-1' }] : []),
  ];
}
type Keyed = WritableEntry & { readonly key: EntryKey };
/** A message is said at one time, and so are its parts. */
const numbered = (drafts: readonly Draft[]): Keyed[] =>
  drafts.map((draft, at) => {
    const first = drafts.findIndex(({ messageId }) => messageId === draft.messageId);
    return {
      ...draft,
      key: `00000000-0000-4000-8000-${String(at).padStart(12, '0')}.0` as EntryKey,
      at: new Date(Date.UTC(2026, 0, 1) + first * 1_001).toISOString() as Timestamp,
    };
  });

/** Facts without which there is no entry at all; the others are members of one. */
const entriesThemselves: readonly Fact[] = [
  'thinking',
  'unsignedThinking',
  'sealedThinking',
  'image',
  'resultImage',
  'linkedImage',
  'event',
  'block',
  'blank',
];

/** What is left of entries in a format that holds no more than these facts. */
function within(entries: readonly WritableEntry[], held: ReadonlySet<Fact>): unknown[] {
  return entries.flatMap((entry) => {
    const missing = factsOf(entry).filter((fact) => !held.has(fact));
    // A picture of a result may stand beside it, where it cannot stand in it.
    if (missing.some((fact) => entriesThemselves.includes(fact)) || (entry.kind === 'image' && !held.has('resultImage'))) return [];
    const { role, kind, text, toolName, toolCallId, arguments: input, media } = entry;
    const isSummary = kind === 'summary' && held.has('summary');
    return [
      {
        role: role === 'system' && !held.has('system') ? 'user' : role,
        kind: kind === 'summary' && !isSummary ? 'text' : kind,
        // Neighbors of one role meet with a newline, as the agent sends them (F18); no text here ends in one of its own.
        // Half a character has no bytes in UTF-8: formats that are no JSON say U+FFFD.
        text: kind === 'image' ? undefined : text?.replace(/\n$/, '').toWellFormed(),
        toolName: kind === 'tool_call' ? toolName : undefined,
        toolCallId: kind === 'tool_call' || kind === 'tool_result' ? toolCallId : undefined,
        input,
        media: media && `${media.mediaType} ${Buffer.from(media.bytes).toString('hex')}`,
        isError: kind === 'tool_result' && held.has('error') ? entry.isError === true : undefined,
        signature: kind === 'thinking' && held.has('signature') ? (entry.result as { signature?: string } | undefined)?.signature : undefined,
        data: kind === 'tool_result' && held.has('resultData') ? entry.result : undefined,
        at: held.has('time') ? entry.at : undefined,
        author: held.has(role === 'assistant' ? 'model' : 'author') && kind === 'text' && role !== 'system' ? entry.author : undefined,
      },
    ];
  });
}

let number = 0;
const options = {
  newId: () => `11111111-1111-4111-8111-${String(number++).padStart(12, '0')}`,
  now: '2026-02-01T00:00:00.000Z' as Timestamp,
  sessionId: '22222222-2222-4222-8222-222222222222',
  cwd: '/work',
};
const through = (entries: readonly WritableEntry[], format: Format): readonly WritableEntry[] => {
  const { entries: read, problems } = format.parse(format.write(entries, options));
  expect(problems).toEqual([]);
  return read.filter((entry) => !entry.marks?.includes('hidden'));
};

const conversational = formats.filter(({ tier }) => tier === 'translated');
const pairs = conversational.flatMap((a) => conversational.flatMap((b) => (a === b ? [] : [[a, b] as const])));

describe('what formats say of themselves', () => {
  test.each(conversational.map((format) => [format.id, format] as const))('[F25] %s holds what it says that it holds', (_, format) => {
    fc.assert(
      fc.property(conversation, (entries) => {
        const held = new Set(format.holds);
        expect(within(through(entries, format), held)).toEqual(within(entries, held));
      }),
      { numRuns: 12 },
    );
  });

  test.each(conversational.map((format) => [format.id, format] as const))(
    '[F25] what %s does not hold is reported, each and only that',
    (_, format) => {
      fc.assert(
        fc.property(conversation, (entries) => {
          const { losses, lossCounts } = lossesOf(entries, format);
          const missing = entries.flatMap((entry) => factsOf(entry).filter((fact) => !format.holds.includes(fact)));
          expect(losses.length).toBe(missing.length);
          expect(lossCounts.reduce((sum, { count }) => sum + count, 0)).toBe(missing.length);
        }),
        { numRuns: 20 },
      );
    },
  );
});

test.each(pairs.map(([a, b]) => [a.id, b.id, a, b] as const))('[F27] what is said goes through %s and %s and stays the same', (_, __, a, b) => {
  const held = new Set(a.holds.filter((fact) => b.holds.includes(fact)));
  fc.assert(
    fc.property(conversation, (entries) => {
      expect(within(through(through(entries, a), b), held)).toEqual(within(entries, held));
    }),
    { numRuns: 12 },
  );
});

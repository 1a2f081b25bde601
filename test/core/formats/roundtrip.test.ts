import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { EntryKey, Timestamp } from '../../../src/core/base/index.js';
import { type Fact, type Format, formats, listFacts, lossesOf, type WritableEntry } from '../../../src/core/formats/index.js';
import { chatlog } from './skeleton/chatlog.js';

/** Realistic turns with every fact that an entry can hold. */
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
  // F34 decides what becomes of -0.
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
/** All parts of a message have one time. */
const numbered = (drafts: readonly Draft[]): Keyed[] =>
  drafts.map((draft, at) => {
    const first = drafts.findIndex(({ messageId }) => messageId === draft.messageId);
    return {
      ...draft,
      key: `00000000-0000-4000-8000-${String(at).padStart(12, '0')}.0` as EntryKey,
      at: new Date(Date.UTC(2026, 0, 1) + first * 1_001).toISOString() as Timestamp,
    };
  });

/** Facts that are whole entries. The others are fields of one. */
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

/** The part of the entries that a format with these facts keeps. */
function within(entries: readonly WritableEntry[], held: ReadonlySet<Fact>): unknown[] {
  return entries.flatMap((entry) => {
    const missing = listFacts(entry).filter((fact) => !held.has(fact));
    // An image of a result becomes an image beside it where the result cannot hold one.
    if (missing.some((fact) => entriesThemselves.includes(fact)) || (entry.kind === 'image' && !held.has('resultImage'))) return [];
    const { role, kind, text, toolName, toolCallId, arguments: input, media } = entry;
    const isSummary = kind === 'summary' && held.has('summary');
    return [
      {
        role: role === 'system' && !held.has('system') ? 'user' : role,
        kind: kind === 'summary' && !isSummary ? 'text' : kind,
        // Messages of one role are joined with a newline, as the agent sends them (F18). No text here ends in a newline of its own. F34
        // decides about lone surrogates.
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

// The skeleton of docs/add-a-format.md keeps the same rules.
const conversational = [...formats, chatlog].filter(({ tier }) => tier === 'translated');
/** Formats that share the writer of another one, which is tested for them. */
const sharing = new Set(['vscode-chat-v1', 'cursor-v1', 'otlp-v1', 'inspect-eval-v1', 'kilo-v1', 'openclaw-v1']);
const writers = conversational.filter(({ id }) => !sharing.has(id));
const pairs = writers.flatMap((a) => writers.flatMap((b) => (a === b ? [] : [[a, b] as const])));

describe('the facts that formats hold', () => {
  test.each(conversational.map((format) => [format.id, format] as const))('[F25] %s holds the facts that it lists', (_, format) => {
    fc.assert(
      fc.property(conversation, (entries) => {
        const held = new Set(format.holds);
        expect(within(through(entries, format), held)).toEqual(within(entries, held));
      }),
      { numRuns: 12 },
    );
  });

  test.each(conversational.map((format) => [format.id, format] as const))('[F25] every fact that %s loses is reported, and no other', (_, format) => {
    fc.assert(
      fc.property(conversation, (entries) => {
        const { losses, lossCounts } = lossesOf(entries, format);
        const missing = entries.flatMap((entry) => listFacts(entry).filter((fact) => !format.holds.includes(fact)));
        expect(losses.length).toBe(missing.length);
        expect(lossCounts.reduce((sum, { count }) => sum + count, 0)).toBe(missing.length);
      }),
      { numRuns: 20 },
    );
  });
});

/**
 * The formats that write texts, and those that write arguments, as CBOR strings. All others write JSON, which can escape a lone surrogate.
 * The requests of APIs hold none, because the APIs refuse it.
 */
const textsInCbor = ['bureau-agent-v1', 'events-v1', 'cardbox-v1'];
const argumentsInCbor = ['cardbox-v1'];

test.each(conversational.map((format) => [format.id, format] as const))(
  '[F34] %s reads -0 as 0 and decides lone surrogates by its encoding',
  (id, format) => {
    const call: Draft = {
      role: 'assistant',
      kind: 'tool_call',
      toolName: 'Tool',
      toolCallId: 'c',
      messageId: 'm',
      arguments: { zero: -0, list: [-0], half: 'a\ud800b', '\udc00': 1 },
    };
    const encoded = (text: string, inCbor: readonly string[]): string => (format.isRequest || inCbor.includes(id) ? text.toWellFormed() : text);
    const read = through(numbered([said('user', 'half \udc00 of a pair'), call]), format);
    expect(read.find(({ role }) => role === 'user')?.text).toBe(encoded('half \udc00 of a pair', textsInCbor));
    const half = encoded('a\ud800b', argumentsInCbor);
    expect(read.find(({ kind }) => kind === 'tool_call')?.arguments).toEqual({ zero: 0, list: [0], half, [encoded('\udc00', argumentsInCbor)]: 1 });
  },
);

test.each(pairs.map(([a, b]) => [a.id, b.id, a, b] as const))('[F27] a conversation stays the same through %s and %s', (_, __, a, b) => {
  const held = new Set(a.holds.filter((fact) => b.holds.includes(fact)));
  fc.assert(
    fc.property(conversation, (entries) => {
      expect(within(through(through(entries, a), b), held)).toEqual(within(entries, held));
    }),
    { numRuns: 12 },
  );
});

import fc from 'fast-check';
import type { WritableEntry } from '../../../src/core/formats/index.js';

/** The facts of a conversation, without what single formats add to an entry. */
export const facts = (entries: readonly WritableEntry[]): unknown =>
  entries.map(({ role, kind, text, toolName, toolCallId, arguments: input, isError, media }) => ({
    role,
    kind,
    text,
    toolName,
    toolCallId,
    input,
    isError,
    media: media && `${media.mediaType} ${Buffer.from(media.bytes).toString('hex')}`,
  }));

export interface Shape {
  readonly thinking: boolean;
  readonly images: boolean;
  readonly errors: boolean;
}

const words = fc.string({ unit: 'grapheme', minLength: 1 }).filter((text) => text.trim() !== '');
/** Any JSON that a writer keeps unchanged. F34 decides about -0 and lone surrogates and has tests of its own. */
const input = fc
  .dictionary(
    fc.string({ minLength: 1 }).filter((key) => key !== '__proto__'),
    fc.jsonValue(),
  )
  .map((value) => JSON.parse(JSON.stringify(value)) as Record<string, unknown>);

/** Realistic conversations: answers of several parts, parallel calls, results in order, images in results. */
export const conversations = ({ thinking, images, errors }: Shape): fc.Arbitrary<readonly WritableEntry[]> =>
  fc
    .array(
      fc.record({
        prompt: words,
        thought: thinking ? fc.option(words) : fc.constant(null),
        answer: words,
        calls: fc.array(
          fc.record({
            input,
            result: fc.string({ unit: 'grapheme' }),
            failed: errors ? fc.boolean() : fc.constant(false),
            image: images ? fc.boolean() : fc.constant(false),
          }),
          {
            maxLength: 3,
          },
        ),
      }),
      { minLength: 1, maxLength: 5 },
    )
    .map((turns) => turns.flatMap((turn, number) => entriesOf(turn, number)));

interface Turn {
  readonly prompt: string;
  readonly thought: string | null;
  readonly answer: string;
  readonly calls: readonly { readonly input: unknown; readonly result: string; readonly failed: boolean; readonly image: boolean }[];
}

function entriesOf({ prompt, thought, answer, calls }: Turn, turn: number): WritableEntry[] {
  const said = { role: 'assistant' as const, messageId: `m${turn}` };
  return [
    { role: 'user', kind: 'text', text: prompt, messageId: `u${turn}` },
    ...(thought === null ? [] : [{ ...said, kind: 'thinking' as const, text: thought, marks: ['signed'], result: { signature: 'sig' } }]),
    { ...said, kind: 'text', text: answer },
    ...calls.map(
      (call, at): WritableEntry => ({ ...said, kind: 'tool_call', toolName: 'Tool', toolCallId: `c${turn}-${at}`, arguments: call.input }),
    ),
    ...calls.flatMap(({ result, failed, image }, at): WritableEntry[] => {
      const given = { role: 'tool' as const, toolCallId: `c${turn}-${at}`, messageId: `r${turn}-${at}` };
      const picture = { ...given, kind: 'image' as const, media: { mediaType: 'image/png', bytes: Buffer.from([1, 2, turn]) } };
      return [{ ...given, kind: 'tool_result', text: result, ...(failed ? { isError: true } : {}) }, ...(image ? [picture] : [])];
    }),
    ...(calls.length > 0 ? [{ role: 'assistant' as const, kind: 'text' as const, text: 'Done.', messageId: `n${turn}` }] : []),
  ];
}

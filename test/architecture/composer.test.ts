import { expect, test } from 'vitest';
import { filesBelow, isSource, textAt } from '../support/source.js';

/** Where code of the engine writes a system message or calls a model outside of the composer, and why it joins no prompt there. */
interface Exception {
  readonly file: string;
  readonly because: string;
}

const systemMessages: readonly Exception[] = [
  { file: 'src/core/handover/request.ts', because: 'renders the template of a profile, which the composer gets as the system prompt' },
  { file: 'src/core/handover/calls.ts', because: 'rebuilds recorded calls from their record cards' },
  { file: 'src/core/timeline/render/conversion.ts', because: 'converts a timeline to roles, which the composer gets' },
  { file: 'src/core/timeline/spaces/commit.ts', because: 'gives the blocks of a run to the composer' },
  { file: 'src/core/turns/request.ts', because: 'writes composed texts in a wire format' },
  { file: 'src/core/usage/parts.ts', because: 'measures a recorded system prompt' },
];

/** Where a provider is called. Each of them sends a body that was made of a composed or a recorded call. */
const modelCalls: readonly Exception[] = [
  { file: 'src/core/turns/reply.ts', because: 'sends a recorded call, or a composed one' },
  { file: 'src/core/runner/call.ts', because: 'sends `composedBody`' },
  { file: 'src/core/assist/ask.ts', because: 'sends `composedBody`' },
  { file: 'src/core/runner/limits.ts', because: 'passes a call on and counts it' },
  { file: 'src/core/runner/case-work.ts', because: 'passes a call on' },
];

const engine = filesBelow('src', isSource).filter((path) => !path.startsWith('src/core/composer/') && !path.startsWith('src/core/formats/'));
const withoutComments = (text: string): string => text.replace(/\/\*[\s\S]*?\*\/|\/\/.*$/gm, '');
const matching = (pattern: RegExp): string[] => engine.filter((path) => pattern.test(withoutComments(textAt(path))));

const makesSystemMessage = /role: 'system'( as const)?, (kind: 'text', text|content)/;
const callsProvider = /\b(provider|own)\.stream\(|(?<!function\* )\bheard\(/;

test('[A-38] no code outside of the composer makes a system message, but for the named files', () => {
  expect(matching(makesSystemMessage)).toEqual(systemMessages.map(({ file }) => file).sort());
});

test('[A-38] every call of a provider sends a composed or a recorded call', () => {
  expect(matching(callsProvider)).toEqual(modelCalls.map(({ file }) => file).sort());
  for (const file of ['src/core/runner/call.ts', 'src/core/assist/ask.ts']) expect(textAt(file)).toContain('composedBody(');
});

test('[A-38] only the router and `composedBody` turn messages into a body', () => {
  expect(matching(/\brequestBody\(/)).toEqual(['src/core/router/compose.ts', 'src/core/turns/request.ts']);
});

test('[A-38] no window and no process joins the texts of system messages', () => {
  const joined = engine
    .filter((path) => !path.startsWith('src/core/'))
    .filter((path) => /role === 'system'[^;]*\.join\(/.test(withoutComments(textAt(path))));
  expect(joined).toEqual([]);
});

test('these checks can fail', () => {
  expect(makesSystemMessage.test("messages.push({ role: 'system', content: rules + text })")).toBe(true);
  expect(callsProvider.test('for await (const piece of provider.stream({ body }))')).toBe(true);
});

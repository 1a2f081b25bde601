import { readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { contextEntries, tips, type WriteChain } from '../../../src/core/chain/index.js';
import { exportContext } from '../../../src/core/export/index.js';
import { pairedCalls } from '../../../src/core/formats/index.js';
import { wordsOf } from '../../../src/core/requests/index.js';
import { refusals } from '../../support/api-rules.js';
import { importInto } from '../../support/imports.js';
import { some } from '../../support/long.js';
import { emptyChain, scratch } from '../../support/project.js';
import { runs } from '../../support/properties.js';

const formats = ['anthropic-messages-v1', 'openai-chat-v1'] as const;

/** The faults of all contexts of a project in both formats. */
const faultsIn = (chain: WriteChain): string[] =>
  tips(chain, {}).flatMap(({ id }) =>
    formats.flatMap((format) => {
      const { text = '' } = exportContext(chain, { id, format });
      return refusals(format, (JSON.parse(text) as { messages: never[] }).messages).map((fault) => `${format}: ${fault}`);
    }),
  );

const words = fc.constantFrom('', ' ', 'hello', 'half \ud83d', 'nul \u0000', '日本');
const block = fc.oneof(
  words.map((text) => ({ type: 'text', text })),
  fc.record({ type: fc.constant('thinking'), thinking: words, signature: fc.constantFrom('', 'sig') }),
  fc.record({ type: fc.constant('tool_use'), id: fc.constantFrom('A', 'B', 'C'), name: fc.constant('Bash'), input: fc.record({ command: words }) }),
);
const result = fc.record({ type: fc.constant('tool_result'), tool_use_id: fc.constantFrom('A', 'B', 'C', 'Z'), content: words });
/** Messages in any order: calls without results, results without calls, results too late, empty and broken texts. */
const messages = fc.array(
  fc.oneof(
    fc.record({ role: fc.constant('assistant'), content: fc.array(block, { minLength: 1, maxLength: 3 }) }),
    fc.record({
      role: fc.constant('user'),
      content: fc.array(
        fc.oneof(
          result,
          words.map((text) => ({ type: 'text', text })),
        ),
        { minLength: 1, maxLength: 3 },
      ),
    }),
    words.map((content) => ({ role: 'user', content })),
  ),
  { minLength: 1, maxLength: 8 },
);

test('[F51] whatever a damaged history holds, a message API refuses nothing of its export', { tags: 'long' }, () => {
  fc.assert(
    fc.property(messages, (list) => {
      const lines = list.map((message, at) => {
        const more = message.role === 'assistant' ? { id: `m${at}`, model: 'm', usage: { input_tokens: 1, output_tokens: 1 } } : {};
        const links = {
          uuid: `u${at}`,
          parentUuid: at === 0 ? null : `u${at - 1}`,
          sessionId: 's',
          cwd: '/w',
          timestamp: '2026-09-01T10:00:00.000Z',
        };
        return `${JSON.stringify({ ...links, type: message.role, message: { ...message, ...more } })}\n`;
      });
      const path = join(scratchOnce(), 'a.jsonl');
      writeFileSync(path, lines.join(''));
      const chain = emptyChain();
      importInto(chain, path);
      expect(faultsIn(chain)).toEqual([]);
    }),
    { numRuns: runs(120) },
  );
});

let folder: string | undefined;
function scratchOnce(): string {
  folder ??= scratch();
  return folder;
}

const fixtures = join(import.meta.dirname, '../../fixtures');
const cases = join(fixtures, 'cases');
const foldersIn = (folder: string): string[] =>
  readdirSync(join(fixtures, folder), { withFileTypes: true }).flatMap((one) =>
    one.isDirectory() && one.name !== 'cases' ? [join(folder, one.name)] : [],
  );
/** Claude Code itself sends the reminders after a compaction as a message of its own: the API joins messages of one role (Messages API, `messages`). */
const isJoined = (name: string, fault: string): boolean => name === 'otel' && fault.endsWith('has the role of the message before it');

test.each(some([...foldersIn('cases'), ...foldersIn('.')], 30))('[F51] %s: a message API refuses nothing of its export', (name) => {
  const chain = emptyChain();
  importInto(chain, join(fixtures, name));
  expect(faultsIn(chain).filter((fault) => !isJoined(name, fault))).toEqual([]);
});

test('[F51] what an export to a message API leaves out or repairs is named', () => {
  const lost = (name: string): string[] => {
    const chain = emptyChain();
    importInto(chain, join(cases, name));
    return tips(chain, {}).flatMap(({ id }) =>
      (exportContext(chain, { id, format: 'anthropic-messages-v1' }).lossCounts ?? []).map(({ what }) => what),
    );
  };
  expect(lost('unpaired-tools')).toEqual(expect.arrayContaining(['call without a result', 'result without its call']));
  expect(lost('empty-text-block')).toEqual(expect.arrayContaining(['text without content']));
  expect(lost('lone-surrogate')).toEqual(expect.arrayContaining(['half of a character']));
});

test('[F51] a search for tools of Codex is sent with its output', () => {
  const call = { role: 'assistant', kind: 'tool_call', toolCallId: 'A', toolName: 'tool_search', arguments: { query: 'q' }, marks: ['tool_search'] };
  const result = { role: 'tool', kind: 'tool_result', toolCallId: 'A', text: 'found', marks: ['tool_search'] };
  let ids = 0;
  const list = wordsOf.responses.write([call, result] as never, { newId: () => `new-${ids++}`, now: '2026-09-03T10:00:00.000Z' as never });
  expect(list).toMatchObject([
    { type: 'function_call', call_id: 'A' },
    { type: 'function_call_output', call_id: 'A', output: 'found' },
  ]);
});

test('[F51] Gemini gets the results of parallel calls at once, also those after a reply', () => {
  const call = (toolCallId: string) => ({ role: 'assistant', kind: 'tool_call', toolCallId, toolName: 'shell', arguments: {} }) as const;
  const result = (toolCallId: string) => ({ role: 'tool', kind: 'tool_result', toolCallId, toolName: 'shell', text: `of ${toolCallId}` }) as const;
  const entries = [
    { role: 'user', kind: 'text', text: 'go' } as const,
    ...[call('A'), call('B'), result('A'), { role: 'assistant', kind: 'text', text: 'so far' } as const, call('C'), result('B'), result('C')],
  ];
  let ids = 0;
  const list = wordsOf.gemini.write(entries as never, { newId: () => `new-${ids++}`, now: '2026-09-03T10:00:00.000Z' as never });
  expect(refusals('gemini', list as never[])).toEqual([]);
  for (const id of ['A', 'B', 'C']) expect(JSON.stringify(list).split(`of ${id}`)).toHaveLength(2);
});

test('[F51] no other API is sent a call that its provider answered itself', () => {
  const chain = emptyChain();
  importInto(chain, join(cases, 'advisor-iterations'));
  const [tip] = tips(chain, {});
  const entries = pairedCalls(contextEntries(chain, { id: tip?.id as never }).map(({ entry }) => entry));
  const options = { newId: () => 'new', now: '2026-09-03T10:00:00.000Z' as never };
  for (const wire of ['responses', 'gemini'] as const) {
    const list = wordsOf[wire].write(entries, options);
    expect(JSON.stringify(list)).toContain('hard question');
    expect(refusals(wire, list as never[])).toEqual([]);
  }
});

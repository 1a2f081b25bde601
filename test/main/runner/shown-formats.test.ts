import { cpSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { ContextId } from '../../../src/core/base/index.js';
import { messageEvents, stream } from '../../support/model-server.js';
import { behindServer } from '../../support/wires.js';

const fixtures = join(import.meta.dirname, '../../fixtures');
const replies = {
  anthropic: messageEvents({ text: 'Noted.' }),
  responses: [
    { type: 'response.output_text.delta', item_id: 'm', delta: 'Noted.' },
    { type: 'response.completed', response: { status: 'completed', usage: { input_tokens: 9, output_tokens: 2 } } },
  ],
};
/** The folders of fixtures, with formats that name messages and calls, and formats that do not. */
const folders = ['cursor', 'cline', 'vscode-chat', 'otlp', 'atif', 'codex', 'gemini', 'claude-code', 'pi', 'opencode'];

describe.for(['anthropic', 'responses'] as const)('questions about contexts of every format: %s', (wire) => {
  test('[U11] after a prompt, an open call and thinking, the preview is the request', { tags: 'long', timeout: 120_000 }, async () => {
    const { client, server, folder } = await behindServer(wire, (response) => stream(response, replies[wire]));
    const formats = new Set<string>();
    for (const name of folders) {
      const dir = join(folder, name);
      cpSync(join(fixtures, name), dir, { recursive: true });
      for await (const _ of await client.import.run({ paths: [dir] }));
    }
    for (const { id, format } of await client.context.tips({})) {
      if (formats.has(format)) continue;
      formats.add(format);
      const { entries } = await client.context.entries({ id, limit: 300 });
      const cuts = [
        entries.findLast(({ role, kind }) => role === 'user' && kind === 'text'),
        entries.findLast(({ kind }) => kind === 'tool_call'),
        entries.findLast(({ kind }) => kind === 'thinking'),
      ].flatMap((entry) => (entry ? [entry.key] : []));
      const forks: ContextId[] = [id];
      for (const at of cuts) forks.push((await client.context.fork({ id, at })).id);
      for (const each of forks) {
        const asked = server.asked.length;
        const text = 'Is it "so"?\n';
        const shown = await client.compose.preview({ id: each, query: text, wire, model: 'm' });
        for await (const _ of await client.turn.ask({ id: each, text, provider: 'model', model: 'm' }));
        const { stream: _, ...body } = server.asked[asked]?.body ?? {};
        expect(body, `${format} ${forks.indexOf(each)}`).toEqual(shown.body);
        expectPaired(body);
      }
    }
    expect(formats.size).toBeGreaterThanOrEqual(9);
  });
});

/** Each call of a request has an id of its own and one result, as the providers require. */
function expectPaired(body: Record<string, unknown>): void {
  const blocks = ((body.messages ?? body.input) as { content?: unknown }[]).flatMap((message) =>
    [message, message.content].flat().filter((part): part is Record<string, string> => typeof part === 'object' && part !== null),
  );
  const calls = blocks.flatMap(({ type, id, call_id }) => (type === 'tool_use' ? [id] : type === 'function_call' ? [call_id] : []));
  const results = blocks.flatMap(({ type, tool_use_id, call_id }) =>
    type === 'tool_result' ? [tool_use_id] : type === 'function_call_output' ? [call_id] : [],
  );
  expect(new Set(calls).size).toBe(calls.length);
  expect(calls.every(Boolean)).toBe(true);
  expect(results.toSorted()).toEqual(calls.toSorted());
}

import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { atOnce } from '../../../../src/core/base/index.js';
import type { WriteChain } from '../../../../src/core/chain/index.js';
import { getRequest, listRequests, requestSeries } from '../../../../src/core/requests/index.js';
import { answer, call, prompt, result } from '../../../support/claude-lines.js';
import { importInto } from '../../../support/imports.js';
import { emptyChain, scratch } from '../../../support/project.js';
import { type Message, openWriter, type Shape } from '../../../support/request-records.js';
import { root } from '../../../support/source.js';

function imported(text: string): WriteChain {
  const path = join(scratch(), 's1.jsonl');
  writeFileSync(path, text);
  const chain = emptyChain();
  importInto(chain, path);
  return chain;
}

const text = (words: string) => ({ type: 'text', text: words });
const tokens = (words: string): number => Math.ceil(Buffer.byteLength(words) / 4);
const shape: Shape = { system: [text('You are a test. '.repeat(50))], tools: [{ name: 'Read', description: 'reads', input_schema: {} }] };

describe('what filled the window', () => {
  test('tokens of each call by cause, before and after a compaction', () => {
    const writer = openWriter('s1');
    const file = 'line of a file\n'.repeat(40);
    const output = 'all tests passed\n'.repeat(7);
    const reminder = '<system-reminder>\nbe brief\n</system-reminder>';
    const messages: Message[] = [{ role: 'user', content: [text(reminder), text('read it and test it')] }];
    writer.prompt('read it and test it');
    writer.send(shape, [...messages]);
    const uses = [
      { type: 'tool_use', id: 't1', name: 'Read', input: {} },
      { type: 'tool_use', id: 't2', name: 'Bash', input: {} },
    ];
    messages.push(writer.reply(uses), {
      role: 'user',
      content: [
        { type: 'tool_result', tool_use_id: 't1', content: file },
        { type: 'tool_result', tool_use_id: 't2', content: [text(output)] },
      ],
    });
    writer.send(shape, [...messages]);
    messages.push(writer.reply([text('Both done.')]));
    writer.restart();
    const summary = 'This session is being continued from a previous conversation that ran out of context.';
    writer.send(shape, [{ role: 'user', content: [text(summary)] }]);
    const chain = imported(writer.text());
    const points = atOnce(requestSeries(chain, {}));
    const fixed = { system: tokens(String(shape.system[0]?.text)), tools: tokens(JSON.stringify(shape.tools[0])) };
    const none = { summary: 0, reminders: 0, files: 0, results: 0 };
    const asked = tokens('read it and test it');
    const called = uses.reduce((sum, use) => sum + tokens(String(use.name)) + tokens(JSON.stringify(use.input)), 0);
    expect(points.map(({ causes }) => causes)).toEqual([
      { ...fixed, ...none, reminders: tokens(reminder), talk: asked },
      { ...fixed, ...none, reminders: tokens(reminder), files: tokens(file), results: tokens(output), talk: asked + called },
      { ...fixed, ...none, summary: tokens(summary), talk: 0 },
    ]);
    expect(points.map(({ requestId }) => requestId)).toEqual(listRequests(chain, {}).map(({ requestId }) => requestId));
  });

  test('calls that no record holds are summed from the entries before their answers', () => {
    const chain = imported(
      prompt('u1', 'list the files') +
        call('a1', 't1', 'Read', { path: 'x' }, { parent: 'u1' }) +
        result('r1', 't1', 'a file of some length', { parent: 'a1' }) +
        answer('a2', 'One file.', { parent: 'r1' }),
    );
    const points = atOnce(requestSeries(chain, { sessionId: 's1' }));
    expect(points.map(({ requestId, messageCount }) => [requestId, messageCount])).toEqual(
      listRequests(chain, {}).map(({ requestId, messageCount }) => [requestId, messageCount]),
    );
    expect(points[0]?.causes).toMatchObject({ talk: tokens('list the files'), files: 0 });
    expect(points[1]?.causes.files).toBeGreaterThan(0);
    expect(points[1]?.causes.results).toBe(0);
  });

  test.each(['subagents/codex', 'pi'])("system prompt and tools of %s's calls are counted as in the bodies", (place) => {
    const chain = emptyChain();
    importInto(chain, join(root, 'test/fixtures', place));
    const points = atOnce(requestSeries(chain, {}));
    expect(points.length).toBeGreaterThan(4);
    for (const { requestId, causes } of points) {
      const { body } = getRequest(chain, requestId);
      const list = (body.messages ?? body.input) as { role?: string; content?: { text?: string }[] }[];
      const said = list.flatMap(({ role, content }) => (role === 'developer' ? (content ?? []) : []));
      const weigh = (values: unknown): number =>
        ((values ?? []) as { text?: string }[]).reduce((sum, one) => sum + tokens(one.text ?? JSON.stringify(one)), 0);
      expect([causes.system, causes.tools]).toEqual([weigh(body.system) + weigh(said), weigh(body.tools)]);
      expect(causes.system).toBeGreaterThan(500);
    }
  });
});

import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { ContextId } from '../../../../src/core/base/index.js';
import { fork, type WriteChain } from '../../../../src/core/chain/index.js';
import { diffRequests, getRequest, listRequests, listRequestsInSteps } from '../../../../src/core/requests/index.js';
import { answer, call, prompt, result } from '../../../support/claude-lines.js';
import { door } from '../../../support/door.js';
import { importInto } from '../../../support/imports.js';
import { emptyChain, scratch } from '../../../support/project.js';
import { openWriter } from '../../../support/request-records.js';

function imported(text: string): WriteChain {
  const path = join(scratch(), 's1.jsonl');
  writeFileSync(path, text);
  const chain = emptyChain();
  importInto(chain, path);
  return chain;
}

const session =
  prompt('u1', 'list the files') +
  call('a1', 't1', 'Bash', { command: 'ls' }, { parent: 'u1' }) +
  result('r1', 't1', 'README.md', { parent: 'a1' }) +
  answer('a2', 'One file.', { parent: 'r1' }) +
  prompt('u2', 'thanks', { parent: 'a2' }) +
  answer('a3', 'Welcome.', { parent: 'u2' });

describe('calls of a history without records', () => {
  test('the calls of a long context are listed in steps, as those of one turn after another', () => {
    const turns = Array.from({ length: 100 }, (_, n) => {
      const parent = n === 0 ? null : `a${n - 1}`;
      return prompt(`u${n}`, `question ${n}`, { parent }) + answer(`a${n}`, `answer ${n}`, { parent: `u${n}` });
    });
    const chain = imported(turns.join(''));
    const steps = listRequestsInSteps(chain, { sessionId: 's1' });
    let count = 0;
    let step = steps.next();
    for (; !step.done; step = steps.next()) count += 1;
    expect(count).toBeGreaterThan(5);
    expect(step.value.requests.map(({ messageCount }) => messageCount)).toEqual(turns.map((_, n) => 2 * n + 1));
    const last = step.value.requests.at(-1);
    // Another project of the same file knows nothing of the counts above.
    const alone = imported(turns.join(''));
    expect(listRequests(alone, { id: last?.commit as ContextId }).map(({ messageCount, tokens }) => ({ messageCount, tokens }))).toEqual([
      { messageCount: last?.messageCount, tokens: last?.tokens },
    ]);
  });

  test('each answer was a call, rebuilt from the entries before it, and nothing more is claimed', () => {
    const chain = imported(session);
    const rows = listRequests(chain, { sessionId: 's1' });
    expect(rows.map(({ replyKey, proof, source, messageCount, model }) => [replyKey, proof, source, messageCount, model])).toEqual([
      ['a1.0', 'rebuilt', 'entries', 1, 'm'],
      ['a2.0', 'rebuilt', 'entries', 3, 'm'],
      ['a3.0', 'rebuilt', 'entries', 5, 'm'],
    ]);
    expect(listRequests(chain, {})).toEqual(rows);
    const got = getRequest(chain, rows[1]?.requestId ?? '');
    expect(got).toMatchObject({
      provider: 'anthropic',
      proof: 'rebuilt',
      digest: null,
      recordedDigest: null,
      missing: ['system', 'tools', 'parameters'],
    });
    expect(got.body).toEqual({
      model: 'm',
      messages: [
        { role: 'user', content: 'list the files' },
        { role: 'assistant', content: [{ type: 'tool_use', id: 't1', name: 'Bash', input: { command: 'ls' } }] },
        { role: 'user', content: [{ type: 'tool_result', tool_use_id: 't1', content: 'README.md' }] },
      ],
    });
  });

  test('what a person puts together by forking was never sent', () => {
    const chain = imported(session);
    const rows = listRequests(chain, {});
    fork(chain, {
      id: rows[0]?.commit as never,
      at: 'r1.0' as never,
      edits: [{ op: 'append', entry: { role: 'assistant', kind: 'text', text: 'made up' } }],
    });
    expect(listRequests(chain, {})).toEqual(rows);
  });

  test('an answer whose record is missing among recorded ones is rebuilt; the others stay proved', () => {
    const writer = openWriter('s1');
    const messages: { role: string; content: { type: string; text: string }[] }[] = [];
    for (const question of ['one', 'two']) {
      writer.prompt(question);
      messages.push({ role: 'user', content: [{ type: 'text', text: question }] });
      writer.send({ system: [], tools: [] }, [...messages]);
      messages.push(writer.reply([{ type: 'text', text: `answer to ${question}` }]) as never);
    }
    const lines = writer.lines.filter((line) => !(line.startsWith('{"type":"api-request"') && line.includes(writer.sent[1]?.id ?? '')));
    const rows = listRequests(imported(`${lines.join('\n')}\n`), {});
    expect(rows.map((row) => row.proof)).toEqual(['digest', 'rebuilt']);
  });

  test('they are compared as recorded ones are', () => {
    const chain = imported(session);
    const [first, second, third] = listRequests(chain, {}).map((row) => row.requestId);
    expect(diffRequests(chain, first ?? '', second ?? '')).toMatchObject({
      messages: { same: false, a: 1, b: 3, hunks: [{ op: 'same' }, { op: 'added', bCount: 2 }] },
      cache: { prefix: { messages: 1 }, brokenAt: null },
    });
    expect(diffRequests(chain, third ?? '', first ?? '').cache).toMatchObject({ prefix: { messages: 1 }, brokenAt: null });
  });

  test('an id that names nothing is not found', () => {
    const chain = imported(session);
    const [row] = listRequests(chain, {});
    for (const id of ['nobody', `call:${row?.commit}:nothing`, `call:${row?.commit}:u1.0`, 'call:ctx-ffffffffffff:a1.0'])
      expect(() => getRequest(chain, id), id).toThrow(expect.objectContaining({ code: 'NOT_FOUND' }));
  });
});

describe('real histories without records', () => {
  test('every answer of them is a rebuilt call whose messages are as many as its list says', () => {
    const chain = emptyChain();
    importInto(chain, join(import.meta.dirname, '../../../fixtures/claude-code'));
    const rows = listRequests(chain, {});
    expect(rows.length).toBeGreaterThan(60);
    let off = 0;
    for (const row of rows.filter((_, index) => index % 7 === 0)) {
      const { body, proof } = getRequest(chain, row.requestId);
      expect(proof).toBe('rebuilt');
      if ((body.messages as unknown[]).length !== row.messageCount) off += 1;
    }
    expect(off).toBe(0);
  });
});

test('[R8] request.list has pages, which together are the whole list', async () => {
  const { client, chain } = door();
  importInto(chain, join(import.meta.dirname, '../../../fixtures/pi'));
  const { total, requests } = await client.request.list({});
  expect(requests).toHaveLength(total);
  expect(total).toBeGreaterThan(3);
  const pages: unknown[] = [];
  for (let offset = 0; offset < total; offset += 2) {
    const page = await client.request.list({ offset, limit: 2 });
    expect(page.total).toBe(total);
    expect(page.requests.length).toBeLessThanOrEqual(2);
    pages.push(...page.requests);
  }
  expect(pages).toEqual(requests);
  expect(await client.request.list({ offset: total })).toEqual({ total, requests: [] });
  await expect(client.request.list({ limit: 1_001 })).rejects.toMatchObject({ code: 'BAD_REQUEST', data: { field: 'limit' } });
});

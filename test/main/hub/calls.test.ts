import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { tips, type WriteChain } from '../../../src/core/chain/index.js';
import type { CapturedCall } from '../../../src/core/contract/index.js';
import { captureCall, getRequest, listRequests } from '../../../src/core/requests/index.js';
import { onlyCommits, previewPush, pull, push, redactedCopies, selected, selectedCommits } from '../../../src/core/sync/index.js';
import { prompt } from '../../support/claude-lines.js';
import { reply, usage } from '../../support/counted-lines.js';
import { commitText, startTestHub, type TestHub } from '../../support/hub.js';
import { importInto } from '../../support/imports.js';
import { emptyChain, scratch } from '../../support/project.js';

let hub: TestHub;
beforeAll(async () => {
  hub = await startTestHub();
});
afterAll(() => hub?.close());

const system = `You help. ${'Be brief. '.repeat(50)}`;
const question = (n: number) => ({ role: 'user', content: `question ${n} ${'words '.repeat(40)}` });

/** A call with `turns` questions and the answers to all but the last of them. */
function captured(chain: WriteChain, turns: number, reply: unknown = { type: 'message', id: `msg_none_${turns}`, content: [] }): string {
  const messages = Array.from({ length: turns }, (_, n) => [
    question(n),
    ...(n < turns - 1 ? [{ role: 'assistant', content: [{ type: 'text', text: `answer ${n}` }] }] : []),
  ]).flat();
  const body = { model: 'claude-test', system, tools: [{ name: 'Read', input_schema: { type: 'object' } }], messages, max_tokens: 100 };
  const call: CapturedCall = {
    provider: 'anthropic',
    path: '/v1/messages',
    at: '2026-01-01T00:00:00.000Z' as CapturedCall['at'],
    headers: { 'user-agent': 'test-agent/1.2.3' },
    body: JSON.stringify(body),
    status: 200,
    reply: JSON.stringify(reply),
  };
  return captureCall(chain, call).requestId;
}

const callsOf = (chain: WriteChain) =>
  listRequests(chain, {})
    .filter(({ source }) => source === 'wire')
    .map(({ requestId, proof }) => ({ requestId, proof, body: JSON.stringify(getRequest(chain, requestId).body) }))
    .sort((a, b) => (a.requestId < b.requestId ? -1 : 1));

/** A project with a session, the call of its first reply and a call that belongs to no commit. */
function projectWithCalls(): WriteChain {
  const chain = emptyChain();
  const path = join(scratch(), 'session.jsonl');
  writeFileSync(path, [prompt('p', 'go'), reply('a', { parent: 'p', usage: usage(100, 0, 0, 10) })].join(''));
  importInto(chain, path);
  const messageId = /"id":"(msg_[^"]*)"/.exec(reply('a', { parent: 'p', usage: usage(100, 0, 0, 10) }))?.[1];
  captured(chain, 1, { type: 'message', id: messageId, content: [] });
  captured(chain, 2);
  return chain;
}

describe('calls that were seen on the wire', () => {
  test('[E43] they travel once, with the same bodies, proofs and commits', { tags: 'long' }, async () => {
    const mine = projectWithCalls();
    const team = await hub.project('calls');
    expect((await push(mine, team)).items.request).toBe(2);
    expect((await push(mine, team)).items).toEqual({});
    const theirs = emptyChain();
    const pulled = await pull(theirs, team);
    expect(pulled).toMatchObject({ refused: [], items: { request: 2 } });
    expect(callsOf(theirs)).toEqual(callsOf(mine));
    expect(callsOf(mine).map(({ proof }) => proof)).toEqual(['digest', 'digest']);
    const [tip] = tips(mine, {});
    const ofTip = (chain: WriteChain) => listRequests(chain, { id: tip?.id as never, stop: 'root' }).map(({ requestId }) => requestId);
    expect(ofTip(mine)).toHaveLength(1);
    expect(ofTip(theirs)).toEqual(ofTip(mine));
    // What arrived is not sent back, and what is new there comes here.
    expect((await push(theirs, team)).items).toEqual({});
    captured(theirs, 3);
    expect((await push(theirs, team)).items).toEqual({ request: 1 });
    expect((await pull(mine, team)).items).toEqual({ request: 1 });
    expect(callsOf(mine)).toEqual(callsOf(theirs));
    expect((await pull(mine, team)).items).toEqual({});
  });

  test('[E43] a call whose session arrives later belongs to it then', async () => {
    const mine = emptyChain();
    const id = captured(mine, 1, { type: 'message', id: 'msg_later', content: [{ type: 'text', text: 'soon' }] });
    const team = await hub.project('later');
    await push(mine, team);
    const theirs = emptyChain();
    await pull(theirs, team);
    const waiting = (chain: WriteChain): string[] =>
      chain.db.all<{ mark: string }>('SELECT mark FROM requestReply ORDER BY mark').map(({ mark }) => mark);
    expect(waiting(theirs)).toContain('message:msg_later');
    expect(waiting(theirs)).toEqual(waiting(mine));
    expect(callsOf(theirs).map(({ requestId }) => requestId)).toEqual([id]);
  });

  test('[E43] a long conversation sends each message once', { tags: 'long' }, async () => {
    const mine = emptyChain();
    const turns = 30;
    for (let n = 1; n <= turns; n++) captured(mine, n);
    const { objects } = await push(mine, await hub.project('long'));
    // Questions, answers, the system prompt and the tools.
    expect(objects).toBe(turns + (turns - 1) + 2);
    const theirs = emptyChain();
    await pull(theirs, await hub.project('long'));
    expect(callsOf(theirs)).toEqual(callsOf(mine));
  });

  test('[E43] a branch takes only its own calls along, and a redacted push none', async () => {
    const mine = projectWithCalls();
    const other = commitText(mine, 'another session');
    const [tip] = tips(mine, {}).filter(({ id }) => id !== other.id);
    const preview = (leaves: Parameters<typeof previewPush>[2]) => previewPush(mine, 'nowhere', leaves).items.request ?? 0;
    expect(preview(undefined)).toBe(2);
    expect(preview(selected(mine, { branch: tip?.id }))).toBe(1);
    expect(preview(selected(mine, { branch: other.id }))).toBe(0);
    expect(preview(onlyCommits(mine, (await redactedCopies(mine, selectedCommits(mine, {}))).commits))).toBe(0);
  });
});

import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { restoreState, saveState } from '../../../src/core/assist/index.js';
import type { ContextId } from '../../../src/core/base/index.js';
import { checkpoint, type WriteChain } from '../../../src/core/chain/index.js';
import type { Commit } from '../../../src/core/contract/index.js';
import { captureCall, getRequest, listRequests } from '../../../src/core/requests/index.js';
import { pull, push } from '../../../src/core/sync/index.js';
import * as spaces from '../../../src/core/timeline/index.js';
import { reproduceTurn, rerunTurn } from '../../../src/core/turns/index.js';
import { answer, prompt } from '../../support/claude-lines.js';
import { digestsOf, startTestHub, type TestHub } from '../../support/hub.js';
import { emptyChain } from '../../support/project.js';
import { drained, scripted } from '../../support/scripted-model.js';

let hub: TestHub;
beforeAll(async () => {
  hub = await startTestHub();
});
afterAll(() => hub?.close());

const spaceId = 'room';
const say = (chain: WriteChain, senderId: string, text: string, replyTo?: string) => spaces.post(chain, { spaceId, senderId, text, replyTo });
const texts = (chain: WriteChain): string[] => spaces.spaceMessages(chain, { spaceId }).messages.map(({ text }) => text);
/** What people see of a space: who is in it, and what was written, without the place on this machine. */
const shownIn = (chain: WriteChain) => ({
  members: spaces.getSpace(chain, spaceId).members,
  messages: spaces
    .spaceMessages(chain, { spaceId })
    .messages.map(({ seq: _, ...message }) => message)
    .sort((a, b) => (a.messageId < b.messageId ? -1 : 1)),
  runs: spaces.listRuns(chain, {}).sort((a, b) => (a.runId < b.runId ? -1 : 1)),
});

/** A space of two people and an agent. */
function projectWithSpace(): WriteChain {
  const chain = emptyChain();
  for (const name of ['Ann', 'Ben']) spaces.addEntity(chain, { entityId: name.toLowerCase(), name, type: 'human' });
  spaces.addEntity(chain, { entityId: 'bot', name: 'Bot', type: 'agent' });
  spaces.createSpace(chain, { spaceId, name: 'Room', members: ['ann', 'ben', 'bot'] });
  return chain;
}

describe('spaces of a team', () => {
  test('[E44] members, messages and runs that have ended arrive as they are', { tags: 'long' }, async () => {
    const [mine, theirs] = [projectWithSpace(), emptyChain()];
    const team = await hub.project('spaces');
    const { started } = say(mine, 'ann', 'please look');
    const [run] = started;
    const { message } = spaces.send(mine, { runId: run?.runId ?? '', text: 'I look' });
    // The run still works: its messages are there, and it follows when it has ended.
    await push(mine, team);
    expect((await pull(theirs, team)).refused).toEqual([]);
    expect([texts(theirs), spaces.listRuns(theirs, {})]).toEqual([['please look', 'I look'], []]);
    spaces.finishRun(mine, { runId: run?.runId ?? '', status: 'completed', output: 'looked' });
    await push(mine, team);
    expect((await pull(theirs, team)).refused).toEqual([]);
    expect(shownIn(theirs)).toEqual(shownIn(mine));
    expect(digestsOf(theirs)).toEqual(digestsOf(mine));
    const [arrived] = spaces.listRuns(theirs, {});
    expect(arrived).toMatchObject({ runId: run?.runId, status: 'completed', contextId: expect.stringContaining('ctx-') });
    expect(() => spaces.runTimeline(theirs, arrived?.runId ?? '')).toThrow(`The commit ${arrived?.contextId} holds what it read`);
    expect(spaces.isDue(theirs)).toBe(false);
    // What arrived is not sent back. An answer from there arrives here.
    expect(await push(theirs, team)).toMatchObject({ items: {}, sent: 0 });
    say(theirs, 'ben', 'thank you', message.messageId);
    const [other] = spaces.listRuns(theirs, { status: 'running' });
    spaces.finishRun(theirs, { runId: other?.runId ?? '', status: 'canceled' });
    await push(theirs, team);
    expect((await pull(mine, team)).refused).toEqual([]);
    expect(shownIn(mine)).toEqual(shownIn(theirs));
    expect(texts(mine)).toEqual(['please look', 'I look', 'thank you']);
  });

  test('[E44] messages written at once all arrive, and each machine reads those that come last', async () => {
    const [mine, theirs] = [projectWithSpace(), emptyChain()];
    const team = await hub.project('at-once');
    say(mine, 'ann', 'start');
    await push(mine, team);
    await pull(theirs, team);
    say(mine, 'ann', 'from here');
    const { message } = say(theirs, 'ben', 'from there');
    spaces.readReceipt(theirs, { spaceId, entityId: 'ben', lastMessageId: message.messageId });
    await push(mine, team);
    expect((await pull(theirs, team)).refused).toEqual([]);
    await push(theirs, team);
    expect((await pull(mine, team)).refused).toEqual([]);
    expect([texts(mine), texts(theirs)]).toEqual([
      ['start', 'from here', 'from there'],
      ['start', 'from there', 'from here'],
    ]);
    expect(spaces.listSpaces(theirs, 'ben')).toMatchObject([{ unread: 1 }]);
    // A message that arrives starts no run.
    expect(spaces.listRuns(mine, {}).map(({ trigger }) => trigger)).toMatchObject([{ message: 'start' }, { message: 'from here' }].reverse());
  });
});

describe('runs of Stemma itself', () => {
  const turn = (chain: WriteChain): Commit =>
    checkpoint(chain, {
      parent: null,
      type: 'delta',
      format: 'claude-code-v1',
      text: prompt('u1', 'fix it') + answer('a1', 'done', { parent: 'u1' }),
      template: 'coder',
      checkpoint: 'turn_boundary',
    });
  const again = { kind: 'text', delta: 'Done again.' } as const;
  const rerun = async (chain: WriteChain, turnId: ContextId): Promise<ContextId> => {
    const { result } = await drained(rerunTurn(chain, { turnId, provider: 'openai' }, [scripted('openai', [again])]));
    return result.commits[0] as ContextId;
  };
  const body = { model: 'gpt-test', messages: [{ role: 'user', content: 'fix it' }] };
  const callsOf = (chain: WriteChain, id: ContextId) =>
    listRequests(chain, { id }).map(({ requestId, proof }) => ({ proof, body: getRequest(chain, requestId).body }));

  test('[E45] a rerun, its call and the state of a run arrive with the same proof', async () => {
    const [mine, theirs] = [emptyChain(), emptyChain()];
    const original = turn(mine);
    const reply = { choices: [{ message: { role: 'assistant', content: 'done' } }] };
    captureCall(mine, {
      provider: 'openai',
      path: '/v1/chat/completions',
      at: original.createdAt,
      headers: {},
      body: JSON.stringify(body),
      status: 200,
      reply: JSON.stringify(reply),
    });
    const made = await rerun(mine, original.id);
    expect(mine.db.one('SELECT 1 FROM modelRun WHERE likeCall IS NOT NULL')).toBeDefined();
    saveState(mine, { id: made, state: { todo: 'write tests' } as never });
    const team = await hub.project('reruns');
    await push(mine, team);
    expect((await pull(theirs, team)).refused).toEqual([]);
    expect(callsOf(mine, made)).toContainEqual({ proof: 'digest', body });
    expect(callsOf(theirs, made)).toEqual(callsOf(mine, made));
    expect(reproduceTurn(theirs, made)).toMatchObject({ identical: true });
    expect(restoreState(theirs, { id: made })).toEqual(restoreState(mine, { id: made }));
  });

  test('[E45] a rerun of a call that did not come along is listed, and says what is missing', async () => {
    const [mine, theirs] = [emptyChain(), emptyChain()];
    const original = turn(mine);
    const made = await rerun(mine, original.id);
    mine.db.run("UPDATE modelRun SET likeCall = 'a call of a file'");
    const team = await hub.project('missing');
    await push(mine, team);
    await pull(theirs, team);
    expect(listRequests(theirs, { id: made })).toMatchObject([
      { source: 'stemma', proof: 'recorded', problem: expect.stringContaining('a call of a file') },
    ]);
  });
});

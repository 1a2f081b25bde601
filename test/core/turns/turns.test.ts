import { describe, expect, test } from 'vitest';
import type { ContextId, EntryKey } from '../../../src/core/base/index.js';
import { checkpoint, compact, entries, show, type WriteChain } from '../../../src/core/chain/index.js';
import type { Commit, ReplyPart } from '../../../src/core/contract/index.js';
import { exportComparison } from '../../../src/core/export/index.js';
import {
  askContext,
  compareTurns,
  fileAt,
  listTurns,
  type ModelProvider,
  reproduceTurn,
  rerunTurn,
  stateAt,
  turnOf,
} from '../../../src/core/turns/index.js';
import { answer, call, prompt, result } from '../../support/claude-lines.js';
import { emptyChain } from '../../support/project.js';
import { drained, scripted } from '../../support/scripted-model.js';

const commit = (chain: WriteChain, parent: Commit | null, text: string): Commit =>
  checkpoint(chain, {
    parent: parent?.id ?? null,
    type: 'delta',
    format: 'claude-code-v1',
    text,
    template: 'coder',
    principal: '@me',
    checkpoint: 'turn_boundary',
  });

/** A turn that reads a file, edits it and replies. */
function working(chain: WriteChain): { first: Commit; second: Commit } {
  const at = (second: number): string => `2026-01-01T00:00:${String(second).padStart(2, '0')}.000Z`;
  const first = commit(chain, null, prompt('u1', 'hello', { at: at(0) }) + answer('a1', 'hi', { parent: 'u1', at: at(1) }));
  const second = commit(
    chain,
    first,
    prompt('u2', 'fix it', { parent: 'a1', at: at(10) }) +
      call('c1', 't1', 'Read', { file_path: '/q.js' }, { parent: 'u2', at: at(11) }) +
      result('r1', 't1', '     1→const n = 1;\n     2→export { n };', { parent: 'c1', at: at(14) }) +
      call('c2', 't2', 'Edit', { file_path: '/q.js', old_string: 'n = 1', new_string: 'n = 2' }, { parent: 'r1', at: at(15) }) +
      result('r2', 't2', 'updated', { parent: 'c2', at: at(16) }) +
      answer('a2', 'done', { parent: 'r2', at: at(17) }),
  );
  return { first, second };
}

/** Runs a rerun to its end, and returns its parts without usage and commits. */
async function run<T extends { commits: ContextId[]; base: ContextId }>(generator: AsyncGenerator<ReplyPart, T>) {
  const { parts, result } = await drained(generator);
  return { parts: parts.filter(({ kind }) => kind !== 'usage' && kind !== 'commit'), ...result };
}

const texts = (chain: WriteChain, id: ContextId) => entries(chain, { id }).entries.map((entry) => entry.text ?? entry.toolName);

describe('a turn', () => {
  test('the time of a turn is not recorded where its clock ran backwards', () => {
    const chain = emptyChain();
    const { first, second } = working(chain);
    const back = commit(
      chain,
      second,
      prompt('u3', 'go on', { parent: 'a2', at: '2026-01-01T00:00:20.000Z' }) + answer('a3', 'ok', { parent: 'u3', at: '2026-01-01T00:00:19.000Z' }),
    );
    expect(compareTurns(chain, first.id, back.id)).toMatchObject({ a: { ms: 1_000 }, b: { ms: null } });
  });

  test('[N4] a turn without a model call is told from one whose calls were not recorded', () => {
    const chain = emptyChain();
    const { second } = working(chain);
    const typed = commit(chain, second, prompt('u3', 'go on', { parent: 'a2' }));
    const { a, b } = compareTurns(chain, second.id, typed.id);
    expect(a.calls).toBeGreaterThan(0);
    expect(b).toMatchObject({ calls: 0, model: null, usage: null, cost: null, ms: null });
    expect(exportComparison(chain, { ids: [second.id, typed.id] }).text).toContain('| no calls | ');
  });

  test('the turns of a chain are in order, each with its trigger', () => {
    const chain = emptyChain();
    const { first, second } = working(chain);
    const turns = listTurns(chain, { id: second.id });
    expect(turns.map(({ turnId, number, trigger }) => [turnId, number, trigger.kind, trigger.key])).toEqual([
      [first.id, 1, 'prompt', 'u1.0'],
      [second.id, 2, 'prompt', 'u2.0'],
    ]);
    expect(turns[1]).toMatchObject({ startedAt: '2026-01-01T00:00:10.000Z', endedAt: '2026-01-01T00:00:17.000Z', entries: 6 });
    expect(listTurns(chain, { agentId: '@me' })).toEqual(turns);
    expect(() => listTurns(chain, {})).toThrow(/Give id or agentId/);
  });

  test('has input, output and timed calls; unrecorded values are null', () => {
    const chain = emptyChain();
    const { first, second } = working(chain);
    const turn = turnOf(chain, second.id);
    expect(turn.input).toMatchObject({ parent: first.id, entries: 3, keys: ['u2.0'] });
    expect(turn.output.map((entry) => entry.kind)).toEqual(['tool_call', 'tool_result', 'tool_call', 'tool_result', 'text']);
    expect(turn.calls).toMatchObject([
      { toolName: 'Read', ms: 3_000, isError: false, resultKey: 'r1.0' },
      { toolName: 'Edit', ms: 1_000 },
    ]);
    expect(turn).toMatchObject({ model: 'm', usage: { input: null, output: null }, cost: null });
  });

  test('[R6] is neither identical nor different without recorded calls', () => {
    const chain = emptyChain();
    expect(reproduceTurn(chain, working(chain).second.id)).toEqual({
      proof: 'rebuilt',
      identical: null,
      calls: 3,
      requestHash: null,
      recordedHash: null,
      differences: [],
      missing: ['system', 'tools', 'parameters'],
    });
  });
});

describe('a moment', () => {
  test('files have the content that the conversation knew, before and after an edit', () => {
    const chain = emptyChain();
    const { second } = working(chain);
    const before = { id: second.id, entry: 'r1.0' as EntryKey };
    expect(stateAt(chain, before).files).toMatchObject([{ path: '/q.js', known: 'whole', touches: 1, last: { how: 'read', step: 5 } }]);
    expect(fileAt(chain, { ...before, path: '/q.js' })).toMatchObject({ known: 'whole', content: 'const n = 1;\nexport { n };' });
    expect(stateAt(chain, { id: second.id }).files).toMatchObject([{ path: '/q.js', known: 'whole', touches: 2 }]);
    expect(fileAt(chain, { id: second.id, path: '/q.js' })).toMatchObject({
      known: 'whole',
      content: 'const n = 2;\nexport { n };',
      touches: [{ how: 'read' }, { how: 'changed' }],
    });
    expect(() => fileAt(chain, { id: second.id, step: 4, path: '/q.js' })).toThrow(/at this moment/);
  });

  test('calls are open until their result', () => {
    const chain = emptyChain();
    const { second } = working(chain);
    expect(stateAt(chain, { id: second.id, entry: 'c2.0' as EntryKey }).openCalls).toMatchObject([{ toolCallId: 't2', toolName: 'Edit' }]);
    expect(stateAt(chain, { id: second.id }).openCalls).toEqual([]);
  });

  test('after a compaction the window is small, and files are still known', () => {
    const chain = emptyChain();
    const { second } = working(chain);
    const state = stateAt(chain, { id: compact(chain, second.id, 'what was done').id });
    expect(state.window.entries).toBe(1);
    expect(state.files).toHaveLength(1);
  });

  test('an entry of another context is refused', () => {
    const chain = emptyChain();
    expect(() => stateAt(chain, { id: working(chain).first.id, entry: 'u2.0' as EntryKey })).toThrow(/no entry u2.0/);
  });
});

describe('rerun', () => {
  test('the recording replays the reply on a branch from the parent', async () => {
    const chain = emptyChain();
    const { first, second } = working(chain);
    const { parts, commits, base } = await run(rerunTurn(chain, { turnId: second.id, provider: 'recorded' }, []));
    expect(parts.map((part) => part.kind)).toEqual(['tool_call', 'tool_result', 'tool_call', 'tool_result', 'text']);
    expect(texts(chain, base)).toEqual(['hello', 'hi', 'fix it']);
    expect(commits).toHaveLength(1);
    expect(texts(chain, commits[0] as ContextId)).toEqual(texts(chain, second.id));
    expect(compareTurns(chain, second.id, commits[0] as ContextId)).toMatchObject({ base: first.id, added: 0, removed: 0, changed: 0 });
    await expect(
      run(rerunTurn(chain, { turnId: second.id, provider: 'recorded', edits: [{ op: 'drop', key: 'u1.0' as EntryKey }] }, [])),
    ).rejects.toThrow(/Choose a model/);
  });

  test('an edited input is sent to the model, and each sample is a branch', async () => {
    const chain = emptyChain();
    const { second } = working(chain);
    const provider = scripted(
      'anthropic',
      [
        { kind: 'text', delta: 'one ' },
        { kind: 'text', delta: 'answer' },
      ],
      [{ kind: 'text', delta: 'another' }],
    );
    const edits = [{ op: 'replace' as const, key: 'u2.0' as EntryKey, entry: { role: 'user' as const, kind: 'text' as const, text: 'leave it' } }];
    const { parts, commits } = await run(rerunTurn(chain, { turnId: second.id, provider: 'anthropic', model: 'm', edits, samples: 2 }, [provider]));
    expect(provider.asked[0]).toMatchObject({
      model: 'm',
      body: { model: 'm', messages: [{ role: 'user', content: 'hello' }, { role: 'assistant' }, { role: 'user', content: 'leave it' }] },
    });
    expect(parts.map((part) => part.sample).toSorted()).toEqual([0, 0, 1]);
    expect(commits.map((id) => texts(chain, id).at(-1))).toEqual(['one answer', 'another']);
  });

  test('a recorded call gets its result; at any other the run stops with the call open', async () => {
    const chain = emptyChain();
    const { second } = working(chain);
    const provider = scripted(
      'anthropic',
      [{ kind: 'tool_call', toolCallId: 'n1', toolName: 'Read', arguments: { file_path: '/q.js' } }],
      [{ kind: 'tool_call', toolCallId: 'n2', toolName: 'Bash', arguments: { command: 'rm -rf /' } }],
      [{ kind: 'text', delta: 'never said' }],
    );
    const { parts, commits } = await run(rerunTurn(chain, { turnId: second.id, provider: 'anthropic' }, [provider]));
    expect(parts.map((part) => part.kind)).toEqual(['tool_call', 'tool_result', 'tool_call', 'notice']);
    expect(provider.asked).toHaveLength(2);
    expect(JSON.stringify(provider.asked[1]?.body.messages)).toContain('const n = 1;');
    expect(stateAt(chain, { id: commits[0] as ContextId }).openCalls).toMatchObject([{ toolName: 'Bash' }]);
  });

  test('a provider that fails makes no branch and reports why', async () => {
    const chain = emptyChain();
    const { second } = working(chain);
    const provider: ModelProvider = {
      ...scripted('anthropic'),
      stream: () => ({
        [Symbol.asyncIterator]: () => ({ next: () => Promise.reject(new Error('the line is cut')) }),
      }),
    };
    await expect(run(rerunTurn(chain, { turnId: second.id, provider: 'anthropic' }, [provider]))).rejects.toThrow('the line is cut');
    await expect(run(rerunTurn(chain, { turnId: second.id, provider: 'nobody' }, [provider]))).rejects.toThrow(/recorded, anthropic/);
  });
});

describe('asking from a context', () => {
  const why = 'what was wrong?';

  test('a model gets the whole context; prompt and reply are two commits on a branch', async () => {
    const chain = emptyChain();
    const { second } = working(chain);
    const provider = scripted(
      'anthropic',
      [{ kind: 'tool_call', toolCallId: 'n1', toolName: 'Read', arguments: { file_path: '/q.js' } }],
      [{ kind: 'text', delta: 'the start' }],
    );
    const asked = { id: second.id, text: why, provider: 'anthropic', principal: '@author' };
    const { parts, commits, base, from } = await run(askContext(chain, asked, [provider]));
    expect(parts.map((part) => part.kind)).toEqual(['tool_call', 'tool_result', 'text']);
    expect(texts(chain, base)).toEqual([...texts(chain, second.id), why]);
    expect(texts(chain, commits[0] as ContextId).slice(-4)).toEqual([why, 'Read', '     1→const n = 1;\n     2→export { n };', 'the start']);
    expect(JSON.stringify(provider.asked[0]?.body.messages)).toContain('fix it');
    expect([base, commits[0]].map((id) => show(chain, id as ContextId).principal)).toEqual(['@author', '@author']);
    expect(from).toBeNull();
  });

  test('system messages that the caller composed are those of the call', async () => {
    const chain = emptyChain();
    const { second } = working(chain);
    const provider = scripted('anthropic', [{ kind: 'text', delta: 'yes' }]);
    const system = [{ layer: 'framework' as const, text: 'Answer in one sentence.' }];
    await run(askContext(chain, { id: second.id, text: why, provider: 'anthropic', system }, [provider]));
    expect(provider.asked[0]?.body.system).toMatchObject([{ text: 'Answer in one sentence.' }]);
    await run(askContext(chain, { id: null, text: why, provider: 'anthropic', system }, [provider]));
    expect(provider.asked[1]?.body.system).toMatchObject([{ text: 'Answer in one sentence.' }]);
  });

  test('without a recorded model, the first model of the provider answers', async () => {
    const chain = emptyChain();
    const provider = scripted('openai', [{ kind: 'text', delta: 'yes' }]);
    for (const id of [null, working(chain).second.id]) await run(askContext(chain, { id, text: why, provider: 'openai' }, [provider]));
    await run(askContext(chain, { id: null, text: why, provider: 'openai', model: 'other' }, [provider]));
    expect(provider.asked.map(({ model, body }) => [model, body.model])).toEqual([...Array(2).fill(['m', 'm']), ['other', 'other']]);
  });

  test('the recording answers the same prompt from the same context, and names the commit', async () => {
    const chain = emptyChain();
    const { second } = working(chain);
    const told = commit(chain, second, prompt('u3', why, { parent: 'a2' }) + answer('a3', 'it began at 1', { parent: 'u3' }));
    const further = commit(chain, told, prompt('u4', 'and now?', { parent: 'a3' }) + answer('a4', 'at 2', { parent: 'u4' }));
    const first = await run(askContext(chain, { id: second.id, text: ` ${why}\n`, provider: 'recorded' }, []));
    expect([texts(chain, first.commits[0] as ContextId).at(-1), first.from]).toEqual(['it began at 1', told.id]);
    const next = await run(askContext(chain, { id: first.commits[0] as ContextId, text: 'and now?', provider: 'recorded' }, []));
    expect([texts(chain, next.commits[0] as ContextId).at(-1), next.from]).toEqual(['at 2', further.id]);
  });

  test('without a recording it says so, keeps the prompt and invents no reply', async () => {
    const chain = emptyChain();
    const { first, second } = working(chain);
    commit(chain, first, prompt('u9', why, { parent: 'a1' }) + answer('a9', 'said from another context', { parent: 'u9' }));
    const { parts, commits, base, from } = await run(askContext(chain, { id: second.id, text: why, provider: 'recorded' }, []));
    expect(parts).toMatchObject([{ kind: 'notice', delta: expect.stringContaining('no answer') }]);
    expect([commits, from]).toEqual([[], null]);
    expect(texts(chain, base).at(-1)).toBe(why);
    await expect(run(askContext(chain, { id: second.id, text: why, provider: 'nobody' }, []))).rejects.toThrow(/recorded/);
  });
});

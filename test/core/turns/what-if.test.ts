import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { ContextId, EntryKey } from '../../../src/core/base/index.js';
import { checkpoint, entries, fork, history, type WriteChain } from '../../../src/core/chain/index.js';
import type { Commit, EntryDraft, WhatIfPart, WhatIfResult } from '../../../src/core/contract/index.js';
import {
  followingTurns,
  type ModelProvider,
  type ModelRequest,
  openQuestions,
  type ReplyPiece,
  reproduceTurn,
  rerunTurn,
  whatIf,
} from '../../../src/core/turns/index.js';
import { answer, call, prompt, result } from '../../support/claude-lines.js';
import { emptyChain } from '../../support/project.js';
import { runs } from '../../support/properties.js';
import { refusal } from '../../support/refusal.js';

/** Four turns: a question, a read, an edit, thanks. */
function session(chain: WriteChain): Commit[] {
  const texts = [
    prompt('u1', 'what is here?') + answer('a1', 'a queue', { parent: 'u1' }),
    prompt('u2', 'look at it', { parent: 'a1' }) +
      call('c2', 't2', 'Read', { file_path: '/q.js' }, { parent: 'u2' }) +
      result('r2', 't2', 'const n = 1;', { parent: 'c2' }) +
      answer('a2', 'it counts', { parent: 'r2' }),
    prompt('u3', 'fix it', { parent: 'a2' }) +
      call('c3', 't3', 'Edit', { file_path: '/q.js', new_string: '2' }, { parent: 'u3' }) +
      result('r3', 't3', 'done', { parent: 'c3' }) +
      answer('a3', 'fixed', { parent: 'r3' }),
    prompt('u4', 'thanks', { parent: 'a3' }) + answer('a4', 'welcome', { parent: 'u4' }),
  ];
  const commits: Commit[] = [];
  for (const text of texts)
    commits.push(
      checkpoint(chain, {
        parent: commits.at(-1)?.id ?? null,
        type: 'delta',
        format: 'claude-code-v1',
        text,
        template: 'coder',
        checkpoint: 'turn_boundary',
      }),
    );
  return commits;
}

/** A branch with the second prompt changed and no reply. */
const changed = (chain: WriteChain, commits: readonly Commit[]): Commit =>
  fork(chain, {
    id: (commits[1] as Commit).id,
    at: 'u2.0' as EntryKey,
    edits: [{ op: 'replace', key: 'u2.0' as EntryKey, entry: { role: 'user', kind: 'text', text: 'look closely' } }],
  });

function scripted(...replies: (ReplyPiece[] | Error)[]): ModelProvider & { asked: ModelRequest[] } {
  const asked: ModelRequest[] = [];
  return {
    id: 'script',
    title: 'A script',
    wire: 'anthropic',
    asked,
    models: async () => ({ models: [] }),
    async *stream(request) {
      asked.push(structuredClone(request));
      const reply = replies[asked.length - 1] ?? [];
      if (reply instanceof Error) throw reply;
      yield* reply;
    },
  };
}

const text = (delta: string): ReplyPiece => ({ kind: 'text', delta });
const calls = (id: string, toolName: string, given: unknown): ReplyPiece => ({ kind: 'tool_call', toolCallId: id, toolName, arguments: given });
const reads = calls('n2', 'Read', { file_path: '/q.js' });
const edits = calls('n3', 'Edit', { file_path: '/q.js', new_string: '2' });

async function run(
  stream: AsyncGenerator<WhatIfPart, WhatIfResult>,
  seen: (part: WhatIfPart) => void = () => {},
): Promise<{ parts: WhatIfPart[]; done: WhatIfResult }> {
  const parts: WhatIfPart[] = [];
  for (;;) {
    const step = await stream.next();
    if (step.done) return { parts, done: step.value };
    parts.push(step.value);
    seen(step.value);
  }
}

const wordsOf = (chain: WriteChain, id: ContextId): string[] => entries(chain, { id }).entries.map((entry) => entry.text ?? entry.toolName ?? '');

describe('the plan of a what-if', () => {
  test('[P3] prompts of the branch replace prompts of the original; open ones are answered first', () => {
    const chain = emptyChain();
    const commits = session(chain);
    const branch = changed(chain, commits);
    expect(followingTurns(chain, { id: branch.id })).toMatchObject({
      base: commits[0]?.id,
      original: commits[3]?.id,
      answersFirst: true,
      turns: [{ trigger: { text: 'fix it' } }, { trigger: { text: 'thanks' } }],
      originals: [{ id: commits[3]?.id, turns: 3 }],
    });
    // At the original's own commit the branch has no prompts, and the other branch can be followed.
    expect(followingTurns(chain, { id: (commits[0] as Commit).id, original: (commits[3] as Commit).id }).turns).toHaveLength(3);
  });

  test('without another branch or a common commit it is refused with what to do', async () => {
    const chain = emptyChain();
    const [first] = session(chain) as [Commit, ...Commit[]];
    const other = checkpoint(chain, {
      parent: null,
      type: 'delta',
      format: 'claude-code-v1',
      text: prompt('x1', 'other'),
      template: 't',
      checkpoint: 'explicit',
    });
    expect(refusal(() => followingTurns(chain, { id: first.id, original: other.id }))).toMatchObject({
      code: 'BAD_REQUEST',
      data: { field: 'original' },
    });
    expect(followingTurns(chain, { id: other.id })).toEqual({ base: null, original: null, answersFirst: false, turns: [], originals: [] });
    await expect(run(whatIf(chain, { id: other.id, provider: 'recorded' }, []))).rejects.toThrow('no other branch to follow');
  });
});

describe('what if', () => {
  test('[P2] the next prompts are answered one by one, each turn a verified commit', async () => {
    const chain = emptyChain();
    const commits = session(chain);
    const branch = changed(chain, commits);
    const provider = scripted([reads], [text('it counts to 1')], [edits], [text('done')], [text('any time')]);
    const { parts, done } = await run(whatIf(chain, { id: branch.id, provider: 'script' }, [provider]));
    expect(done).toMatchObject({ left: 0, stopped: null });
    expect(done.commits).toHaveLength(3);
    expect(wordsOf(chain, done.tip)).toEqual([
      ...['what is here?', 'a queue', 'look closely', 'Read', 'const n = 1;', 'it counts to 1'],
      ...['fix it', 'Edit', 'done', 'done', 'thanks', 'any time'],
    ]);
    expect(
      history(chain, done.tip)
        .slice(0, 4)
        .map((commit) => commit.id),
    ).toEqual([...done.commits.toReversed(), branch.id]);
    expect(parts.filter((part) => part.kind === 'end').map((part) => part.divergence?.kind)).toEqual(['words', 'words', 'words']);
    for (const id of done.commits) expect(reproduceTurn(chain, id)).toMatchObject({ identical: true, differences: [] });
    // A repeated prompt is the same entry.
    expect(entries(chain, { id: done.tip }).entries.at(-2)?.key).toBe('u4.0');
  });

  test('[P4] different tool calls end it and are described; it continues from its tip', async () => {
    const chain = emptyChain();
    const branch = changed(chain, session(chain));
    const otherEdit = calls('n3', 'Edit', { file_path: '/q.js', new_string: '3' });
    const provider = scripted([text('I know it')], [text('nothing to fix')], [text('welcome')]);
    const first = await run(whatIf(chain, { id: branch.id, provider: 'script' }, [provider]));
    expect(first.done).toMatchObject({ left: 2, stopped: { why: 'diverged', turn: 1, what: 'call 1 (Read) is missing' } });
    const second = await run(whatIf(chain, { id: first.done.tip, provider: 'script' }, [provider]));
    expect(second.done).toMatchObject({ left: 1, stopped: { why: 'diverged', turn: 1 } });
    expect(second.parts[0]).toMatchObject({ kind: 'begin', text: 'fix it' });
    const third = await run(whatIf(chain, { id: second.done.tip, provider: 'script' }, [provider]));
    expect(third.done).toMatchObject({ left: 0, stopped: null });
    const asked = openQuestions(() => 'q1');
    const open = await run(
      whatIf(
        chain,
        { id: first.done.tip, provider: 'script', stopAt: 'never', unanswered: 'ask' },
        [scripted([otherEdit], [text('ok')], [text('bye')])],
        undefined,
        asked,
      ),
      (part) => {
        if (part.part?.kind === 'question') asked.answer('q1', { text: 'written', isError: false });
      },
    );
    expect(open.done).toMatchObject({ left: 0, stopped: null });
    expect(open.parts.find((part) => part.kind === 'end')?.divergence).toEqual({
      kind: 'calls',
      what: 'call 1 (Edit) has different arguments: new_string',
    });
  });

  test('[P4] [P5] an open call ends it; different words end it if requested', async () => {
    const chain = emptyChain();
    const branch = changed(chain, session(chain));
    const shell = calls('n9', 'Bash', { command: 'rm -rf /' });
    const open = await run(whatIf(chain, { id: branch.id, provider: 'script', stopAt: 'never' }, [scripted([shell])]));
    expect(open.done).toMatchObject({ stopped: { why: 'open_call', what: 'The call of Bash has no result.' }, left: 2 });
    const words = await run(whatIf(chain, { id: branch.id, provider: 'script', stopAt: 'words' }, [scripted([reads], [text('it adds')])]));
    expect(words.done).toMatchObject({ stopped: { why: 'diverged' }, left: 2 });
    const few = await run(whatIf(chain, { id: branch.id, provider: 'script', stopAt: 'never', turns: 2 }, [scripted([text('a')], [text('b')])]));
    expect(few.done).toMatchObject({ stopped: null, left: 1 });
  });

  test('[P2] after a stop or failure, complete turns stay and the rest can follow', async () => {
    const chain = emptyChain();
    const branch = changed(chain, session(chain));
    const failing = await run(whatIf(chain, { id: branch.id, provider: 'script' }, [scripted([reads], [text('it counts')], new Error('line cut'))]));
    expect(failing.done).toMatchObject({ left: 2, stopped: { why: 'failed', turn: 2, what: 'line cut' } });
    expect(failing.done.commits).toHaveLength(1);
    const controller = new AbortController();
    const endless: ModelProvider = {
      ...scripted(),
      async *stream(_request, signal) {
        while (!signal?.aborted) yield text('on and on ');
      },
    };
    const stopped = await run(whatIf(chain, { id: failing.done.tip, provider: 'script' }, [endless], controller.signal), (part) => {
      if (part.kind === 'reply') controller.abort();
    });
    expect(stopped.done).toMatchObject({ commits: [], tip: failing.done.tip, left: 2, stopped: { why: 'canceled' } });
  });

  test('the recording replays the turns on top of the change', async () => {
    const chain = emptyChain();
    const branch = changed(chain, session(chain));
    const { done } = await run(whatIf(chain, { id: branch.id, provider: 'recorded' }, []));
    expect(wordsOf(chain, done.tip).slice(2)).toEqual([
      ...['look closely', 'Read', 'const n = 1;', 'it counts', 'fix it', 'Edit', 'done', 'fixed', 'thanks', 'welcome'],
    ]);
    expect(done.stopped).toBeNull();
    for (const id of done.commits) expect(reproduceTurn(chain, id).identical).toBe(true);
  });
});

test('[P1] every turn that Stemma ran is rebuilt identical, for random conversations', { tags: 'long' }, async () => {
  const words = fc.string({ unit: 'binary', minLength: 1, maxLength: 40 }).filter((each) => each.trim() !== '' && each.isWellFormed());
  const given = fc.dictionary(fc.string({ minLength: 1, maxLength: 8 }), fc.jsonValue({ maxDepth: 2 }), { maxKeys: 3 });
  const pieces = fc.array(
    fc.oneof(
      words.map((delta): ReplyPiece => ({ kind: 'text', delta })),
      words.map((delta): ReplyPiece => ({ kind: 'thinking', delta })),
      given.map((value) => calls('t', 'Read', value)),
    ),
    { minLength: 1, maxLength: 4 },
  );
  const prompts = fc.array(words, { minLength: 1, maxLength: 3 });
  await fc.assert(
    fc.asyncProperty(
      prompts,
      fc.array(pieces, { minLength: 4, maxLength: 4 }),
      fc.constantFrom('anthropic', 'openai'),
      fc.boolean(),
      async (said, replies, wire, isEdited) => {
        const chain = emptyChain();
        let id: ContextId | null = null;
        for (const each of said) {
          const appended: EntryDraft[] = [
            { role: 'user', kind: 'text', text: each },
            { role: 'assistant', kind: 'text', text: 'ok' },
          ];
          id = fork(chain, { id, edits: appended.map((entry) => ({ op: 'append', entry })) }).id;
        }
        let asked = 0;
        const provider: ModelProvider = {
          ...scripted(),
          wire: wire as ModelProvider['wire'],
          async *stream() {
            // Providers give every call its own id.
            for (const [at, piece] of (replies[asked % replies.length] ?? []).entries())
              yield piece.kind === 'tool_call' ? { ...piece, toolCallId: `t${asked}-${at}` } : piece;
            asked += 1;
          },
        };
        const turnId = id as ContextId;
        const edit = { op: 'append' as const, entry: { role: 'user' as const, kind: 'text' as const, text: 'and?' } };
        const stream = rerunTurn(chain, { turnId, provider: 'script', samples: 2, ...(isEdited && { edits: [edit] }) }, [provider]);
        let step = await stream.next();
        while (!step.done) step = await stream.next();
        for (const commit of step.value.commits) expect(reproduceTurn(chain, commit)).toMatchObject({ identical: true, differences: [] });
        const [first] = history(chain, turnId).toReversed();
        const { done } = await run(whatIf(chain, { id: (first as Commit).id, original: turnId, provider: 'script', stopAt: 'never' }, [provider]));
        for (const commit of done.commits) expect(reproduceTurn(chain, commit)).toMatchObject({ identical: true, differences: [] });
      },
    ),
    { numRuns: runs(40) },
  );
});

import { createHash } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import type { ContextId, EntryKey, Timestamp } from '../../../src/core/base/index.js';
import {
  checkpoint,
  compact,
  entries,
  entriesNear,
  find,
  findCommit,
  forgetGraph,
  fork,
  graph,
  history,
  layOut,
  materialize,
  materializedBytes,
  outlineRows,
  placedInPieces,
  resolve,
  show,
  snapshot,
  tips,
  update,
  type WriteChain,
} from '../../../src/core/chain/index.js';
import { type Commit, packOutline, unpackOutline } from '../../../src/core/contract/index.js';
import { openProject } from '../../../src/core/project/index.js';
import { answer, call, prompt, result } from '../../support/claude-lines.js';
import { emptyChain, emptyProject, heldClock } from '../../support/project.js';

const format = 'claude-code-v1';

function commit(chain: WriteChain, parent: Commit | null, text: string, more: Partial<Parameters<typeof checkpoint>[1]> = {}): Commit {
  return checkpoint(chain, { parent: parent?.id ?? null, type: 'delta', format, text, template: 'coder', checkpoint: 'turn_boundary', ...more });
}

/** A chain: a prompt with its answer, and one more commit for each further number. */
function conversation(chain: WriteChain, turns: number): Commit[] {
  const commits: Commit[] = [];
  for (let turn = 1; turn <= turns; turn++) {
    const before = turn === 1 ? null : `a${turn - 1}`;
    commits.push(
      commit(
        chain,
        commits.at(-1) ?? null,
        prompt(`u${turn}`, `question ${turn}`, { parent: before }) + answer(`a${turn}`, `answer ${turn}`, { parent: `u${turn}` }),
      ),
    );
  }
  return commits;
}

const texts = (chain: WriteChain, id: ContextId, stop?: 'root' | 'compaction' | ContextId): (string | undefined)[] =>
  entries(chain, { id, stop }).entries.map((entry) => entry.text);
const refusal = (work: () => unknown): { code: string; data: Record<string, unknown> } => {
  try {
    work();
  } catch (error) {
    return error as { code: string; data: Record<string, unknown> };
  }
  throw new Error('nothing was refused');
};

describe('identity', () => {
  test('[C1] an id is a prefix of the SHA-256 over parent, ref, time and template', () => {
    const chain = emptyChain();
    const root = commit(chain, null, prompt('u1', 'hello'));
    const child = commit(chain, root, answer('a1', 'hi', { parent: 'u1' }));
    const digest = (parent: string, made: Commit) =>
      createHash('sha256').update([parent, made.artifactRef, made.createdAt, made.template].join('\0')).digest('hex');
    expect(root.id).toBe(`ctx-${digest('', root).slice(0, 8)}`);
    expect(child.id).toBe(`ctx-${digest(root.id, child).slice(0, 8)}`);
  });

  test('[C1] the same four inputs return the same commit, unchanged', () => {
    const chain = emptyChain();
    const text = prompt('u1', 'hello');
    const first = commit(chain, null, text, { summary: 'first' });
    expect(commit(chain, null, text, { summary: 'second' })).toEqual(first);
    expect(graph(chain, { offset: 0, limit: 10 }).total).toBe(1);
  });

  test('[C1] a prefix collision makes the next id longer, and both ids are found', () => {
    const chain = emptyChain();
    const first = commit(chain, null, prompt('u1', 'hello'));
    // Simulate a 32-bit collision: give another commit the prefix of the next one.
    const next = { text: prompt('u2', 'again'), createdAt: '2026-02-02T00:00:00.000Z' as Timestamp };
    const probe = commit(emptyChain(), null, next.text, { createdAt: next.createdAt });
    chain.db.run('UPDATE commits SET id = ? WHERE id = ?', probe.id, first.id);
    const second = commit(chain, null, next.text, { createdAt: next.createdAt });
    expect(second.id).toMatch(/^ctx-[0-9a-f]{9}$/);
    expect(second.id.startsWith(probe.id)).toBe(true);
    expect(show(chain, probe.id).artifactRef).toBe(first.artifactRef);
    expect(show(chain, second.id).artifactRef).toBe(second.artifactRef);
  });

  test('[C17] a unique prefix of an id finds its commit; other prefixes are refused', () => {
    const chain = emptyChain();
    const [root] = conversation(chain, 1);
    expect(show(chain, (root as Commit).id.slice(0, 9) as ContextId).id).toBe((root as Commit).id);
    conversation(chain, 40);
    expect(refusal(() => show(chain, 'ctx-' as ContextId)).code).toBe('BAD_REQUEST');
    expect(refusal(() => show(chain, 'ctx-fffffffffffff' as ContextId)).code).toBe('NOT_FOUND');
  });

  test('[C2] [C21] an unknown parent, format or artifact is refused and nothing is written', () => {
    const chain = emptyChain();
    const text = prompt('u1', 'hello');
    const base = { type: 'delta', template: 't', checkpoint: 'explicit' } as const;
    expect(refusal(() => checkpoint(chain, { ...base, parent: 'ctx-00000000' as ContextId, format, text }))).toMatchObject({
      code: 'NOT_FOUND',
      data: { field: 'parent' },
    });
    expect(refusal(() => checkpoint(chain, { ...base, parent: null, format: 'no-such-v9', text }))).toMatchObject({
      code: 'BAD_REQUEST',
      data: { field: 'format' },
    });
    expect(refusal(() => checkpoint(chain, { ...base, parent: null, format, artifactRef: `blake3:${'0'.repeat(64)}` }))).toMatchObject({
      code: 'NOT_FOUND',
    });
    expect(refusal(() => checkpoint(chain, { ...base, parent: null, format, text: 'this is no JSON line\n' }))).toMatchObject({
      code: 'BAD_REQUEST',
    });
    expect(chain.db.one('SELECT COUNT(*) AS n FROM commits')).toEqual({ n: 0 });
    expect(chain.db.one('SELECT COUNT(*) AS n FROM artifact')).toEqual({ n: 0 });
  });

  test('[C12] a child is never older than its parent, even if the clock was set back', () => {
    const clock = heldClock();
    const chain = emptyChain(clock);
    const root = commit(chain, null, prompt('u1', 'hello'));
    clock.at -= 86_400_000;
    expect(commit(chain, root, answer('a1', 'hi', { parent: 'u1' })).createdAt).toBe(root.createdAt);
  });

  test('[C10] messages are counted in the content; a given token count is kept', () => {
    const chain = emptyChain();
    const counted = commit(chain, null, prompt('u1', 'four') + answer('a1', 'eightltr', { parent: 'u1' }));
    expect(counted).toMatchObject({ messageCount: 2, tokenCount: 3 });
    expect(commit(chain, counted, prompt('u2', 'more', { parent: 'a1' }), { messageCount: 1, tokenCount: 9 })).toMatchObject({
      messageCount: 1,
      tokenCount: 9,
    });
  });

  test('[C16] template and principal are free strings', () => {
    const made = commit(emptyChain(), null, prompt('u1', 'x'), { template: 'bureau/reviewer:v2 — ü', principal: '@iree/pm:host' });
    expect(made).toMatchObject({ template: 'bureau/reviewer:v2 — ü', principal: '@iree/pm:host' });
  });
});

describe('walks', () => {
  test('[C3] a walk ends at the nearest compaction', () => {
    const chain = emptyChain();
    const [, , third] = conversation(chain, 3) as [Commit, Commit, Commit];
    const compaction = compact(chain, third.id, 'the summary');
    const after = commit(chain, compaction, prompt('u9', 'go on'));
    expect(texts(chain, after.id)).toEqual(['the summary', 'go on']);
    expect(texts(chain, compaction.id)).toEqual(['the summary']);
  });

  test('[C4] a root walk contains every delta, and no compaction or snapshot', () => {
    const chain = emptyChain();
    const [, second] = conversation(chain, 2) as [Commit, Commit];
    const snap = snapshot(chain, second.id);
    const compaction = compact(chain, snap.id, 'the summary');
    const after = commit(chain, compaction, prompt('u9', 'go on'));
    expect(texts(chain, after.id, 'root')).toEqual(['question 1', 'answer 1', 'question 2', 'answer 2', 'go on']);
    expect(texts(chain, snap.id)).toEqual(['question 1', 'answer 1', 'question 2', 'answer 2']);
  });

  test('[C4] a snapshot without a parent contributes its content', () => {
    const chain = emptyChain();
    const root = commit(chain, null, prompt('u1', 'brought along'), { type: 'snapshot' });
    expect(texts(chain, commit(chain, root, prompt('u2', 'new', { parent: 'u1' })).id, 'root')).toEqual(['brought along', 'new']);
  });

  test('[C5] a walk to an ancestor includes it; any other stop is refused with both names', () => {
    const chain = emptyChain();
    const [first, second, third] = conversation(chain, 3) as [Commit, Commit, Commit];
    expect(texts(chain, third.id, second.id)).toEqual(['question 2', 'answer 2', 'question 3', 'answer 3']);
    const compaction = compact(chain, third.id, 'sum');
    const after = commit(chain, compaction, prompt('u9', 'go on'));
    expect(texts(chain, after.id, compaction.id)).toEqual(['sum', 'go on']);
    const side = commit(chain, first, prompt('u8', 'aside', { parent: 'a1' }));
    expect(refusal(() => texts(chain, side.id, third.id))).toMatchObject({ code: 'BAD_REQUEST', data: { id: side.id, stop: third.id } });
  });

  test('[C6] materializing null gives the empty conversation', () => {
    const chain = emptyChain();
    const made = materialize(chain, { id: null });
    expect(made).toMatchObject({ messageCount: 0, tokenCount: 0, commits: [], tier: 'native' });
    expect(chain.artifacts.read(chain.artifacts.find(made.artifactRef))).toHaveLength(0);
  });

  test('[C8] [C20] a materialization joins the deltas in order, cached or not', () => {
    const chain = emptyChain();
    const first = commit(chain, null, prompt('u1', 'no newline at the end').trimEnd());
    const second = commit(chain, first, answer('a1', 'hi', { parent: 'u1' }));
    const bytes = materializedBytes(chain, { id: second.id }).bytes;
    expect(Buffer.from(bytes).toString().split('\n')).toHaveLength(3);
    expect(materialize(chain, { id: second.id }).cached).toBe(false);
    expect(materialize(chain, { id: second.id }).cached).toBe(true);
    expect(Buffer.from(materializedBytes(chain, { id: second.id }).bytes).equals(bytes)).toBe(true);
  });

  test('[C18] branches of one parent do not see each other', () => {
    const chain = emptyChain();
    const [first] = conversation(chain, 1) as [Commit];
    const left = commit(chain, first, prompt('l', 'left', { parent: 'a1' }));
    const right = commit(chain, first, prompt('r', 'right', { parent: 'a1' }));
    const further = commit(chain, right, prompt('r2', 'further right', { parent: 'r' }));
    expect(texts(chain, left.id)).toEqual(['question 1', 'answer 1', 'left']);
    expect(texts(chain, further.id)).toEqual(['question 1', 'answer 1', 'right', 'further right']);
    expect(show(chain, first.id).children).toEqual([left.id, right.id]);
    expect(
      tips(chain, {})
        .map((tip) => tip.id)
        .sort(),
    ).toEqual([left.id, further.id].sort());
  });

  test('history lists the commits back to the root, across branches', () => {
    const chain = emptyChain();
    const commits = conversation(chain, 200);
    const branch = commit(chain, commits[99] as Commit, prompt('b', 'branch', { parent: 'a100' }));
    const back = history(chain, branch.id);
    expect(back).toHaveLength(101);
    expect(back.map((each) => each.id)).toEqual([
      branch.id,
      ...commits
        .slice(0, 100)
        .map((each) => each.id)
        .reverse(),
    ]);
    expect(history(chain, branch.id, 3)).toHaveLength(3);
    expect(history(chain, branch.id, 0)).toHaveLength(0);
  });
});

describe('resolve and update', () => {
  test('[C11] resolve finds the newest commit at or before an instant, late arrivals included', () => {
    const chain = emptyChain();
    const at = (time: string, uuid: string) =>
      commit(chain, null, prompt(uuid, uuid), { principal: 'p', createdAt: `2026-03-0${time}T00:00:00.000Z` as Timestamp });
    const second = at('2', 'second');
    const fourth = at('4', 'fourth');
    const twin = at('4', 'twin');
    const late = at('3', 'late');
    const resolved = (time: string) => resolve(chain, 'p', `2026-03-0${time}T12:00:00.000Z` as Timestamp).id;
    expect([resolved('1'), resolved('2'), resolved('3'), resolved('4')]).toEqual([null, second.id, late.id, twin.id]);
    expect(fourth.id).not.toBe(twin.id);
    expect(resolve(chain, 'nobody', '2026-03-04T12:00:00.000Z' as Timestamp)).toEqual({ id: null, at: null });
  });

  test('[C13] summary and tags can change, and earlier values are kept', () => {
    const clock = heldClock();
    const chain = emptyChain(clock);
    const [made] = conversation(chain, 1) as [Commit];
    update(chain, made.id, { summary: 'first words' });
    clock.at += 1_000;
    const changed = update(chain, made.id, { summary: 'better words', tags: ['keep'] });
    expect(changed).toEqual({ ...made, summary: 'better words', tags: ['keep'] });
    expect(chain.db.all('SELECT summary, at FROM contextVersion ORDER BY no')).toEqual([
      { summary: null, at: clock.at - 1_000 },
      { summary: 'first words', at: clock.at },
    ]);
  });
});

describe('compaction', () => {
  test('[C9] [C14] a compaction follows its delta, adds no messages and counts its summary', () => {
    const chain = emptyChain();
    const [, second] = conversation(chain, 2) as [Commit, Commit];
    const made = compact(chain, second.id, 'twelve bytes');
    expect(made).toMatchObject({ parent: second.id, type: 'compaction', checkpoint: 'compaction', messageCount: 0 });
    expect(entries(chain, { id: made.id }).entries).toMatchObject([{ kind: 'summary', text: 'twelve bytes' }]);
    expect(made.tokenCount).toBeGreaterThan(0);
    expect(graph(chain, { offset: 0, limit: 1 }).rows[0]).toMatchObject({ replacedTokens: second.tokenCount * 2, contextTokens: made.tokenCount });
  });
});

describe('fork', () => {
  const withTools = (chain: WriteChain): Commit =>
    commit(
      chain,
      null,
      prompt('u1', 'look') +
        call('a1', 't1', 'Read', { file: 'x' }, { parent: 'u1' }) +
        result('r1', 't1', 'content', { parent: 'a1' }) +
        answer('a2', 'seen', { parent: 'r1' }),
    );

  test('[C15] a fork without a cut or edits makes no commit', () => {
    const chain = emptyChain();
    const [, second] = conversation(chain, 2) as [Commit, Commit];
    expect(fork(chain, { id: second.id })).toEqual(second);
    expect(fork(chain, { id: second.id, at: 'a1.0' as EntryKey }).id).toBe(second.parent);
  });

  test('[C15] a cut inside a delta keeps the bytes before it and the parent', () => {
    const chain = emptyChain();
    const [first, second] = conversation(chain, 2) as [Commit, Commit];
    const made = fork(chain, { id: second.id, at: 'u2.0' as EntryKey });
    expect(made.parent).toBe(first.id);
    expect(texts(chain, made.id)).toEqual(['question 1', 'answer 1', 'question 2']);
    const original = Buffer.from(materializedBytes(chain, { id: second.id, stop: second.id }).bytes).toString();
    expect(original.startsWith(Buffer.from(materializedBytes(chain, { id: made.id, stop: made.id }).bytes).toString())).toBe(true);
  });

  test('[C15] a cut between a call and its result leaves the call open', () => {
    const chain = emptyChain();
    const made = fork(chain, { id: withTools(chain).id, at: 'a1.0' as EntryKey });
    expect(entries(chain, { id: made.id }).entries.map((entry) => entry.kind)).toEqual(['text', 'tool_call']);
  });

  test('[C15] edits drop, replace, insert and append, in any commit before the cut', () => {
    const chain = emptyChain();
    const [, , third] = conversation(chain, 3) as [Commit, Commit, Commit];
    const made = fork(chain, {
      id: third.id,
      at: 'u3.0' as EntryKey,
      edits: [
        { op: 'drop', key: 'a1.0' as EntryKey },
        { op: 'replace', key: 'u2.0' as EntryKey, entry: { role: 'user', kind: 'text', text: 'another question' } },
        { op: 'insert', key: 'a2.0' as EntryKey, entry: { role: 'assistant', kind: 'text', text: 'first this' } },
        { op: 'append', entry: { role: 'assistant', kind: 'text', text: 'at the end' } },
      ],
    });
    expect(texts(chain, made.id)).toEqual(['question 1', 'another question', 'first this', 'answer 2', 'question 3', 'at the end']);
    expect(history(chain, made.id)).toHaveLength(3);
    expect(texts(chain, third.id)).toEqual(['question 1', 'answer 1', 'question 2', 'answer 2', 'question 3', 'answer 3']);
    expect(entries(chain, { id: made.id }).entries[0]?.key).toBe('u1.0');
  });

  test('[C15] a result without its call is refused with its key', () => {
    const chain = emptyChain();
    const made = withTools(chain);
    expect(refusal(() => fork(chain, { id: made.id, edits: [{ op: 'drop', key: 'a1.0' as EntryKey }] }))).toMatchObject({
      code: 'BAD_REQUEST',
      data: { key: 'r1.0' },
    });
    const both = fork(chain, {
      id: made.id,
      edits: [
        { op: 'drop', key: 'a1.0' as EntryKey },
        { op: 'drop', key: 'r1.0' as EntryKey },
      ],
    });
    expect(texts(chain, both.id)).toEqual(['look', 'seen']);
  });

  test('[C15] an edit after the cut or of another chain is refused', () => {
    const chain = emptyChain();
    const [first, second] = conversation(chain, 2) as [Commit, Commit];
    expect(refusal(() => fork(chain, { id: first.id, at: 'a2.0' as EntryKey })).code).toBe('NOT_FOUND');
    expect(refusal(() => fork(chain, { id: second.id, at: 'u2.0' as EntryKey, edits: [{ op: 'drop', key: 'a2.0' as EntryKey }] })).code).toBe(
      'BAD_REQUEST',
    );
  });

  test('a fork before a compaction has the full history', () => {
    const chain = emptyChain();
    const [, second] = conversation(chain, 2) as [Commit, Commit];
    const after = commit(chain, compact(chain, second.id, 'sum'), prompt('u9', 'go on'));
    const made = fork(chain, { id: after.id, at: 'u2.0' as EntryKey });
    expect(texts(chain, made.id)).toEqual(['question 1', 'answer 1', 'question 2']);
  });

  test('a fork of null starts a conversation', () => {
    const chain = emptyChain();
    const made = fork(chain, { id: null, edits: [{ op: 'append', entry: { role: 'user', kind: 'text', text: 'hello' } }] });
    expect(made.parent).toBeNull();
    expect(texts(chain, made.id)).toEqual(['hello']);
    expect(refusal(() => fork(chain, { id: null })).code).toBe('BAD_REQUEST');
  });
});

describe('reading a context', () => {
  test('pages are ranges of the context, and the outline agrees with the entries', () => {
    const chain = emptyChain();
    const last = conversation(chain, 30).at(-1) as Commit;
    const whole = entries(chain, { id: last.id });
    const page = entries(chain, { id: last.id, offset: 17, limit: 9 });
    expect(page.total).toBe(60);
    expect(page.entries).toEqual(whole.entries.slice(17, 26));
    const outline = outlineRows(chain, { id: last.id });
    expect(outline.rows.map((row) => row.key)).toEqual(whole.entries.map((entry) => entry.key));
    expect(outline.tokens).toBe(whole.entries.reduce((sum, entry) => sum + entry.tokens, 0));
    expect(unpackOutline(packOutline(outline.rows))).toEqual(outline.rows);
    expect(entries(chain, { id: last.id, offset: 99 }).entries).toEqual([]);
  });

  test('[W53] a long context begins with the entries around its last prompt or a selected entry', { tags: 'long' }, () => {
    const chain = emptyChain();
    const commits = conversation(chain, 320);
    const last = commits.at(-1) as Commit;
    const whole = entries(chain, { id: last.id }).entries;
    const { rows } = outlineRows(chain, { id: last.id });
    const begun = entriesNear(chain, { id: last.id }, null);
    expect(begun?.rows).toEqual(rows.slice(-22));
    expect(begun?.entries).toEqual(whole.slice(-22));
    expect(begun?.rows[20]).toMatchObject({ prompt: true, commit: last.id });
    expect(begun?.total).toBe(22);
    const linked = entriesNear(chain, { id: last.id, stop: 'root' }, rows.at(-60)?.key ?? null);
    expect(linked?.rows).toEqual(rows.slice(-80));
    // An entry that is not among the last ones begins at the last prompt, and a short context is not divided.
    expect(entriesNear(chain, { id: last.id }, rows[0]?.key ?? null)?.rows).toEqual(rows.slice(-22));
    expect(entriesNear(chain, { id: commits[299]?.id as ContextId }, null)).toBeUndefined();
    expect(entriesNear(chain, { id: compact(chain, last.id, 'short', []).id }, null)).toBeUndefined();
  });

  test('[W53] the entries of a long context are read in pieces', () => {
    const chain = emptyChain();
    const last = conversation(chain, 420).at(-1) as Commit;
    const reading = placedInPieces(chain, { id: last.id });
    expect([reading.next().done, reading.next().done, reading.next().done]).toEqual([false, false, true]);
    expect(outlineRows(chain, { id: last.id }).total).toBe(840);
    expect(placedInPieces(chain, { id: last.id }).next().done).toBe(true);
  });

  test('find searches texts, calls and results, ignoring case', () => {
    const chain = emptyChain();
    const made = commit(
      chain,
      null,
      prompt('u1', 'Look at QUEUE') +
        call('a1', 't1', 'Read', { path: 'queue.js' }, { parent: 'u1' }) +
        result('r1', 't1', 'nothing', { parent: 'a1' }),
    );
    expect(find(chain, { id: made.id, text: 'queue' }).hits).toEqual([0, 1]);
  });

  test('a result has the tool name of its call, also from an earlier commit', () => {
    const chain = emptyChain();
    const first = commit(chain, null, prompt('u1', 'look') + call('a1', 't1', 'Read', {}, { parent: 'u1' }));
    const second = commit(chain, first, result('r1', 't1', 'content', { parent: 'a1' }));
    expect(entries(chain, { id: second.id }).entries.at(-1)).toMatchObject({ kind: 'tool_result', toolName: 'Read' });
  });
});

describe('lanes', () => {
  test('[C19] children are above parents; each branch has a lane that leads to its parent', () => {
    const chain = emptyChain();
    const [first, second] = conversation(chain, 2) as [Commit, Commit];
    const branch = commit(chain, first, prompt('b', 'branch', { parent: 'a1' }));
    const { rows, total } = graph(chain, { offset: 0, limit: 10 });
    expect(total).toBe(3);
    expect(rows.map((row) => row.commit.id)).toEqual([branch.id, second.id, first.id]);
    expect(rows.map((row) => row.lane)).toEqual([1, 0, 0]);
    expect(rows[1]?.edges).toEqual([
      { fromLane: 0, toLane: 0 },
      { fromLane: 1, toLane: 0 },
    ]);
    expect(rows[2]?.edges).toEqual([]);
  });

  test('[C19] a range of rows equals that range of all rows', { tags: 'long' }, () => {
    const chain = emptyChain();
    const trunk = conversation(chain, 400);
    for (let at = 5; at < 400; at += 13) commit(chain, trunk[at] as Commit, prompt(`b${at}`, 'branch', { parent: `a${at + 1}` }));
    const all = graph(chain, { offset: 0, limit: 5_000 });
    for (const offset of [0, 1, 255, 256, 257, 300]) expect(graph(chain, { offset, limit: 40 }).rows).toEqual(all.rows.slice(offset, offset + 40));
  });

  test('[C19] commits of another connection are added to a graph that was drawn before', () => {
    const { chain, dir } = emptyProject();
    const [first] = conversation(chain, 2) as [Commit];
    const before = graph(chain, { offset: 0, limit: 10 });
    const other = openProject(dir, heldClock());
    commit(other.chain, first, prompt('b', 'branch', { parent: 'a1' }));
    const rows = graph(chain, { offset: 0, limit: 10 });
    expect(rows.total).toBe(before.total + 1);
    expect(rows).toEqual(graph(other.chain, { offset: 0, limit: 10 }));
    other.close();
  });

  test('[C19] a graph shows what a repair has changed in its commits', () => {
    const { chain } = emptyProject();
    conversation(chain, 2);
    const [last, first] = graph(chain, { offset: 0, limit: 10 }).rows;
    chain.db.run('UPDATE commits SET parent = NULL WHERE seq = 2');
    forgetGraph(chain);
    expect([last?.edges, graph(chain, { offset: 0, limit: 10 }).rows[0]?.edges, first?.edges]).toEqual([[{ fromLane: 0, toLane: 0 }], [], []]);
  });

  test('[C19] wrong clocks never put a parent above its child', () => {
    const nodes = [
      { seq: 1, parent: null, createdAt: 500, forked: false },
      { seq: 2, parent: 1, createdAt: 100, forked: false },
      { seq: 3, parent: 2, createdAt: 900, forked: false },
      { seq: 4, parent: 1, createdAt: 50, forked: false },
    ] as unknown as Parameters<typeof layOut>[0];
    const order = layOut(nodes)
      .rows(0, 10)
      .map((row) => row.seq);
    expect(order.indexOf(1 as never)).toBe(3);
    expect(order.indexOf(3 as never)).toBeLessThan(order.indexOf(2 as never));
  });

  test('a filter shows the whole tree of each matching commit', () => {
    const chain = emptyChain();
    const root = commit(chain, null, prompt('u1', 'x'), { sessionId: 's1' });
    commit(chain, root, prompt('u2', 'y', { parent: 'u1' }), { sessionId: 's2' });
    commit(chain, null, prompt('other', 'z'), { sessionId: 's3' });
    expect(graph(chain, { filter: { sessionId: 's2' }, offset: 0, limit: 9 }).total).toBe(2);
    expect(findCommit(chain, root.id).sessionId).toBe('s1');
  });
});

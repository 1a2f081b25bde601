import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import type { ContextId, EntryKey } from '../../../src/core/base/index.js';
import { compact, entries, fork, history, snapshot, tips, type WriteChain } from '../../../src/core/chain/index.js';
import { countedGraph, loadPrices, loadTokenizer, unstoredWindows, usageOfFork } from '../../../src/core/usage/index.js';
import { prompt, result } from '../../support/claude-lines.js';
import { usageOfContext } from '../../support/counted.js';
import { reply, session, usage } from '../../support/counted-lines.js';
import { importInto } from '../../support/imports.js';
import { emptyChain, scratch } from '../../support/project.js';

beforeAll(async () => {
  await loadPrices();
  await loadTokenizer();
});

function imported(lines: readonly string[]): { chain: WriteChain; tip: ContextId } {
  const chain = emptyChain();
  const path = join(scratch(), 'session.jsonl');
  writeFileSync(path, lines.join(''));
  importInto(chain, path);
  return { chain, tip: tips(chain, {})[0]?.id as ContextId };
}

const edit = (chain: WriteChain, tip: ContextId, key: string, text: string) =>
  fork(chain, {
    id: tip,
    at: key as EntryKey,
    edits: [{ op: 'replace', key: key as EntryKey, entry: { role: 'user', kind: 'text', text } }],
  });

/** The number that the chain shows for a commit. */
const inChain = (chain: WriteChain, id: ContextId): number | undefined =>
  countedGraph(chain, { offset: 0, limit: 100 }, unstoredWindows).rows.find(({ commit }) => commit.id === id)?.estimatedTokens;

const added = (chain: WriteChain, id: ContextId): number => entries(chain, { id, stop: id }).entries.reduce((sum, { tokens }) => sum + tokens, 0);

describe('[N28] the counted base goes with a fork, and only the edit is estimated', () => {
  test('an edited prompt starts from the last call before it and its reply', () => {
    const { chain, tip } = imported(session('a', 4));
    const text = 'A question with some more words in it.';
    const planned = usageOfFork(chain, { id: tip, at: 'a-p2.0' as EntryKey, text });
    const { id } = edit(chain, tip, 'a-p2.0', text);
    // The second call was sent 3 + 1,000 + 1,000 tokens and replied with 21.
    const base = 2_003 + 21;
    const shown = usageOfContext(chain, id);
    expect(shown).toMatchObject({ counted: null, estimated: base + added(chain, id), since: { counted: base, edited: added(chain, id) } });
    const parts = shown.parts.reduce((sum, { tokens }) => sum + tokens, 0);
    expect(parts + (shown.notRecorded ?? 0)).toBe(shown.estimated);
    const before = usageOfContext(chain, history(chain, id)[1]?.id as ContextId);
    expect(Math.abs((shown.notRecorded ?? 0) - (before.notRecorded ?? 0))).toBeLessThan(30);
    // The dialog, the chain and the inspector show one number.
    expect(planned).toMatchObject({ estimated: shown.estimated, since: { counted: base, edited: added(chain, id) } });
    expect(inChain(chain, id)).toBe(shown.estimated);
  });

  test('what an edit in the middle removed or added is estimated, and nothing else', () => {
    const lines = [
      prompt('p', 'Look at the file.'),
      reply('c', { parent: 'p', usage: usage(5_000, 0, 0, 30), block: { type: 'tool_use', id: 't', name: 'Read', input: { file_path: 'a' } } }),
      result('r', 't', 'one two three '.repeat(50), { parent: 'c' }),
      reply('d', { parent: 'r', usage: usage(6_000, 0, 0, 40), text: 'Read.' }),
      prompt('q', 'And now?', { parent: 'd' }),
      reply('e', { parent: 'q', usage: usage(6_100, 0, 0, 10), text: 'Done.' }),
    ];
    const { chain, tip } = imported(lines);
    const whole = entries(chain, { id: tip, stop: 'root' }).entries;
    const gone = whole.filter(({ kind }) => kind === 'tool_result' || kind === 'tool_call');
    const { id } = fork(chain, { id: tip, edits: gone.map(({ key }) => ({ op: 'drop' as const, key })) });
    const removed = gone.reduce((sum, { tokens }) => sum + tokens, 0);
    expect(usageOfContext(chain, id)).toMatchObject({ counted: null, estimated: 6_110 - removed, since: { counted: 6_110, edited: -removed } });
    expect(inChain(chain, id)).toBe(6_110 - removed);
    const more = fork(chain, { id, edits: [{ op: 'append', entry: { role: 'user', kind: 'text', text: 'One more question.' } }] });
    expect(usageOfContext(chain, more.id).estimated).toBe(6_110 - removed + added(chain, more.id));
  });

  test('a fork of a fork, a rerun and a snapshot start from the same base', () => {
    const { chain, tip } = imported(session('a', 3));
    const copy = snapshot(chain, tip);
    expect(usageOfContext(chain, copy.id)).toMatchObject({ counted: null, estimated: 3_003 + 22, since: { edited: 0 } });
    const first = edit(chain, tip, 'a-p1.0', 'Another question.');
    const answered = fork(chain, { id: first.id, edits: [{ op: 'append', entry: { role: 'assistant', kind: 'text', text: 'An answer.' } }] });
    expect(usageOfContext(chain, answered.id).estimated).toBe(1_003 + 20 + added(chain, first.id) + added(chain, answered.id));
  });

  test('without a counted call before the edit, everything is estimated', () => {
    const { chain, tip } = imported(session('a', 2));
    const { id } = edit(chain, tip, 'a-p0.0', 'The first question.');
    const shown = usageOfContext(chain, id);
    expect(shown).toMatchObject({ counted: null, notRecorded: null });
    expect(shown.since).toBeUndefined();
    expect(usageOfFork(chain, { id: tip, at: 'a-p0.0' as EntryKey, text: 'The first question.' }).since).toBeNull();
    expect(inChain(chain, id)).toBeUndefined();
    const summary = compact(chain, tip, 'All of it.');
    expect(usageOfContext(chain, summary.id).since).toBeUndefined();
    expect(() => usageOfFork(chain, { id: tip, at: 'none.0' as EntryKey })).toThrow(expect.objectContaining({ code: 'NOT_FOUND' }));
  });

  test('a cut in the middle of a turn keeps what its last call counted', () => {
    const lines = [
      prompt('p', 'Look.'),
      reply('c', { parent: 'p', usage: usage(500, 0, 0, 30), block: { type: 'tool_use', id: 't', name: 'Read', input: { file_path: 'a' } } }),
      result('r', 't', 'text', { parent: 'c' }),
      reply('d', { parent: 'r', usage: usage(600, 0, 0, 40), text: 'Read.' }),
    ];
    const { chain, tip } = imported(lines);
    const { id } = fork(chain, { id: tip, at: 'r.0' as EntryKey });
    expect(usageOfContext(chain, id).counted).toBe(500);
  });
});

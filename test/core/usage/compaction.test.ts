import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { judgeCompaction } from '../../../src/core/assist/index.js';
import type { ContextId } from '../../../src/core/base/index.js';
import { history, tips, type WriteChain } from '../../../src/core/chain/index.js';
import type { ModelProvider } from '../../../src/core/turns/index.js';
import { countedGraph, unstoredWindows, usageCompaction, usageOfContext } from '../../../src/core/usage/index.js';
import { prompt, result } from '../../support/claude-lines.js';
import { reply, usage } from '../../support/counted-lines.js';
import { importInto } from '../../support/imports.js';
import { emptyChain, scratch } from '../../support/project.js';

const tool = (id: string, name: string, input: unknown) => ({ type: 'tool_use', id, name, input });

const compacted = (summary: string): string[] => {
  const boundary = {
    type: 'system',
    subtype: 'compact_boundary',
    content: 'Conversation compacted',
    uuid: 'b',
    parentUuid: null,
    logicalParentUuid: 'a5',
  };
  return [
    prompt('p', 'The login must keep its session cookie for ninety days, please'),
    reply('a1', { parent: 'p', block: tool('t1', 'Read', { file_path: '/repo/src/login.ts' }), usage: usage(900, 0, 0, 5) }),
    result('r1', 't1', 'export const cookie = 1;', { parent: 'a1' }),
    reply('a2', {
      parent: 'r1',
      block: tool('t2', 'Edit', { file_path: '/repo/src/index.ts', old_string: 'a', new_string: 'b' }),
      usage: usage(1_000, 0, 0, 5),
    }),
    result('r2', 't2', 'edited', { parent: 'a2' }),
    reply('a3', {
      parent: 'r2',
      block: tool('t3', 'Bash', { command: 'cat ./src/login.ts && go test test/index.ts' }),
      usage: usage(1_100, 0, 0, 5),
    }),
    result('r3', 't3', 'TypeError: maxAgeSeconds is not a function\nsee ENT-4711 and cookieJar.persist', { parent: 'a3' }),
    reply('a4', { parent: 'r3', block: tool('t4', 'Grep', { pattern: 'cookieJar.persist in ENT-4711' }), usage: usage(1_200, 0, 0, 5) }),
    result('r4', 't4', 'store/jar.go:12 writeThrough(jarStore)', { parent: 'a4' }),
    reply('a5', { parent: 'r4', text: 'I decided to call writeThrough with jarStore instead of the old path.', usage: usage(1_300, 0, 0, 5) }),
    `${JSON.stringify({ ...boundary, sessionId: 's1', timestamp: '2026-01-03T00:00:00.000Z', compactMetadata: { trigger: 'auto', preTokens: 1_300 } })}\n`,
    prompt('s', summary, { parent: 'b', at: '2026-01-03T00:00:01.000Z', extra: { isCompactSummary: true } }),
    prompt('p2', 'go on', { parent: 's', at: '2026-01-03T00:00:02.000Z' }),
    reply('a6', { parent: 'p2', at: '2026-01-03T00:00:05.000Z', usage: usage(400, 0, 0, 5) }),
  ];
};

function compactionOf(lines: readonly string[]): { chain: WriteChain; id: ContextId } {
  const chain = emptyChain();
  const path = join(scratch(), 'session.jsonl');
  writeFileSync(path, lines.join(''));
  importInto(chain, path);
  const id = history(chain, tips(chain, {})[0]?.id as ContextId).find(({ type }) => type === 'compaction')?.id;
  return { chain, id: id as ContextId };
}

const linesOf = (summary: string): string[] => {
  const { chain, id } = compactionOf(compacted(summary));
  return usageCompaction(chain, { id }).lost.map(({ kind, text }) => `${kind} ${text}`);
};

test('[N10] a compaction has one figure everywhere: the input of the first call after it', () => {
  const { chain, id } = compactionOf(compacted('We worked.'));
  const row = countedGraph(chain, { offset: 0, limit: 50 }, unstoredWindows).rows.find(({ commit }) => commit.id === id);
  expect(row?.compacted?.after).toBe(400);
  expect(usageCompaction(chain, { id }).after.counted).toBe(400);
  expect(usageOfContext(chain, id)).toMatchObject({ counted: null, next: { counted: 400 }, notRecorded: null });
});

test('[N10] a compaction that no counted call followed has an estimate only', () => {
  const { chain, id } = compactionOf(compacted('We worked.').slice(0, -2));
  expect(usageOfContext(chain, id)).toMatchObject({ counted: null });
  expect(usageOfContext(chain, id)).not.toHaveProperty('next');
});

test('[N10] a compaction names files, decisions, errors and results that its summary does not', () => {
  const { chain, id } = compactionOf(compacted('We worked.'));
  const found = usageCompaction(chain, { id });
  expect(found).toMatchObject({ commit: id, before: { counted: 1_300 }, after: { counted: 400, entries: 1 }, kept: 0, summaryKey: 's.0' });
  expect(found.lost.map(({ kind, text, key, uses }) => [kind, text, key, uses])).toEqual([
    ['file', '/repo/src/login.ts: read', 'a3.0', 2],
    ['file', '/repo/src/index.ts: changed', 'a2.0', 1],
    ['file', 'test/index.ts: read', 'a3.0', 1],
    ['decision', 'I decided to call writeThrough with jarStore instead of the old path.', 'a5.0', 1],
    ['decision', 'The login must keep its session cookie for ninety days, please', 'p.0', 1],
    ['error', 'TypeError: maxAgeSeconds is not a function', 'r3.0', 1],
    ['result', 'see ENT-4711 and cookieJar.persist', 'r3.0', 1],
    ['result', 'store/jar.go:12 writeThrough(jarStore)', 'r4.0', 1],
  ]);
  expect(found.totals).toEqual([
    { kind: 'file', found: 3, lost: 3 },
    { kind: 'decision', found: 2, lost: 2 },
    { kind: 'error', found: 1, lost: 1 },
    { kind: 'result', found: 2, lost: 2 },
  ]);
});

test('[N10] a mention by an end of the path, a name or most words keeps a thing', () => {
  const all = [
    'login.ts was read, src/index.ts changed, test/index.ts ran',
    'the login keeps its session cookie for ninety days',
    'maxAgeSeconds failed, see ENT-4711; writeThrough(jarStore) is called instead of the old path as decided',
  ];
  expect(linesOf(all.join('. '))).toEqual([]);
  // An end of a path that two files have names neither.
  expect(linesOf(`${all.slice(1).join('. ')}. login.ts and index.ts`)).toEqual(['file /repo/src/index.ts: changed', 'file test/index.ts: read']);
  expect(linesOf(all.join('. ').replace('login.ts', 'other/login.ts'))).toEqual(['file /repo/src/login.ts: read']);
  expect(linesOf(all.join('. ').replace('maxAgeSeconds', 'maxAgeSecondsLeft'))).toEqual(['error TypeError: maxAgeSeconds is not a function']);
});

test('[N10] a summary in Chinese mentions a Chinese prompt by its words', () => {
  const lines = (summary: string) => [
    prompt('p', '请把登录会话的有效期改成九十天'),
    reply('a5', { parent: 'p', usage: usage(900, 0, 0, 5) }),
    ...compacted(summary).slice(-4),
  ];
  const lost = (summary: string) => {
    const { chain, id } = compactionOf(lines(summary));
    return usageCompaction(chain, { id }).lost.length;
  };
  expect([lost('登录会话的有效期要改成九十天。'), lost('修好了测试。')]).toEqual([0, 1]);
});

test('[N10] a commit that is not a compaction is refused by its id', () => {
  const { chain, id } = compactionOf(compacted('We worked.'));
  const [tip] = tips(chain, {});
  expect(() => usageCompaction(chain, { id: tip?.id as ContextId })).toThrow(/is a delta, not a compaction/);
  expect(usageCompaction(chain, { id, limit: 2 }).lost).toHaveLength(2);
});

test('[N10] a compaction whose parent is lost is not shown as one that lost nothing', () => {
  const { chain, id } = compactionOf(compacted('We worked.'));
  chain.db.unenforced(() => chain.db.run('DELETE FROM commits WHERE seq = (SELECT parent FROM commits WHERE id = ?)', id));
  expect(() => usageCompaction(chain, { id })).toThrow(`The parent of ${id} is lost`);
});

const model = (reply: string, seen: string[] = []): ModelProvider => ({
  id: 'fake',
  title: 'A model of the test',
  wire: 'anthropic',
  models: async () => ({ models: ['m'] }),
  async *stream({ body }) {
    seen.push(JSON.stringify(body));
    yield { kind: 'text', delta: reply };
  },
});

test('[N10] a model judges which losses matter; lines of another form are skipped', async () => {
  const { chain, id } = compactionOf(compacted('We worked.'));
  const seen: string[] = [];
  const judged = await judgeCompaction(chain, { id, provider: 'fake' }, [
    model('1. matters: the file is edited next\n2 trivial\nwell\n99. matters: no', seen),
  ]);
  expect(seen[0]).toContain('1. file: /repo/src/login.ts: read');
  expect(judged.judgedBy).toEqual({ provider: 'fake' });
  expect(judged.lost.map(({ judgment }) => judgment)).toEqual([
    { matters: true, reason: 'the file is edited next' },
    { matters: false, reason: '' },
    ...Array(6).fill(undefined),
  ]);
  await expect(judgeCompaction(chain, { id, provider: 'none' }, [])).rejects.toThrow(/unknown provider/);
});

/** A session that was compacted again and again. Each summary names every file of its part but `lost-N.ts`. */
function manyTimes(rounds: number): string[] {
  const lines: string[] = [];
  let parent: string | null = null;
  const at = (second: number): string => new Date(Date.parse('2026-01-04T00:00:00.000Z') + second * 1_000).toISOString();
  let second = 0;
  for (let round = 1; round <= rounds; round++) {
    const id = (name: string): string => `${name}-${round}`;
    const files = [`kept-${round}.ts`, `lost-${round}.ts`];
    lines.push(prompt(id('p'), `part ${round}`, { parent, at: at(second++) }));
    parent = id('p');
    for (const [n, file] of files.entries()) {
      const counts = usage(100_000 * n + round, 20_000, 0, 5);
      const block = tool(id(`t${n}`), 'Read', { file_path: `/repo/src/${file}` });
      lines.push(reply(id(`a${n}`), { parent, at: at(second++), block, stop: 'tool_use', usage: counts }));
      lines.push(result(id(`r${n}`), id(`t${n}`), 'text', { parent: id(`a${n}`), at: at(second++) }));
      parent = id(`r${n}`);
    }
    const boundary = { type: 'system', subtype: 'compact_boundary', content: 'Conversation compacted', uuid: id('b'), parentUuid: null };
    const facts = { logicalParentUuid: parent, sessionId: 's1', timestamp: at(second++), compactMetadata: { trigger: 'auto', preTokens: 1 } };
    lines.push(`${JSON.stringify({ ...boundary, ...facts })}\n`);
    lines.push(prompt(id('s'), `We read kept-${round}.ts.`, { parent: id('b'), at: at(second++), extra: { isCompactSummary: true } }));
    lines.push(prompt(id('q'), 'go on', { parent: id('s'), at: at(second++) }));
    lines.push(reply(id('c'), { parent: id('q'), at: at(second++), usage: usage(40_000 + round, 0, 0, 5) }));
    parent = id('c');
  }
  return lines;
}

test('[N10] six compactions of one session have the counted totals and the losses of each', () => {
  const { chain } = compactionOf(manyTimes(6));
  const rows = chain.db.all<{ id: ContextId }>("SELECT id FROM commits WHERE type = 'compaction' ORDER BY seq");
  const found = rows.map(({ id }) => usageCompaction(chain, { id }));
  expect(found.map(({ before, after }) => [before.counted, after.counted])).toEqual(
    [1, 2, 3, 4, 5, 6].map((round) => [120_000 + round, 40_000 + round]),
  );
  for (const [at, { lost }] of found.entries())
    expect(lost.flatMap(({ path }) => path ?? []).map((path) => path.split('/').at(-1))).toEqual([`lost-${at + 1}.ts`]);
});

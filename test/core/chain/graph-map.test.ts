import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { ContextId } from '../../../src/core/base/index.js';
import { addCommit, checkpoint, fork, graph, graphMap } from '../../../src/core/chain/index.js';
import { graphMarks } from '../../../src/core/contract/index.js';
import { changeBranch, changeSession } from '../../../src/core/sessions/index.js';
import { answer, prompt } from '../../support/claude-lines.js';
import { importInto } from '../../support/imports.js';
import { emptyChain } from '../../support/project.js';

test('[W49] the map of a graph has the lanes, sizes and marks of its rows, and finds text', () => {
  const chain = emptyChain();
  const shared = { type: 'delta', format: 'claude-code-v1', template: 'claude-code', checkpoint: 'turn_boundary' } as const;
  let parent: ReturnType<typeof checkpoint>['id'] | null = null;
  const ids = [];
  for (let turn = 0; turn < 6; turn++) {
    const text = prompt(`u${turn}`, `Step ${turn}`, { parent: turn ? `a${turn - 1}` : null }) + answer(`a${turn}`, 'Done.', { parent: `u${turn}` });
    const made = checkpoint(chain, { ...shared, parent, text, summary: `Step ${turn}` });
    parent = made.id;
    ids.push(made.id);
  }
  fork(chain, { id: ids[2] ?? null, edits: [{ op: 'append', entry: { role: 'user', kind: 'text', text: 'Another way' } }] });
  const { total, rows } = graph(chain, { offset: 0, limit: 100 });
  const map = graphMap(chain, { text: 'STEP 4' });
  expect(map.total).toBe(total);
  const inStretches = map.rows.map((count) => rows.splice(0, count));
  expect(rows).toEqual([]);
  for (const [at, stretch] of inStretches.entries())
    for (const { lane, tipOf, forked } of stretch) {
      expect(lane).toBe(map.lanes[at]);
      expect(tipOf !== undefined || forked).toBe(((map.marks[at] ?? 0) & graphMarks.end) !== 0);
    }
  expect(map.tokens).toEqual(inStretches.map((stretch) => Math.max(...stretch.map(({ contextTokens }) => contextTokens))));
  expect(map.places?.map((place) => inStretches.flat()[place]?.commit.summary)).toEqual(['Step 4']);
  expect(map.marks.filter((mark) => mark & graphMarks.plain).length).toBeGreaterThan(0);
  expect(graphMap(chain, {}).places).toBeUndefined();
});

test('[W70] a side branch has the title of its first commit, and is found by it', () => {
  const chain = emptyChain();
  const shared = { type: 'delta', format: 'claude-code-v1', template: 'claude-code', checkpoint: 'turn_boundary', sessionId: 's1' } as const;
  const add = (name: string, parent: ContextId | null): ContextId =>
    checkpoint(chain, { ...shared, parent, text: prompt(name, name) + answer(`a-${name}`, 'Done.', { parent: name }), summary: name }).id;
  const first = add('first', null);
  add('second', first);
  add('end of the side branch', add('start of the side branch', first));
  const { rows } = graph(chain, { offset: 0, limit: 100 });
  const titles = rows.flatMap(({ tipOf, commit }) => (tipOf === undefined ? [] : [[commit.summary, tipOf]]));
  expect(Object.fromEntries(titles)).toEqual({ second: 'second', 'end of the side branch': 'start of the side branch' });
  const found = graphMap(chain, { text: 'start of' }).places?.map((place) => rows[place]?.commit.summary);
  expect(found?.sort()).toEqual(['end of the side branch', 'start of the side branch']);
});

test('[W49] the text is found where the rows show it, in whatever session', () => {
  const chain = emptyChain();
  for (const folder of ['subagents', 'codex']) importInto(chain, join(import.meta.dirname, '../../fixtures', folder));
  const rowsNow = () => graph(chain, { offset: 0, limit: 5_000, together: true }).rows;
  const ends = rowsNow().filter(({ tipOf, commit }) => tipOf !== undefined && commit.sessionId);
  changeSession(chain, { sessionId: ends[0]?.commit.sessionId ?? '', title: 'Named by a person' }, {});
  changeBranch(chain, { commit: ends.at(-1)?.commit.id as ContextId, title: 'Größe of a branch' });
  const rows = rowsNow();
  const textOf = ({ commit: { summary, id, template, principal, type, tags }, tipOf }: (typeof rows)[number]): string =>
    [summary, id, template, principal, type, ...tags, tipOf].join('\n').toLowerCase();
  const words = [
    'named by',
    'größe',
    'of a branch',
    'codex',
    'delta',
    ends[1]?.commit.id ?? '',
    rows[0]?.commit.summary?.slice(0, 8) ?? '',
    'nowhere',
  ];
  for (const text of words) {
    const expected = rows.flatMap((row, at) => (textOf(row).includes(text.toLowerCase()) ? [at] : []));
    expect([text, graphMap(chain, { together: true, text }).places]).toEqual([text, expected]);
    expect(expected.length > 0).toBe(text !== 'nowhere');
  }
});

test('[W49] the map lists the first 10,000 rows with a text, and says that there are more', () => {
  const chain = emptyChain();
  const { no, ref } = chain.artifacts.put(Buffer.from(prompt('p', 'Do it')), { contentType: 'application/x-ndjson' });
  chain.artifacts.transaction(() => {
    let parent: ReturnType<typeof addCommit> | null = null;
    for (let number = 0; number < 10_001; number++)
      parent = addCommit(chain, {
        ...{
          parent,
          type: 'delta',
          artifact: no,
          ref,
          format: 'claude-code-v1',
          template: `${number === 0 ? 'first' : 'later'} of all`,
          sessionId: 's',
        },
        ...{ checkpoint: 'turn_boundary', messageCount: 1, tokenCount: 4, errors: 0, entries: 1, forked: false },
      });
  });
  const found = (text: string) => graphMap(chain, { together: true, text });
  expect(found('of all')).toMatchObject({ total: 10_001, hasMore: true });
  expect(found('of all').places).toHaveLength(10_000);
  expect(found('later of all').places).toHaveLength(10_000);
  expect(found('later of all').hasMore).toBeUndefined();
  expect(found('first of all').places).toEqual([10_000]);
});

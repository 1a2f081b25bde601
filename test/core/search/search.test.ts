import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Timestamp } from '../../../src/core/base/index.js';
import { atOnce } from '../../../src/core/base/index.js';
import { checkpoint, type WriteChain } from '../../../src/core/chain/index.js';
import { importPaths } from '../../../src/core/import/index.js';
import { indexInPieces } from '../../../src/core/search/index.js';
import { type Ranking, rank } from '../../../src/core/search/ranking.js';
import { patternsOf, phrasesOf, snippetOf } from '../../../src/core/search/words.js';
import { answer, call, prompt } from '../../support/claude-lines.js';
import { query } from '../../support/counted.js';
import { emptyChain } from '../../support/project.js';
import { runs } from '../../support/properties.js';

const say = (chain: WriteChain, uuid: string, text: string, more: Partial<Parameters<typeof checkpoint>[1]> = {}) =>
  checkpoint(chain, {
    parent: null,
    type: 'delta',
    format: 'claude-code-v1',
    text: prompt(uuid, text),
    template: 't',
    checkpoint: 'turn_boundary',
    ...more,
  });

const found = (chain: WriteChain, text: string, filter?: Parameters<typeof query>[1]['filter']) =>
  query(chain, { text, filter }).hits.map((hit) => hit.entryKey);

describe('results', () => {
  test('entries with all the words, in any order and case, the last word as a beginning', () => {
    const chain = emptyChain();
    say(chain, 'one', 'The retry of the Queue is doubled');
    say(chain, 'two', 'A queue without it');
    expect(found(chain, 'queue retry')).toEqual(['one.0']);
    expect(found(chain, 'QUEUE')).toHaveLength(2);
    expect(found(chain, 'doub')).toEqual(['one.0']);
    expect(found(chain, 'doub queue')).toEqual([]);
  });

  test('words in quotes must be adjacent', () => {
    const chain = emptyChain();
    say(chain, 'one', 'max retry count');
    say(chain, 'two', 'retry at most max');
    expect(found(chain, '"max retry"')).toEqual(['one.0']);
  });

  test('calls match by tool and arguments, replies by text, and new commits are found', () => {
    const chain = emptyChain();
    const first = say(chain, 'u1', 'look');
    expect(found(chain, 'src')).toEqual([]);
    checkpoint(chain, {
      parent: first.id,
      type: 'delta',
      format: 'claude-code-v1',
      text: call('a1', 't1', 'Read', { path: 'src/queue.ts' }, { parent: 'u1' }) + answer('a2', 'nothing there', { parent: 'a1' }),
      template: 't',
      checkpoint: 'turn_boundary',
    });
    expect(found(chain, 'read queue.ts')).toEqual(['a1.0']);
    expect(found(chain, 'nothing')).toEqual(['a2.0']);
    expect(found(chain, 'queue.ts', { kind: 'tool_call' })).toEqual(['a1.0']);
    expect([found(chain, 'nothing', { kind: 'text' }), found(chain, 'nothing', { kind: 'tool_call' })]).toEqual([['a2.0'], []]);
  });

  test('scripts without spaces, accents, and words that are operators of FTS5', () => {
    const chain = emptyChain();
    say(chain, 'ja', '再試行の回数を数える');
    say(chain, 'fr', 'une requête déjà échouée');
    say(chain, 'op', 'NOT this OR that AND "other" (NEAR) * col:val');
    expect(found(chain, '回数')).toEqual(['ja.0']);
    expect(found(chain, 'deja')).toEqual(['fr.0']);
    for (const text of ['NOT', 'OR that', 'NEAR(', '"other', 'col:val', '* this', "'); DROP TABLE commits; --"])
      expect(() => query(chain, { text })).not.toThrow();
    expect(found(chain, 'NEAR(')).toEqual(['op.0']);
  });

  test('a query without words is refused', () => {
    expect(() => query(emptyChain(), { text: '!?' })).toThrow(/no letter or digit/);
  });

  test('a filter limits the hits and the total', () => {
    const chain = emptyChain();
    say(chain, 'one', 'queue', { sessionId: 's1' });
    say(chain, 'two', 'queue', { sessionId: 's2' });
    expect(found(chain, 'queue', { sessionId: 's2' })).toEqual(['two.0']);
    expect(query(chain, { text: 'queue', filter: { sessionId: 's2' } })).toMatchObject({ total: 1, isExact: true });
    expect(query(chain, { text: 'queue', filter: { kind: 'tool_call' } }).total).toBe(0);
  });

  test('[W43] a filter by agent includes its subagents, and one by time the commits of a span', () => {
    const chain = emptyChain();
    const day = (number: number) => `2026-01-0${number}T00:00:00.000Z` as Timestamp;
    say(chain, 'one', 'queue', { template: 'claude-code', createdAt: day(1) });
    say(chain, 'two', 'queue', { template: 'claude-code/Explore', createdAt: day(2) });
    say(chain, 'three', 'queue', { template: 'codex', createdAt: day(3) });
    expect(found(chain, 'queue', { agent: 'claude-code' }).sort()).toEqual(['one.0', 'two.0']);
    expect(found(chain, 'queue', { agent: 'claude' })).toEqual([]);
    expect(found(chain, 'queue', { from: day(2) }).sort()).toEqual(['three.0', 'two.0']);
    expect(found(chain, 'queue', { from: day(2), to: day(3), agent: 'claude-code' })).toEqual(['two.0']);
  });

  test('a snippet shows the places of the words', () => {
    const chain = emptyChain();
    say(chain, 'one', `${'before '.repeat(50)}the needle is here${' after'.repeat(50)}`);
    const [hit] = query(chain, { text: 'needle' }).hits;
    const [match] = hit?.matches ?? [];
    expect(hit?.snippet.slice(match?.start, match?.end)).toBe('needle');
    expect(hit?.snippet.length).toBeLessThan(220);
  });
});

test('real histories are searched whole', () => {
  const chain = emptyChain(() => Date.now());
  for (const _ of importPaths(chain, { paths: [join(import.meta.dirname, '../../fixtures/claude-code')] }));
  atOnce(indexInPieces(chain));
  const { hits, total, pending } = query(chain, { text: 'branch' });
  expect(pending).toBe(0);
  expect(total).toBeGreaterThan(20);
  expect(hits.every((hit) => hit.matches.length > 0)).toBe(true);
});

test('ASCII words are marked at the same places as words of other scripts', { tags: 'long' }, () => {
  const letters = fc.string({ unit: fc.constantFrom('a', 'B', 'b', '_', '1', ' ', '-', '.', '"'), maxLength: 60 });
  fc.assert(
    fc.property(letters, letters, (text, question) => {
      const patterns = patternsOf(phrasesOf(question));
      // One separate letter that is not ASCII makes the text take the other path.
      expect(snippetOf(`${text} !`, patterns).matches).toEqual(snippetOf(`${text} é`, patterns).matches);
    }),
    { numRuns: runs(2_000) },
  );
});

test('a damaged object has no words, and the objects around it are found', () => {
  const chain = emptyChain();
  const ids = ['first', 'second', 'third'].map((word) => say(chain, word, `the ${word} of them`));
  chain.db.run(
    "UPDATE artifact SET data = CAST(replace(CAST(data AS TEXT), 'second', 'secund') AS BLOB) WHERE no = (SELECT artifact FROM commits WHERE id = ?)",
    ids[1]?.id ?? '',
  );
  expect([found(chain, 'first'), found(chain, 'secund'), found(chain, 'third')]).toEqual([['first.0'], [], ['third.0']]);
});

test('in a database with several projects, only entries of this project are found', () => {
  const chain = emptyChain();
  say(chain, 'mine', 'a shared word');
  const other = chain.db.run("INSERT INTO project (projectId, name, createdAt) VALUES ('other', 'other', 1)").rowId;
  expect(found(chain, 'shared')).toEqual(['mine.0']);
  chain.db.run('UPDATE commits SET project = ?', other);
  expect(found(chain, 'shared')).toEqual([]);
});

test('in a large index the same entries match, and common words do not count for the rank', () => {
  const chain = emptyChain();
  const words = ['queue', 'retry', 'parser', 'window'];
  for (let number = 0; number < 60; number++)
    say(chain, `u${number}`, `the ${words.filter((_, place) => number % (place + 2) === 0).join(' and ')} ${number} ${'more '.repeat(number % 7)}`);
  atOnce(indexInPieces(chain));
  const asked = (text: string, many: number): Ranking =>
    rank(chain, phrasesOf(text), { sql: 'FROM searchWords WHERE searchWords MATCH ?', values: [] }, 100, many);
  for (const text of ['queue ', 'the queue', 'the', 'retry parser ', '"the queue"', 'win', 'nothing like it']) {
    const [few, many] = [asked(text, 1_000_000), asked(text, 0)];
    const numbers = ({ best }: Ranking): number[] => best.map(({ no }) => no).sort((a, b) => a - b);
    expect([text, numbers(many), many.total, many.isExact]).toEqual([text, numbers(few), few.total, few.isExact]);
    expect(many.best.map(({ no }) => no)).toEqual(few.best.map(({ no }) => no));
  }
  // A prefix of one letter would match a tenth of all entries, so it matches as a word.
  expect([asked('q', 1_000_000).total, asked('q', 0).total]).toEqual([30, 0]);
});

test('in a large index, a common word is not taken as the beginning of others', () => {
  const chain = emptyChain();
  chain.db.transaction(() => {
    for (let number = 0; number < 2_000; number++) say(chain, `u${number}`, 'the queue');
  });
  say(chain, 'longer', 'the queueing');
  atOnce(indexInPieces(chain));
  const total = (text: string, many: number): number =>
    rank(chain, phrasesOf(text), { sql: 'FROM searchWords WHERE searchWords MATCH ?', values: [] }, 100, many).total;
  expect([total('queue', 1_000_000), total('queue', 0), total('queuei', 0)]).toEqual([2_001, 2_000, 1]);
});

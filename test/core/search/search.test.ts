import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { type Chain, checkpoint } from '../../../src/core/chain/index.js';
import { importPaths } from '../../../src/core/intake/index.js';
import { indexMore, query } from '../../../src/core/search/index.js';
import { answer, call, prompt } from '../../support/claude-lines.js';
import { emptyChain } from '../../support/project.js';

const say = (chain: Chain, uuid: string, text: string, more: Partial<Parameters<typeof checkpoint>[1]> = {}) =>
  checkpoint(chain, {
    parent: null,
    type: 'delta',
    format: 'claude-code-v1',
    text: prompt(uuid, text),
    template: 't',
    checkpoint: 'turn_boundary',
    ...more,
  });

const found = (chain: Chain, text: string, filter?: Parameters<typeof query>[1]['filter']) =>
  query(chain, { text, filter }).hits.map((hit) => hit.entryKey);

describe('what is found', () => {
  test('entries with all the words, in any order and case, the last word as a beginning', () => {
    const chain = emptyChain();
    say(chain, 'one', 'The retry of the Queue is doubled');
    say(chain, 'two', 'A queue without it');
    expect(found(chain, 'queue retry')).toEqual(['one.0']);
    expect(found(chain, 'QUEUE')).toHaveLength(2);
    expect(found(chain, 'doub')).toEqual(['one.0']);
    expect(found(chain, 'doub queue')).toEqual([]);
  });

  test('words in quotes stand together', () => {
    const chain = emptyChain();
    say(chain, 'one', 'max retry count');
    say(chain, 'two', 'retry at most max');
    expect(found(chain, '"max retry"')).toEqual(['one.0']);
  });

  test('calls by their tool and arguments, answers by their text, and commits just made', () => {
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
  });

  test('languages without spaces, accents, and what would be an operator', () => {
    const chain = emptyChain();
    say(chain, 'ja', '再試行の回数を数える');
    say(chain, 'fr', 'une requête déjà échouée');
    say(chain, 'op', 'NOT this OR that AND "other" (NEAR) * col:val');
    expect(found(chain, '回数')).toEqual(['ja.0']);
    expect(found(chain, 'deja')).toEqual(['fr.0']);
    for (const text of ['NOT', 'OR that', 'NEAR(', '"other', 'col:val', '* this', "'); DROP TABLE context; --"])
      expect(() => query(chain, { text })).not.toThrow();
    expect(found(chain, 'NEAR(')).toEqual(['op.0']);
  });

  test('a question without a word is refused', () => {
    expect(() => query(emptyChain(), { text: '!?' })).toThrow(/no letter or digit/);
  });

  test('a filter narrows, and the total counts what it leaves', () => {
    const chain = emptyChain();
    say(chain, 'one', 'queue', { sessionId: 's1' });
    say(chain, 'two', 'queue', { sessionId: 's2' });
    expect(found(chain, 'queue', { sessionId: 's2' })).toEqual(['two.0']);
    expect(query(chain, { text: 'queue', filter: { sessionId: 's2' } })).toMatchObject({ total: 1, isExact: true });
    expect(query(chain, { text: 'queue', filter: { kind: 'tool_call' } }).total).toBe(0);
  });

  test('a snippet shows the words where they stand', () => {
    const chain = emptyChain();
    say(chain, 'one', `${'before '.repeat(50)}the needle is here${' after'.repeat(50)}`);
    const [hit] = query(chain, { text: 'needle' }).hits;
    const [match] = hit?.matches ?? [];
    expect(hit?.snippet.slice(match?.start, match?.end)).toBe('needle');
    expect(hit?.snippet.length).toBeLessThan(220);
  });
});

const corpus = join(import.meta.dirname, '../../../../shared/transcripts/claude-code');
test.skipIf(!existsSync(corpus))('a real history is searched whole (needs ../shared/transcripts)', () => {
  const chain = emptyChain(() => Date.now());
  const file = readdirSync(corpus).find((name) => name.includes('18MB')) as string;
  for (const _ of importPaths(chain, { paths: [join(corpus, file)] }));
  while (indexMore(chain, 1_000).pending > 0);
  const { hits, total, pending } = query(chain, { text: 'checkpoint branch' });
  expect(pending).toBe(0);
  expect(total).toBeGreaterThan(20);
  expect(hits.every((hit) => hit.matches.length > 0)).toBe(true);
});

import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { ContextId } from '../../../src/core/base/index.js';
import { compact, entries, fork, tips } from '../../../src/core/chain/index.js';
import { exportContext } from '../../../src/core/export/index.js';
import { importPaths } from '../../../src/core/import/index.js';
import { usageOfContext } from '../../../src/core/usage/index.js';
import { answer, call, prompt, result } from '../../support/claude-lines.js';
import { emptyChain, scratch } from '../../support/project.js';
import { root } from '../../support/source.js';

function imported(path: string) {
  const chain = emptyChain();
  const steps = importPaths(chain, { paths: [path] });
  for (;;) {
    const step = steps.next();
    if (step.done) return { chain, tip: step.value.tips.at(-1) as ContextId };
  }
}
function session(...lines: string[]) {
  const path = join(scratch(), 's1.jsonl');
  writeFileSync(path, lines.join(''));
  return imported(path);
}

interface Item {
  readonly key: string;
  readonly kind: string;
  readonly text?: string;
  readonly said?: string[];
  readonly branches?: { id: string; head: string }[];
}
/** The content of a page, read as a browser reads it: a script ends at the first `</script`. */
function read(page: string): { items: Item[]; index: { kinds: string; blocks: number[][]; title: string; counted: number | null }; markup: string } {
  const scripts = [...page.matchAll(/<script([^>]*)>([\s\S]*?)<\/script/gi)].map(([, given = '', content = '']) => ({ given, content }));
  const data = scripts.filter(({ given }) => given.includes('application/json'));
  return {
    items: data.filter(({ given }) => given.includes('block')).flatMap(({ content }) => JSON.parse(content) as Item[]),
    index: JSON.parse(data.find(({ given }) => given.includes('index'))?.content ?? ''),
    markup: page.replace(/<(script|style)([^>]*)>[\s\S]*?<\/\1/gi, '<$1$2></$1'),
  };
}

const attacks = [
  '</script><script>globalThis.ran = 1</script>',
  '<!--<script>',
  '</style><img src=x onerror="globalThis.ran = 1">',
  '[x](javascript:globalThis.ran=1)',
  'half a character \ud83d and \udc00',
  '\u2028\u2029\u0000 "quoted" \\u003c',
];

test('[N1] an exported page is headed by the counted tokens of its last call', () => {
  const { chain, tip } = imported(join(root, 'test/fixtures/usage/two-models.jsonl'));
  const { counted } = usageOfContext(chain, tip);
  expect(counted).toBeGreaterThan(90_000);
  expect(read(exportContext(chain, { id: tip, format: 'html' }).text ?? '').index.counted).toBe(counted);
});

test('a page shows elided results as the model sees them, and keeps no outline in memory', () => {
  const { chain, tip } = session(
    prompt('a', 'look'),
    call('b', 't1', 'Read', {}, { parent: 'a' }),
    result('c', 't1', 'a long result', { parent: 'b' }),
    answer('d', 'seen', { parent: 'c' }),
    prompt('e', 'go on', { parent: 'd' }),
    `${JSON.stringify({ type: 'system', subtype: 'microcompact_boundary', uuid: 'f', parentUuid: 'e', sessionId: 's1', timestamp: '2026-01-01T00:00:05.000Z', microcompactMetadata: { compactedToolIds: ['t1'] } })}\n`,
    answer('g', 'gone on', { parent: 'f' }),
  );
  chain.outlines.clear();
  const { items } = read(exportContext(chain, { id: tip, format: 'html' }).text ?? '');
  const results = items.filter(({ kind }) => kind === 'tool_result');
  expect(results).toMatchObject([{ text: expect.stringContaining('cleared') }]);
  expect(chain.outlines.weight()).toBeLessThan(entries(chain, { id: tip }).total);
});

describe('[F31] an exported page', () => {
  test.each(attacks)('%j is data of the page and changes none of its markup', (attack) => {
    const { chain, tip } = session(
      prompt('a', attack),
      call('b', 't1', attack, { [attack]: attack }, { parent: 'a' }),
      result('c', 't1', attack, { parent: 'b' }),
      answer('d', attack, { parent: 'c' }),
    );
    const { text = '' } = exportContext(chain, { id: tip, format: 'html' });
    const { items, markup, index } = read(text);
    const written = Buffer.from(JSON.stringify(attack)).toString();
    expect(items.filter(({ text: said }) => said === JSON.parse(written))).toHaveLength(3);
    expect(index.kinds).toBe('utra');
    const plain = session(
      prompt('a', 'x'),
      call('b', 't1', 'x', { x: 'x' }, { parent: 'a' }),
      result('c', 't1', 'x', { parent: 'b' }),
      answer('d', 'x', { parent: 'c' }),
    );
    const sober = read(exportContext(plain.chain, { id: plain.tip, format: 'html' }).text ?? '').markup;
    const tags = (html: string): string[] => html.match(/<\/?[a-z!][^>]*>/gi) ?? [];
    expect(tags(markup)).toEqual(tags(sober));
    expect(text.isWellFormed()).toBe(true);
  });

  test('names no address to load, and its policy allows only its own script', () => {
    const { chain, tip } = imported(join(root, 'resources/sample/larder'));
    const { markup } = read(exportContext(chain, { id: tip, format: 'html' }).text ?? '');
    expect(markup).not.toMatch(/\s(src|href|srcset|action|style|on\w+)=/i);
    expect(markup).toMatch(/default-src 'none'; script-src 'sha256-[^']+'; style-src 'sha256-[^']+'; img-src data:;/);
  });

  test('contains every entry that the model saw, in order, with its key', () => {
    const { chain } = imported(join(root, 'resources/sample/larder'));
    for (const { id } of tips(chain, {}))
      for (const stop of ['compaction', 'root'] as const) {
        const { items, index } = read(exportContext(chain, { id, stop, format: 'html' }).text ?? '');
        const said = items.filter(({ kind }) => kind !== 'compaction' && kind !== 'branches');
        const all = entries(chain, { id, stop }).entries;
        expect(said.map(({ key, text }) => [key, text])).toEqual(all.map(({ key, text }) => [key, text]));
        expect(new Set(items.map(({ key }) => key)).size).toBe(items.length);
        expect(index.kinds).toHaveLength(items.length);
        expect(index.blocks.reduce((sum, [count = 0]) => sum + count, 0)).toBe(items.length);
      }
  });

  test('marks compactions with their replacement, and the places where branches start', () => {
    const { chain, tip } = session(
      prompt('a', 'first'),
      answer('b', 'one', { parent: 'a' }),
      prompt('c', 'second', { parent: 'b' }),
      answer('d', 'two', { parent: 'c' }),
    );
    const other = fork(chain, {
      id: tip,
      at: entries(chain, { id: tip }).entries[1]?.key,
      edits: [{ op: 'append', entry: { role: 'user', kind: 'text', text: 'elsewhere' } }],
    });
    const shorter = compact(chain, tip, 'In short: two answers.');
    const whole = read(exportContext(chain, { id: shorter.id, stop: 'root', format: 'html' }).text ?? '');
    expect(whole.index.kinds).toBe('uabuac');
    expect(whole.items.at(-1)?.said?.join()).toContain('In short: two answers.');
    expect(whole.items.find(({ kind }) => kind === 'branches')?.branches).toMatchObject([{ id: other.id }]);
    const after = read(exportContext(chain, { id: shorter.id, format: 'html' }).text ?? '');
    expect(after.index.kinds).toMatch(/^c/);
    expect(after.items.some(({ text }) => text?.includes('In short: two answers.'))).toBe(true);
  });
});

import { expect, test } from 'vitest';
import { headlineOf } from '../../../src/core/formats/index.js';

test('[W4] a title skips lines that are only markup', () => {
  for (const markup of [
    '---',
    '***',
    '```ts',
    '~~~',
    '<task>',
    '</task>',
    '<div class="a">',
    '<br/>',
    '<!-- a note -->',
    '====',
    '#',
    '> ',
    '| --- | --- |',
  ])
    expect(headlineOf(`\n${markup}\n${markup}\n  Fix the queue.\nMore`), markup).toBe('Fix the queue.');
  for (const words of [
    '# Plan',
    '- an item',
    '> a quote',
    '<b>Fix</b> it',
    '`a` is b',
    'x < y > z',
    '/home/me/a.log',
    '*bold*',
    '¿Por qué?',
    '直して',
    '<div>1</div>',
  ])
    expect(headlineOf(`${words}\nother`), words).toBe(words);
  // A text of nothing but markup keeps its first line.
  expect(headlineOf('---\n***\n')).toBe('---');
  expect(headlineOf('👍')).toBe('👍');
  expect(headlineOf('  \n ')).toBeUndefined();
  expect(headlineOf(`<${'a'.repeat(100_000)}`)).toHaveLength(200);
  expect(headlineOf(`${'---\n'.repeat(50_000)}Words`)).toBe('---');
});

import './page.js';
import { createElement } from 'react';
import { renderToStaticMarkup } from 'react-dom/server';
import { expect, test } from 'vitest';
import type { AnalysisSchema } from '../../src/core/contract/index.js';
import { Result } from '../../src/renderer/views/sql/Result.js';
import { barsIn, cellText, completed, numberColumns, suggestionsFor } from '../../src/renderer/views/sql/statement.js';

const column = (name: string) => ({ name, kind: 'text', what: `What ${name} is.` });
const views: AnalysisSchema[] = [
  { name: 'sessions', what: 'Sessions.', columns: [column('session_id'), column('title')] },
  { name: 'calls', what: 'Calls.', columns: [column('session_id'), column('model'), column('cost')] },
];
const texts = (sql: string, caret = sql.length) => suggestionsFor(sql, caret, views).map(({ text }) => text);

test('[Q13] columns of the named views come first, then views, then words of SQL', () => {
  expect(texts('SELECT mo')).toEqual(['model']);
  expect(texts('SELECT s FROM calls', 8)).toEqual(['session_id', 'sessions', 'SELECT', 'sum(', 'substr(']);
  expect(texts('sel')).toEqual(['SELECT']);
  expect(texts('SELECT model')).toEqual([]);
  expect(texts('')).toEqual([]);
});

test('[Q13] nothing is completed inside of a text or a comment', () => {
  expect(texts("SELECT 'mo")).toEqual([]);
  expect(texts('SELECT 1 -- mo')).toEqual([]);
  expect(texts('/* mo')).toEqual([]);
  expect(texts("SELECT 'it''s' -- x\n, mo")).toEqual(['model']);
});

test('[Q13] a completion replaces the word at the caret and keeps the rest', () => {
  expect(completed('SELECT mo FROM calls', 9, 'model')).toEqual({ text: 'SELECT model FROM calls', caret: 12 });
  expect(completed('su', 2, 'sum(')).toEqual({ text: 'sum(', caret: 4 });
  expect(completed('SELECT * FROM ca', 16, 'calls')).toEqual({ text: 'SELECT * FROM calls ', caret: 20 });
});

test('[Q13] a chart draws a column of numbers by the first column of texts', () => {
  const answer = {
    columns: ['model', 'calls', 'cost'],
    rows: [
      ['opus', 3, 1.5],
      [null, 1, null],
    ],
  };
  expect(numberColumns(answer)).toEqual([1, 2]);
  expect(barsIn(answer, undefined)).toMatchObject({
    name: 'model',
    value: 'cost',
    bars: [
      { name: 'opus', value: 1.5 },
      { name: 'null', value: 0 },
    ],
  });
  expect(barsIn(answer, 1)?.bars.map(({ value }) => value)).toEqual([3, 1]);
  expect(barsIn({ columns: ['title'], rows: [['x']] }, undefined)).toBeUndefined();
  expect(barsIn({ columns: ['n'], rows: Array.from({ length: 70 }, (_, n) => [n]) }, undefined)?.left).toBe(10);
  expect(cellText({ a: 1 })).toBe('{"a":1}');
});

test('[Q13] hostile values are shown as text, and only ids of the right form are links', () => {
  const answer = {
    ...{ columns: ['session_id', 'commit_id', 'text', 'tip'], truncated: true, ms: 12 },
    rows: [['s1', 'ctx-0000000a', '<img src=x onerror=alert(1)>', 'javascript:alert(1)']],
  };
  const html = renderToStaticMarkup(createElement(Result, { answer, project: '/p', sql: 'SELECT 1' }));
  expect(html).toContain('&lt;img src=x onerror=alert(1)&gt;');
  expect(html).not.toMatch(/<img|href=/);
  expect(html).toContain('Open the commit ctx-0000000a');
  expect(html).not.toContain('Open the commit javascript');
  expect(html).toContain('1 row shown. There are more');
});

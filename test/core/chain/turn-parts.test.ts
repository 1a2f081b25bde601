import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { ContextId, EntryKey } from '../../../src/core/base/index.js';
import { checkpoint, findCommit, fork, graph, show, type WriteChain } from '../../../src/core/chain/index.js';
import { findPlace, readSession } from '../../../src/core/sessions/index.js';
import { listTurns } from '../../../src/core/turns/index.js';
import { answer, prompt } from '../../support/claude-lines.js';
import { importInto } from '../../support/imports.js';
import { emptyChain } from '../../support/project.js';

const commit = (chain: WriteChain, parent: ContextId | null, text: string, sessionId: string, more: { summary?: string; type?: 'compaction' } = {}) =>
  checkpoint(chain, {
    parent,
    type: more.type ?? 'delta',
    format: 'claude-code-v1',
    text,
    template: 'claude-code',
    sessionId,
    checkpoint: more.type ?? 'turn_boundary',
    ...(more.summary !== undefined && { summary: more.summary }),
  });

const reminder = (): string => prompt('r2', '<system-reminder>Be brief.</system-reminder>', { parent: 'a1' });

function withSession() {
  const chain = emptyChain();
  const first = commit(chain, null, prompt('u1', 'Open.') + answer('a1', 'Open.', { parent: 'u1' }), 's', { summary: 'Open.' });
  const rest = prompt('u2', 'Count the stock.', { parent: 'r2' }) + answer('a2', 'Twelve.', { parent: 'u2' });
  const second = commit(chain, first.id, reminder() + rest, 's', { summary: 'Count the stock.' });
  const text = 'Count the stock, and the cellar.';
  const key = 'u2.0' as EntryKey;
  const made = fork(chain, { id: second.id, at: key, edits: [{ op: 'replace', key, entry: { role: 'user', kind: 'text', text } }] });
  return { chain, first, second, made, text };
}

const rowsOf = (chain: WriteChain) => graph(chain, { offset: 0, limit: 100, together: true }).rows;

test('[W74] commits of older versions for the state before a prompt have no rows', () => {
  const { chain, first, second, made, text } = withSession();
  chain.db.run('INSERT INTO resumed (project, sessionId, context) VALUES (?, ?, ?)', chain.project, 'x', findCommit(chain, made.id).seq);
  const state = commit(chain, first.id, reminder(), 's', { summary: 'Count the stock.' });
  const before = prompt('x-u', text, { parent: 'r2' });
  const old = commit(chain, state.id, before + answer('x-a', 'Twenty-one.', { parent: 'x-u' }), 'x', { summary: text });
  const next = commit(chain, old.id, prompt('x-u2', 'Thanks.') + answer('x-a2', 'Welcome.'), 'x', { summary: 'Thanks.' });
  const rows = rowsOf(chain);
  expect(rows.map(({ commit: { id } }) => id)).toEqual([next.id, old.id, second.id, first.id]);
  expect(rows.map(({ lane, turn, forked }) => [lane, turn, forked])).toEqual([
    [1, 3, false],
    [1, 2, true],
    [0, 2, false],
    [0, 1, false],
  ]);
  expect(rows[1]).toMatchObject({ fork: { commit: made.id, title: made.summary } });
  expect(rows[0]?.tipOf).toBe(made.summary);
  expect(findPlace(chain, { id: next.id }).turn).toEqual({ number: 3, of: 3 });
  expect(readSession(chain, 's')).toMatchObject({ turns: 2, title: 'Open.' });
});

test('[W12] what an agent does by itself after a compaction is no turn', () => {
  const { chain, second } = withSession();
  const kept = commit(chain, second.id, prompt('k', 'Open, twelve.', { extra: { isCompactSummary: true } }), 's', { type: 'compaction' });
  const went = commit(chain, kept.id, answer('a3', 'I continue.', { parent: 'k' }), 's');
  const last = commit(chain, went.id, prompt('u4', 'Close.', { parent: 'a3' }) + answer('a4', 'Closed.', { parent: 'u4' }), 's', {
    summary: 'Close.',
  });
  const rows = rowsOf(chain).filter(({ forked }) => !forked);
  expect(rows.map(({ turn, continues }) => [turn, continues])).toEqual([
    [3, undefined],
    [undefined, true],
    [undefined, undefined],
    [2, undefined],
    [1, undefined],
  ]);
  expect(findPlace(chain, { id: last.id }).turn).toEqual({ number: 3, of: 3 });
  expect(readSession(chain, 's').turns).toBe(3);
  expect(listTurns(chain, { id: last.id }).map(({ trigger }) => trigger.kind)).toEqual(['prompt', 'prompt', 'compaction', 'continuation', 'prompt']);
});

test('[W74] an edited prompt that a model answers has one row for each reply', () => {
  const { chain, made } = withSession();
  const reply = (text: string) => fork(chain, { id: made.id, edits: [{ op: 'append', entry: { role: 'assistant', kind: 'text', text } }] });
  const one = reply('Twenty-one.');
  expect(rowsOf(chain).flatMap(({ commit: { id }, forked, turn }) => (forked ? [[id, turn]] : []))).toEqual([[one.id, 2]]);
  const two = reply('Thirty.');
  expect(new Set(rowsOf(chain).flatMap(({ commit: { id }, forked }) => (forked ? [id] : [])))).toEqual(new Set([one.id, two.id]));
  expect(readSession(chain, 's')).toMatchObject({ turns: 2, branches: 3 });
});

test('[W6] a fork or a note at the end of a session does not move its trunk', () => {
  const { chain, second } = withSession();
  fork(chain, { id: second.id, edits: [{ op: 'append', entry: { role: 'user', kind: 'text', text: 'What about the cellar?' } }] });
  expect(readSession(chain, 's')).toMatchObject({ turns: 2, title: 'Open.' });
  expect(findPlace(chain, { id: second.id })).toMatchObject({ branch: { tip: second.id, main: true }, turn: { number: 2, of: 2 } });
});

test('a commit says the same of its turn where it is shown and where it is listed', { tags: 'long' }, () => {
  const histories = emptyChain();
  for (const folder of ['cases', 'subagents', 'claude-code', 'codex', 'usage'])
    importInto(histories, join(import.meta.dirname, '../../fixtures', folder));
  const forked = withSession();
  const kept = commit(forked.chain, forked.made.id, prompt('k', 'Open.', { extra: { isCompactSummary: true } }), 's', { type: 'compaction' });
  commit(forked.chain, kept.id, answer('a3', 'I continue.', { parent: 'k' }), 's');
  for (const chain of [histories, forked.chain]) {
    const rows = graph(chain, { offset: 0, limit: 5_000, together: true }).rows;
    expect(rows.some(({ fork: asked, continues }) => asked !== undefined || continues)).toBe(true);
    const shown = rows.map(({ commit: { id } }) => show(chain, id));
    expect(shown.map(({ id, fork: asked, continues }) => [id, asked, continues])).toEqual(
      rows.map(({ commit: { id }, fork: asked, continues }) => [id, asked, continues]),
    );
  }
});

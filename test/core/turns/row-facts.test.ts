import { expect, test } from 'vitest';
import { checkpoint } from '../../../src/core/chain/index.js';
import { loadPrices } from '../../../src/core/usage/index.js';
import { answer, call, prompt, result } from '../../support/claude-lines.js';
import { codexLine } from '../../support/codex-lines.js';
import { rowFacts } from '../../support/counted.js';
import { emptyChain } from '../../support/project.js';

test('[W42] a row of the chain has duration, tool calls, files and model', () => {
  const chain = emptyChain();
  const at = (second: number) => ({ at: `2026-01-01T10:00:${String(second).padStart(2, '0')}.000Z` });
  const shared = { type: 'delta', format: 'claude-code-v1', template: 'claude-code', checkpoint: 'turn_boundary' } as const;
  const first = checkpoint(chain, {
    ...shared,
    parent: null,
    text:
      prompt('u1', 'fix it', at(0)) +
      call('c1', 't1', 'Read', { file_path: '/q.js' }, { parent: 'u1', ...at(4) }) +
      result('r1', 't1', '1\tconst n = 1;', { parent: 'c1', ...at(5) }) +
      call('c2', 't2', 'Read', { file_path: '/q.js' }, { parent: 'r1', ...at(6) }) +
      result('r2', 't2', '1\tconst n = 1;', { parent: 'c2', ...at(7) }) +
      call('c3', 't3', 'Bash', { command: 'ls' }, { parent: 'r2', ...at(8) }) +
      result('r3', 't3', 'q.js', { parent: 'c3', ...at(9) }) +
      answer('a1', 'done', { parent: 'r3', ...at(41) }),
  });
  const second = checkpoint(chain, { ...shared, parent: first.id, text: prompt('u2', 'thanks', { parent: 'a1', ...at(50) }) });
  expect(rowFacts(chain, [first.id, second.id])).toEqual([
    { id: first.id, ms: 41_000, tools: 3, files: 1, touched: [{ path: '/q.js', how: 'read' }], model: 'm', counted: false, cost: null },
    { id: second.id, ms: null, tools: 0, files: 0, touched: [], model: null, counted: false, cost: null },
  ]);
});

test('[W42] the facts name the files of a commit, those that it changed first', () => {
  const chain = emptyChain();
  const { id } = checkpoint(chain, {
    ...{ type: 'delta', format: 'claude-code-v1', template: 'claude-code', checkpoint: 'turn_boundary', parent: null },
    text:
      prompt('u1', 'fix it') +
      call('c1', 't1', 'Read', { file_path: '/read.js' }, { parent: 'u1' }) +
      result('r1', 't1', '1\ta', { parent: 'c1' }) +
      call('c2', 't2', 'Read', { file_path: '/changed.js' }, { parent: 'r1' }) +
      result('r2', 't2', '1\ta', { parent: 'c2' }) +
      call('c3', 't3', 'Edit', { file_path: '/changed.js', old_string: 'a', new_string: 'b' }, { parent: 'r2' }) +
      result('r3', 't3', 'done', { parent: 'c3' }) +
      call('c4', 't4', 'Read', { file_path: '/changed.js' }, { parent: 'r3' }) +
      result('r4', 't4', '1\tb', { parent: 'c4' }) +
      call('c5', 't5', 'Edit', { file_path: '/changed.js', old_string: 'one\ntwo\nthree', new_string: 'one\n2\nthree\nfour' }, { parent: 'r4' }) +
      result('r5', 't5', 'done', { parent: 'c5' }) +
      call('c6', 't6', 'Write', { file_path: '/new.js', content: 'a\nb\n' }, { parent: 'r5' }) +
      result('r6', 't6', 'done', { parent: 'c6' }),
  });
  expect(rowFacts(chain, [id])).toMatchObject([
    {
      files: 3,
      touched: [
        { path: '/changed.js', how: 'changed', added: 3, removed: 2 },
        { path: '/new.js', how: 'written', added: 2 },
        { path: '/read.js', how: 'read' },
      ],
    },
  ]);
});

test('[W42] a commit without content does not keep others from having facts', () => {
  const chain = emptyChain();
  const shared = { type: 'delta', format: 'claude-code-v1', template: 'claude-code', checkpoint: 'turn_boundary' } as const;
  const make = (name: string) =>
    checkpoint(chain, { ...shared, parent: null, text: prompt(name, name) + answer(`${name}a`, 'done', { parent: name }) });
  const [sound, damaged, gone] = [make('sound'), make('damaged'), make('gone')];
  const lose = (id: string, why: string) =>
    chain.db.run('UPDATE artifact SET data = NULL, gone = ? WHERE no = (SELECT artifact FROM commits WHERE id = ?)', why, id);
  lose(damaged.id, 'lost');
  lose(gone.id, 'expired');
  expect(rowFacts(chain, [damaged.id, sound.id, gone.id])).toMatchObject([{ id: sound.id, model: 'm' }]);
});

test('[W42][N6] a commit with uncounted calls has a model, and the cost of the others at least', async () => {
  await loadPrices();
  const chain = emptyChain();
  const answered = (text: string): string =>
    codexLine('response_item', { type: 'message', role: 'assistant', content: [{ type: 'output_text', text }] });
  const { id } = checkpoint(chain, {
    ...{ type: 'delta', format: 'codex-v1', template: 'codex', checkpoint: 'turn_boundary', parent: null },
    text:
      codexLine('turn_context', { turn_id: '1', cwd: '/work', model: 'gpt-5' }) +
      codexLine('response_item', { type: 'message', role: 'user', content: [{ type: 'input_text', text: 'fix it' }] }) +
      answered('counted') +
      codexLine('event_msg', {
        type: 'token_count',
        info: { last_token_usage: { input_tokens: 1_000_000, cached_input_tokens: 0, output_tokens: 100_000, total_tokens: 1_100_000 } },
      }) +
      codexLine('turn_context', { turn_id: '2', cwd: '/work', model: 'gpt-5' }) +
      codexLine('response_item', { type: 'message', role: 'user', content: [{ type: 'input_text', text: 'and now?' }] }) +
      answered('not counted'),
  });
  // Per million tokens: $1.25 of input and $10 of output.
  expect(rowFacts(chain, [id])).toMatchObject([{ model: 'gpt-5', cost: { amount: 1.25 + 1, atLeast: true } }]);
});

test('[W42] a call without an id has no result, and touched no file', () => {
  const chain = emptyChain();
  const { id } = checkpoint(chain, {
    ...{ type: 'delta', format: 'claude-code-v1', template: 'claude-code', checkpoint: 'turn_boundary', parent: null },
    text: prompt('u1', 'fix it') + call('c1', '', 'Read', { file_path: '/q.js' }, { parent: 'u1' }) + result('r1', '', '1\ta', { parent: 'c1' }),
  });
  expect(rowFacts(chain, [id])).toMatchObject([{ tools: 1, files: 0, touched: [] }]);
});

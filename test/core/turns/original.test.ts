import { expect, test } from 'vitest';
import type { ContextId, EntryKey } from '../../../src/core/base/index.js';
import { checkpoint, fork, type WriteChain } from '../../../src/core/chain/index.js';
import type { Edit } from '../../../src/core/contract/index.js';
import { compareFiles, compareTurns, originalOf } from '../../../src/core/turns/index.js';
import { answer, call, prompt, result } from '../../support/claude-lines.js';
import { emptyChain } from '../../support/project.js';

const turn = (chain: WriteChain, parent: ContextId | null, text: string, summary: string) =>
  checkpoint(chain, {
    parent,
    type: 'delta',
    format: 'claude-code-v1',
    text,
    template: 'claude-code',
    sessionId: 's',
    checkpoint: 'turn_boundary',
    summary,
  });

const asks = (name: string, text: string, said: string): string => prompt(name, text) + answer(`${name}-a`, said, { parent: name });
const edited = (key: string, text: string): Edit[] => [{ op: 'replace', key: key as EntryKey, entry: { role: 'user', kind: 'text', text } }];

/** A session of three turns; `other` is a branch that the agent made beside the second one. */
function session() {
  const chain = emptyChain();
  const first = turn(chain, null, asks('u1', 'Open the list.', 'Open.'), 'Open the list.');
  const second = turn(chain, first.id, asks('u2', 'Line the columns up.', 'Done.'), 'Line the columns up.');
  const third = turn(chain, second.id, asks('u3', 'Say it in words.', 'Said.'), 'Say it in words.');
  return { chain, first, second, third };
}

const reply = (chain: WriteChain, id: ContextId, text: string) =>
  fork(chain, { id, edits: [{ op: 'append', entry: { role: 'assistant', kind: 'text', text } }] });

test('[W2] the original is found from the fork, from the answer and from the original turn', () => {
  const { chain, second, third } = session();
  const made = fork(chain, { id: third.id, at: 'u2.0' as EntryKey, edits: edited('u2.0', 'Line the columns up to the right.') });
  expect(originalOf(chain, made.id)).toEqual({ fork: made.id, answer: null, original: second.id });
  const one = reply(chain, made.id, 'To the right.');
  const two = reply(chain, made.id, 'Right.');
  expect(originalOf(chain, made.id)).toEqual({ fork: made.id, answer: two.id, original: second.id });
  expect(originalOf(chain, one.id)).toEqual({ fork: made.id, answer: one.id, original: second.id });
  expect(originalOf(chain, second.id)).toEqual({ fork: made.id, answer: two.id, original: second.id });
  expect(originalOf(chain, third.id)).toEqual({ fork: null, answer: null, original: third.id });
  // From each of them, the prompts are compared, and then the answers.
  for (const id of [made.id, two.id]) {
    const { changed, added, removed, base, b } = compareTurns(chain, second.id, id);
    expect({ changed, added, removed, base }).toEqual({ changed: 2, added: 0, removed: 0, base: second.parent });
    expect(b.turnId).toBe(two.id);
  }
});

test('[W2] of several turns of the agent, the original is the one that the fork most resembles', () => {
  const { chain, first, second } = session();
  const other = turn(chain, first.id, asks('v2', 'Leave the columns alone. Say today, tomorrow.', 'Left.'), 'Leave the columns alone.');
  const made = fork(chain, {
    id: other.id,
    at: 'v2.0' as EntryKey,
    edits: edited('v2.0', 'Leave the columns alone. Say today, tomorrow, and the date.'),
  });
  expect(originalOf(chain, made.id).original).toBe(other.id);
  const words = fork(chain, { id: second.id, at: 'u2.0' as EntryKey, edits: edited('u2.0', 'Line the columns up, please.') });
  expect(originalOf(chain, words.id).original).toBe(second.id);
});

test('[W2] a fork of the first prompt, and one that changed an earlier turn, have originals', () => {
  const { chain, first, third } = session();
  const made = fork(chain, { id: first.id, at: 'u1.0' as EntryKey, edits: edited('u1.0', 'Open the long list.') });
  expect(originalOf(chain, made.id).original).toBe(first.id);
  const deep = fork(chain, { id: third.id, edits: edited('u2.0', 'Line them up.') });
  expect(originalOf(chain, deep.id).original).toBe(third.id);
});

test('[W75] the files that two branches left behind differently are compared', () => {
  const { chain, second } = session();
  const wrote = (name: string, path: string, content: string): string =>
    call(`${name}-c`, `t-${name}`, 'Write', { file_path: path, content }) + result(`${name}-r`, `t-${name}`, 'written', { parent: `${name}-c` });
  const read = (name: string, path: string): string =>
    call(`${name}-c`, `t-${name}`, 'Read', { file_path: path }) + result(`${name}-r`, `t-${name}`, '1\tline', { parent: `${name}-c` });
  const both = turn(chain, second.id, prompt('b', 'Write.') + wrote('b', '/w/both.txt', 'one'), 'Write.');
  const left = turn(
    chain,
    both.id,
    prompt('l', 'Left.') + wrote('l', '/w/a.txt', 'left\n') + wrote('l2', '/w/only.txt', 'x') + read('l3', '/w/read.txt'),
    'Left.',
  );
  const right = turn(chain, both.id, prompt('r', 'Right.') + wrote('r', '/w/a.txt', 'right\n') + wrote('r2', '/w/same.txt', 's'), 'Right.');
  const next = turn(chain, left.id, prompt('n', 'Same.') + wrote('n', '/w/same.txt', 's'), 'Same.');
  expect(compareFiles(chain, { a: next.id, b: right.id })).toEqual([
    { path: '/w/a.txt', a: { known: 'whole', content: 'left\n' }, b: { known: 'whole', content: 'right\n' } },
    { path: '/w/only.txt', a: { known: 'whole', content: 'x' }, b: null },
  ]);
  expect(compareFiles(chain, { a: left.id, b: left.id })).toEqual([]);
});

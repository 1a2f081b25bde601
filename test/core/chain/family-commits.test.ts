import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { ContextId } from '../../../src/core/base/index.js';
import { checkpoint, commitsOf, compact, familiesOf, fork, graph, hiddenCommits, update } from '../../../src/core/chain/index.js';
import { changeSession, deleteSession, listSessions } from '../../../src/core/sessions/index.js';
import { answer, prompt } from '../../support/claude-lines.js';
import { importInto } from '../../support/imports.js';
import { emptyChain } from '../../support/project.js';

test('what is kept of a family grows and changes as the family does', async () => {
  const chain = emptyChain();
  const shared = { type: 'delta', format: 'claude-code-v1', template: 'claude-code', checkpoint: 'turn_boundary', sessionId: 's1' } as const;
  const add = (name: string, parent: ContextId | null): ContextId =>
    checkpoint(chain, { ...shared, parent, text: prompt(name, name) + answer(`a-${name}`, 'Done.', { parent: name }), summary: name }).id;
  let first = null as ContextId | null;
  let last = null as ContextId | null;
  const edits = [{ op: 'append' as const, entry: { role: 'user' as const, kind: 'text' as const, text: 'Another way' } }];
  const steps: (() => unknown)[] = [
    () => (first = add('first', null)),
    // Smaller families are not kept.
    () => Array.from({ length: 260 }, (_, n) => (last = add(`step ${n}`, last ?? first))),
    () => (last = add('second', last)),
    () => (last = add('third', last)),
    () => fork(chain, { id: first, edits }),
    () => update(chain, first as ContextId, { summary: 'Renamed' }),
    () => (last = compact(chain, last as ContextId, 'What happened so far').id),
    () => (last = add('fourth', last)),
    () => add('beside', first),
    () => update(chain, last as ContextId, { summary: 'Renamed too', tags: ['kept'] }),
    () => importInto(chain, join(import.meta.dirname, '../../fixtures/subagents')),
    () => changeSession(chain, { sessionId: 's1', title: 'Named by a person' }, {}),
    () => add('fifth', last),
    () => deleteSession(chain, { sessionId: 's1', deleted: true }),
  ];
  const read = () => ({
    commits: familiesOf(chain).all.map((family) => commitsOf(chain, [family])),
    together: commitsOf(chain, familiesOf(chain).all),
    graph: graph(chain, { offset: 0, limit: 1_000, together: true }),
    sessions: listSessions(chain, { offset: 0, limit: 100 }),
  });
  for (const step of steps) {
    await step();
    const warm = read();
    chain.derived.clear();
    expect(warm).toEqual(read());
  }
});

test('what is hidden and what a filter shows depend on the families alone', () => {
  const chain = emptyChain();
  const shared = { type: 'delta', format: 'claude-code-v1', checkpoint: 'turn_boundary' } as const;
  const add = (sessionId: string, template: string, parent: ContextId | null): ContextId =>
    checkpoint(chain, {
      ...shared,
      sessionId,
      template,
      parent,
      text: prompt(sessionId, 'Hello') + answer(`a-${sessionId}`, 'Hi.', { parent: sessionId }),
    }).id;
  const first = add('A', 'x', null);
  add('B', 'x', null);
  add('C', 'y', null);
  add('D', 'z', null);
  add('A', 'y', first);
  const shown = () => ({
    hidden: [...hiddenCommits(chain)],
    templates: ['x', 'y'].map((template) => graph(chain, { filter: { template }, offset: 0, limit: 100 }).rows.map(({ commit }) => commit.id)),
  });
  const compare = (): void => {
    const warm = shown();
    chain.derived.clear();
    expect(warm).toEqual(shown());
  };
  compare();
  for (const sessionId of ['A', 'D', 'B']) deleteSession(chain, { sessionId, deleted: true });
  shown();
  // As many sessions with as many commits as before.
  deleteSession(chain, { sessionId: 'B', deleted: false });
  deleteSession(chain, { sessionId: 'C', deleted: true });
  compare();
});

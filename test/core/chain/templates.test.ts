import { describe, expect, test } from 'vitest';
import type { ContextId } from '../../../src/core/base/index.js';
import { checkpoint, compact, fork, instantiate, listTemplates, putTemplate, snapshot, templateOf } from '../../../src/core/chain/index.js';
import { answer, prompt } from '../../support/claude-lines.js';
import { emptyChain } from '../../support/project.js';

describe('templates', () => {
  test('[C16] new content is the next version; the same content is the last version', () => {
    const chain = emptyChain();
    const put = (text: string) => putTemplate(chain, { name: 'reviewer', bytes: Buffer.from(text), contentType: 'text/plain', author: 'me' });
    expect([put('one').template, put('two').template, put('two').template, put('one').template]).toEqual([
      'reviewer@1',
      'reviewer@2',
      'reviewer@2',
      'reviewer@3',
    ]);
    expect(templateOf(chain, 'reviewer').version).toBe(3);
    const first = templateOf(chain, 'reviewer@1');
    expect(Buffer.from(chain.artifacts.read(chain.artifacts.find(first.artifactRef))).toString()).toBe('one');
    expect(listTemplates(chain).map(({ version }) => version)).toEqual([3, 2, 1]);
    expect(listTemplates(chain, 'coder')).toEqual([]);
    expect(() => templateOf(chain, 'reviewer@9')).toThrow(expect.objectContaining({ code: 'NOT_FOUND' }));
    expect(() => putTemplate(chain, { name: 'a@2', bytes: Buffer.of(), contentType: 'text/plain' })).toThrow(
      expect.objectContaining({ code: 'BAD_REQUEST' }),
    );
  });

  test('[C33] what Stemma adds to the last commit of an agent leaves it the one to resume', { tags: 'long' }, () => {
    const chain = emptyChain();
    const made = (n: number, parent: ContextId | null) =>
      checkpoint(chain, {
        ...{ parent, type: 'delta', format: 'claude-code-v1', template: 't', principal: 'me', checkpoint: 'turn_boundary' },
        text: prompt(`u${n}`, `question ${n}`) + answer(`a${n}`, `answer ${n}`, { parent: `u${n}` }),
      });
    const first = made(1, null);
    const last = made(2, first.id);
    compact(chain, last.id, 'What was said.');
    snapshot(chain, last.id);
    fork(chain, { id: last.id, edits: [{ op: 'append', entry: { role: 'user', kind: 'text', text: 'more' } }] });
    const startFrom = (id: ContextId) => instantiate(chain, { template: 't', context: id }).start;
    expect([startFrom(last.id), startFrom(first.id)]).toEqual(['resume', 'fork']);
    made(3, last.id);
    expect(startFrom(last.id)).toBe('fork');
  });

  test('[C6, C16] the same call starts, resumes and forks', () => {
    const chain = emptyChain();
    putTemplate(chain, { name: 'coder', bytes: Buffer.from('be brief'), contentType: 'text/plain' });
    const commit = (parent: string | null, n: number) =>
      checkpoint(chain, {
        parent: parent as never,
        type: 'delta',
        format: 'claude-code-v1',
        text: prompt(`u${n}`, 'q') + answer(`a${n}`, 'r', { parent: `u${n}` }),
        template: 'coder@1',
        checkpoint: 'turn_boundary',
      });
    const first = commit(null, 1);
    const last = commit(first.id, 2);
    expect(instantiate(chain, { template: 'coder', context: null })).toMatchObject({
      template: 'coder@1',
      start: 'fresh',
      context: null,
      commits: [],
    });
    expect(instantiate(chain, { template: 'coder', context: last.id, principal: 'p', machine: 'm' })).toMatchObject({
      start: 'resume',
      commits: [first.id, last.id],
    });
    expect(instantiate(chain, { template: 'any other', context: first.id })).toMatchObject({
      template: 'any other',
      templateRef: null,
      start: 'fork',
    });
    expect(() => instantiate(chain, { template: 'coder@7', context: null })).toThrow(expect.objectContaining({ code: 'NOT_FOUND' }));
    expect(chain.db.all('SELECT template, principal, machine FROM instantiation ORDER BY no')).toEqual([
      { template: 'coder@1', principal: null, machine: null },
      { template: 'coder@1', principal: 'p', machine: 'm' },
      { template: 'any other', principal: null, machine: null },
    ]);
  });
});

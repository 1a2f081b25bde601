import { expect, test } from 'vitest';
import { lesserOf } from '../../../src/core/runner/rights.js';
import { answered } from '../../../src/core/runner/tools.js';
import { emptyChain } from '../../support/project.js';

const agent = (permissions?: 'plan' | 'default' | 'acceptEdits' | 'bypassPermissions') => ({ agent: 'codex' as const, folder: '/work', permissions });
const model = { provider: 'model' };

test('[U10] work that a job hands out has the lesser rights of both', () => {
  const modes = ['plan', 'default', 'acceptEdits', 'bypassPermissions'] as const;
  for (const [i, own] of modes.entries())
    for (const [j, held] of modes.entries())
      expect(lesserOf({ performer: agent(own) }, { performer: agent(held) }).performer).toEqual(agent(modes[Math.min(i, j)]));
  expect(lesserOf({ performer: agent('bypassPermissions') }, { performer: model }).performer).toEqual(agent('default'));
  expect(lesserOf({ performer: agent() }, { performer: agent('bypassPermissions') }).performer).toEqual(agent('default'));
  const both = lesserOf(
    { performer: model, tools: ['search', 'ticket_get'] },
    { performer: model, tools: ['search', 'write_cards'], otherTools: 'stop' },
  );
  expect(both).toEqual({ performer: model, tools: ['search'], otherTools: 'stop' });
  expect(lesserOf({ performer: model }, { performer: model, tools: [] }).tools).toEqual([]);
});

test('[U10] a call of a tool that is not offered is refused and has no effect', () => {
  const chain = emptyChain();
  const actor = { who: 'bot', runId: null, readsProject: false, context: () => undefined };
  const call = (only: readonly string[]) => answered(chain, only, actor, 'ticket_create', { title: 'T', type: 'task' });
  expect(call(['search'])).toMatchObject({ status: 'failed', result: expect.stringContaining('UNAUTHORIZED') });
  expect(call([])).toMatchObject({ status: 'failed' });
  expect(chain.db.all('SELECT 1 FROM ticket')).toEqual([]);
  expect(call(['ticket_create'])).toMatchObject({ status: 'success' });
});

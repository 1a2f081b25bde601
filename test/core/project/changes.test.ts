import { expect, test } from 'vitest';
import { type Chain, checkpoint } from '../../../src/core/chain/index.js';
import type { ProjectChange } from '../../../src/core/contract/index.js';
import { changes } from '../../../src/core/project/index.js';
import { acknowledge, createTicket, discuss, events, moveTicket } from '../../../src/core/tickets/index.js';
import { prompt } from '../../support/claude-lines.js';
import { emptyChain } from '../../support/project.js';

/** What is told of each piece of work, one after the other. */
async function told(chain: Chain, ...works: (() => unknown)[]): Promise<ProjectChange['changed'][]> {
  const ending = new AbortController();
  const stream = changes(chain, undefined, ending.signal);
  const next = async () => ((await stream.next()).value as ProjectChange).changed;
  const heard = [await next()];
  for (const work of works) {
    work();
    heard.push(await next());
  }
  ending.abort();
  expect((await stream.next()).done).toBe(true);
  return heard;
}

test('[K5] whoever listens is told of commits, and of everything that is done to tickets', async () => {
  const chain = emptyChain();
  const { ticketId } = createTicket(chain, { title: 'a', type: 'task' });
  const event = () => events(chain, { state: 'waiting' })[0]?.event ?? 0;
  const heard = await told(
    chain,
    () =>
      checkpoint(chain, { parent: null, type: 'delta', format: 'claude-code-v1', text: prompt('u', 'hi'), template: 'x', checkpoint: 'explicit' }),
    () => createTicket(chain, { title: 'b', type: 'task' }),
    () => moveTicket(chain, { ticketId, to: 'review', reviewers: ['@rev'] }),
    () => acknowledge(chain, { event: event(), by: '@rev', as: 'taken' }),
    () => discuss(chain, { ticketId, text: 'Why?' }),
  );
  expect(heard).toEqual([[], ['commits'], ['tickets'], ['tickets'], ['tickets'], ['commits', 'tickets']]);
});

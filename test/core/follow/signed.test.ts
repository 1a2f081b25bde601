import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { timestampOf } from '../../../src/core/base/index.js';
import { principalOf } from '../../../src/core/import/storing.js';
import { answer, prompt } from '../../support/claude-lines.js';
import { door } from '../../support/door.js';
import { heldClock, scratch } from '../../support/project.js';

/** A session of Claude Code in a folder, as its file. */
function session(dir: string, id: string, text: string): string {
  const path = join(dir, `${id}.jsonl`);
  const lines = (prompt(`${id}-u`, text) + answer(`${id}-a`, 'Done.', { parent: `${id}-u` })).trimEnd().split('\n');
  writeFileSync(path, lines.map((line) => `${JSON.stringify({ ...JSON.parse(line), sessionId: id, cwd: '/work/larder' })}\n`).join(''));
  return path;
}

test('[C26] two sessions in one folder are two principals, and each resolves to its own commit', async () => {
  const clock = heldClock(Date.parse('2040-01-01T00:00:00Z'));
  const { client } = door({ machine: 'desk', clock });
  const dir = scratch();
  const author = await client.capture.checkpoint({ path: session(dir, 'author', 'Write it'), what: 'all' });
  const reviewer = await client.capture.checkpoint({ path: session(dir, 'reviewer', 'Review it'), what: 'all' });
  const [written, reviewed] = await Promise.all([author, reviewer].map(({ tip }) => client.context.show({ id: tip as never })));
  expect([written?.principal, reviewed?.principal]).toEqual(['claude-code@/work/larder#author', 'claude-code@/work/larder#reviewer']);
  expect(written?.machine).toBe('desk');
  const at = timestampOf(clock.at);
  for (const commit of [written, reviewed]) expect((await client.context.resolve({ principal: commit?.principal ?? '', at })).id).toBe(commit?.id);
  const finding = await client.ticket.create({ title: 'A gap', type: 'task', by: reviewed?.principal });
  expect(finding).toMatchObject({ contextId: reviewed?.id, contextFound: 'resolved' });
});

test('[C26] a recording has the principal, ticket and machine that were given', async () => {
  const { client } = door({ machine: 'desk' });
  const path = session(scratch(), 'one', 'Write it');
  const { tip } = await client.capture.checkpoint({ path, what: 'all', principal: '@coder', ticketId: 'tkt-1', machine: 'far' });
  expect(await client.context.show({ id: tip as never })).toMatchObject({ principal: '@coder', ticketId: 'tkt-1', machine: 'far' });
});

test('[C26] a subagent is a principal of its own', () => {
  const of = { principal: 'claude-code@/work', sessionId: 's1' };
  expect(principalOf({ ...of, template: 'claude-code' })).toBe('claude-code@/work#s1');
  expect(principalOf({ ...of, template: 'claude-code/explore' })).toBe('claude-code/explore@/work#s1');
  expect(principalOf({ principal: `a@${'x'.repeat(500)}`, sessionId: 's1', template: 'a' })).toHaveLength(400);
});

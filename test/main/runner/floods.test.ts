import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { openAgents } from '../../../src/main/runner/index.js';
import { door } from '../../support/door.js';
import { read } from '../../support/model-of-jobs.js';
import { scratch } from '../../support/project.js';

test.skipIf(process.platform === 'win32')('[U1] an agent that streams 100 MB is stopped, and the chain is valid', { tags: 'long' }, async () => {
  const root = scratch();
  const command = join(root, 'claude');
  const line = JSON.stringify({ type: 'stream_event', session_id: 's-1', event: { delta: { text: 'x'.repeat(1_000) } } });
  writeFileSync(command, `#!/bin/sh\nyes '${line}' | head -c 100000000\nsleep 600\n`, { mode: 0o700 });
  const agents = openAgents({ env: { PATH: process.env.PATH, STEMMA_CLAUDE: command }, stemma: ['stemma'] });
  const { client } = door({ agents, agentRoots: [{ agent: 'claude-code', root }] });
  const { id } = await client.context.fork({ id: null, edits: [{ op: 'append', entry: { role: 'user', kind: 'text', text: 'Write.' } }] as never });
  const { events, result } = await read(await client.runner.start({ what: { commit: id }, performer: { agent: 'claude-code', folder: root } }));
  expect(result).toMatchObject({ status: 'limit', commits: [] });
  expect(events.at(-1)?.text).toContain('8,000,000 characters');
  expect((await client.project.check({})).problems).toEqual([]);
});

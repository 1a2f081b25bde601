import { join } from 'node:path';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import Database from 'better-sqlite3';
import { expect, test } from '../../support/e2e.js';
import { built, node } from '../../support/machine.js';
import { ask } from '../../support/raw-web.js';

test('[T80] HTTP, the command line and MCP say that an answer comes from damaged rows', async ({ machine }) => {
  const dir = machine.path('work', 'p.stemma');
  expect((await machine.ask('init', dir)).code).toBe(0);
  for (const title of ['one', 'two']) await machine.ask('call', 'ticket.create', '--input', JSON.stringify({ title, type: 'task' }));
  const db = new Database(join(dir, 'stemma.db'));
  db.prepare("UPDATE ticket SET title = 'another' WHERE title = 'one'").run();
  db.close();
  const says = 'Some records of this project are damaged: 1 row of ticket.';

  const listed = await machine.run('ticket', 'list');
  expect(listed.code).toBe(0);
  expect(listed.err).toContain(says);
  expect(listed.err.trim().split('\n')).toHaveLength(1);
  expect((await machine.run('log')).err).not.toContain('Some records');
  expect((await machine.run('fsck')).err).not.toContain('Some records');

  const host = await machine.web(dir);
  const headers = { 'content-type': 'application/json', authorization: `Bearer ${host.bearer}`, 'stemma-project': encodeURIComponent(dir) };
  const damageAt = async (path: string): Promise<unknown> => (await ask(host.port, `/api/${path}`, headers, 'POST', '{}')).headers['stemma-damage'];
  expect(await damageAt('ticket/list')).toBe('ticket=1');
  expect(await damageAt('context/tips')).toBeUndefined();

  const client = new Client({ name: 'test', version: '1' });
  await client.connect(
    new StdioClientTransport({
      command: node,
      args: [built('cli', 'stemma.js'), 'mcp'],
      env: machine.env as Record<string, string>,
      cwd: machine.cwd,
      stderr: 'pipe',
    }),
  );
  const noteOf = async (name: string): Promise<string> => {
    const { content } = await client.callTool({ name, arguments: {} });
    return (content as { text: string }[])[0]?.text ?? '';
  };
  expect(await noteOf('ticket_list')).toContain(says);
  expect(await noteOf('space_list')).not.toContain('damaged');
  await client.close();
});

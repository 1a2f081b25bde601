import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { createORPCClient } from '@orpc/client';
import { RPCLink } from '@orpc/client/websocket';
import type { ContractRouterClient } from '@orpc/contract';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { WebSocket } from 'ws';
import type { Contract } from '../../src/core/contract/index.js';
import { ensureBuilt } from '../support/built.js';
import { built, type Machine, machine, node, type WebHost } from '../support/machine.js';
import { ask } from '../support/raw-web.js';

/** Procedures that fail only while their stream is read, which came out as INTERNAL_SERVER_ERROR without a message before. */
const failing = [
  ['ticket.answer', { ticketId: 'tkt-00000000', provider: 'recorded' }, { code: 'NOT_FOUND', id: 'tkt-00000000' }],
  ['context.summarize', { ids: ['ctx-00000000'] }, { code: 'NOT_FOUND', id: 'ctx-00000000' }],
  ['turn.rerun', { turnId: 'ctx-00000000', provider: 'recorded' }, { code: 'NOT_FOUND', id: 'ctx-00000000' }],
  ['turn.whatIf', { id: 'ctx-00000000', provider: 'recorded' }, { code: 'NOT_FOUND', id: 'ctx-00000000' }],
  ['experiment.run', { experimentId: 'none' }, { code: 'NOT_FOUND', id: 'none' }],
] as const;

let own: Machine;
let host: WebHost;
let dir: string;

beforeAll(async () => {
  await ensureBuilt();
  own = machine();
  host = await own.web();
  dir = own.path('work', 'p.stemma');
  expect((await own.run('init', dir)).code).toBe(0);
});

afterAll(() => own?.[Symbol.asyncDispose]());

type Call = (input: unknown) => Promise<AsyncIterable<unknown>>;

/** Reads a stream to the error that it ends with. */
async function errorOf(stream: AsyncIterable<unknown>): Promise<unknown> {
  try {
    for await (const _ of stream);
  } catch (error) {
    return error;
  }
  throw new Error('the stream ended without an error');
}

describe('an error of a stream keeps its code, its message and its data', () => {
  test.each(failing)('[T46] %s over the WebSocket', async (procedure, input, { code, id }) => {
    const socket = new WebSocket(`ws://127.0.0.1:${host.port}/rpc`, { headers: { authorization: `Bearer ${host.bearer}` } });
    const client: ContractRouterClient<Contract> = createORPCClient(new RPCLink({ websocket: socket as never }));
    await client.project.open({ dir });
    const call = procedure.split('.').reduce<unknown>((at, name) => (at as Record<string, unknown>)[name], client) as Call;
    const error = await call(input).then(errorOf, (refused: unknown) => refused);
    expect(error).toMatchObject({ code, data: { id } });
    expect(String(error)).toContain(id);
    socket.close();
  });

  test.each(failing)('[T46] %s over HTTP', async (procedure, input, { code, id }) => {
    const headers = { authorization: `Bearer ${host.bearer}`, 'stemma-project': encodeURIComponent(dir), 'content-type': 'application/json' };
    const { body } = await ask(host.port, `/api/${procedure.replace('.', '/')}`, headers, 'POST', JSON.stringify(input));
    expect(body).toContain(`"code":"${code}"`);
    expect(body).toContain(id);
  });

  test.each(failing)('[T46] %s by stemma call --stream', { tags: 'long' }, async (procedure, input, { code, id }) => {
    const { code: exit, err } = await own.run('call', procedure, '--stream', '--project', dir, '--input', JSON.stringify(input));
    expect(exit).toBe(1);
    expect(JSON.parse(err)).toMatchObject({ code, data: { id } });
  });

  test('[T46] ticket_answer as a tool of MCP', { tags: 'long' }, async () => {
    const transport = new StdioClientTransport({
      command: node,
      args: [built('cli', 'stemma.js'), 'mcp', '--project', dir],
      env: own.env as Record<string, string>,
      stderr: 'ignore',
    });
    const client = new Client({ name: 'attack', version: '1' });
    await client.connect(transport);
    const [, input, { code, id }] = failing[0];
    const result = await client.callTool({ name: 'ticket_answer', arguments: input });
    expect(result.isError).toBe(true);
    expect(JSON.stringify(result.content)).toContain(code);
    expect(JSON.stringify(result.content)).toContain(id);
    await client.close();
  });
});

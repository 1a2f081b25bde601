import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { built, type Machine, node } from './machine.js';

interface Refused {
  readonly code: string;
  readonly message: string;
  readonly data?: { readonly reason?: unknown };
}

/** A call at one door: the result, or the error. */
export type Answer = { readonly result: unknown } | { readonly code: string; readonly message: string; readonly reason?: unknown };

/** One of the ways into an engine. */
export interface Door {
  readonly name: string;
  call(procedure: string, input: object): Promise<Answer>;
}

/** `stemma call`, with the project at `dir`. */
export const cli = (own: Machine, dir: string): Door => ({
  name: 'CLI',
  async call(procedure, input) {
    const { code, out, err } = await own.ask('call', procedure, '--project', dir, '--input', JSON.stringify(input));
    if (code === 0) return { result: JSON.parse(out) };
    const { data, ...refused } = JSON.parse(err) as Refused;
    return { ...refused, reason: data?.reason };
  },
});

/** A web host, with its bearer for scripts. */
export async function http(own: Machine, dir: string): Promise<Door> {
  const host = await own.web();
  const headers = { authorization: `Bearer ${host.bearer}`, 'content-type': 'application/json', 'stemma-project': encodeURIComponent(dir) };
  return {
    name: 'HTTP',
    async call(procedure, input) {
      const path = procedure.replaceAll('.', '/');
      const answer = await fetch(`${host.origin}/api/${path}`, { method: 'POST', headers, body: JSON.stringify(input) });
      const body = (await answer.json()) as Refused;
      return answer.ok ? { result: body } : { code: body.code, message: body.message, reason: body.data?.reason };
    },
  };
}

/** The tools of the procedures that tests call at every door. */
export const toolNames: Readonly<Record<string, string>> = {
  'analysis.sql': 'sql',
  'finding.list': 'findings',
  'search.query': 'search',
  'context.history': 'history',
  'context.materialize': 'materialize',
  'ticket.create': 'ticket_create',
};

/** `stemma mcp`, with the SDK's client, until it is closed. It has only some procedures. */
export async function mcp(own: Machine, dir: string): Promise<Door & { close(): Promise<void> }> {
  const client = new Client({ name: 'test', version: '1' });
  const args = [built('cli', 'stemma.js'), 'mcp', '--project', dir];
  await client.connect(new StdioClientTransport({ command: node, args, env: own.env as Record<string, string>, cwd: own.cwd, stderr: 'pipe' }));
  return {
    name: 'MCP',
    close: () => client.close(),
    async call(procedure, input) {
      const { isError, content } = await client.callTool({ name: toolNames[procedure] ?? procedure, arguments: { ...input } });
      const text = JSON.stringify(content);
      if (!isError) return { result: text };
      return { code: /UNAVAILABLE|CONFLICT|UNAUTHORIZED|NOT_FOUND|BAD_REQUEST|CORRUPT/.exec(text)?.[0] ?? text, message: text };
    },
  };
}

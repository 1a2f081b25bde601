import { setTimeout as wait } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import type { Job } from '../../core/contract/index.js';
import type { ContractClient } from '../launch/index.js';
import type { McpCaller } from './tool.js';

/** The longest wait of a call, and the time between two checks, in milliseconds. */
const maxWaitMs = 5_000;
const pollMs = 30;
/** The number of last entries to search for the open call. It is small, because an agent calls few tools at once. */
const lastEntries = 20;

/** Waits up to 5 seconds until the chain of a caller in a job contains this call, so that what it writes gets the whole context (K4). */
export async function untilCommitted(client: ContractClient, { as }: McpCaller, toolName: string, input: object): Promise<void> {
  if (as === undefined) return;
  for (const end = Date.now() + maxWaitMs; Date.now() < end; await wait(pollMs)) {
    const jobs = await client.runner.list({ status: 'running' });
    // An agent that does the work of a person acts in a name of its own.
    const own = jobs.filter(({ who, performer }) => 'agent' in performer && (who === as || as === `agent:${performer.agent}`));
    if (own.length === 0) return;
    for (const { commits } of own) {
      const newest = commits.at(-1);
      if (newest !== undefined && (await hasOpenCall(client, newest, toolName, input))) return;
    }
  }
}

/** Whether this call is among the last entries of a context, without a result. */
async function hasOpenCall(client: ContractClient, id: Job['commits'][number], toolName: string, input: object): Promise<boolean> {
  const { total } = await client.context.entries({ id, limit: 1 });
  const { entries } = await client.context.entries({ id, offset: Math.max(0, total - lastEntries) });
  const answered = new Set(entries.flatMap(({ kind, toolCallId }) => (kind === 'tool_result' ? [toolCallId] : [])));
  return entries.some(
    (entry) =>
      entry.kind === 'tool_call' &&
      entry.toolName?.endsWith(toolName) &&
      !answered.has(entry.toolCallId) &&
      isDeepStrictEqual(entry.arguments ?? {}, input),
  );
}

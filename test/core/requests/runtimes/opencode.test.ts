import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { WriteChain } from '../../../../src/core/chain/index.js';
import { getRequest, listRequests } from '../../../../src/core/requests/index.js';
import { importInto } from '../../../support/imports.js';
import { recorded, writeDatabase } from '../../../support/opencode.js';
import { emptyChain, scratch } from '../../../support/project.js';

interface Message {
  readonly role: string;
  readonly content: readonly Record<string, unknown>[];
}

const unmarked = (messages: unknown): unknown =>
  (messages as Message[]).map(({ role, content }) => ({ role, content: content.map(({ cache_control: _, ...block }) => block) }));

function imported(name: 'tour' | 'troubles'): WriteChain {
  const path = join(scratch(), 'opencode.db');
  writeDatabase(path, recorded(name));
  const chain = emptyChain();
  importInto(chain, path);
  return chain;
}

describe.each(['tour', 'troubles'] as const)('calls of OpenCode: %s', (name) => {
  test('[R1, R3] each call is listed with its sent messages and its missing parts', () => {
    const chain = imported(name);
    const { wire } = recorded(name);
    const rows = listRequests(chain, {});
    const left = wire.map(({ model, messages }) => JSON.stringify({ model, messages: unmarked(messages) }));
    const outputs = new Set<number | null>();
    for (const { requestId, messageCount, source, proof, tokens } of rows) {
      const { body, missing, provider } = getRequest(chain, requestId);
      expect({ source, proof, provider }).toEqual({ source: 'opencode', proof: 'recorded', provider: 'anthropic' });
      expect(missing).toEqual(['system', 'tools', 'cache_control', 'parameters']);
      expect((body.messages as unknown[]).length).toBe(messageCount);
      outputs.add(tokens.output);
      const at = left.indexOf(JSON.stringify(body));
      expect(at, `${requestId} is among those sent: ${JSON.stringify(body).slice(0, 400)}`).toBeGreaterThanOrEqual(0);
      left.splice(at, 1);
    }
    // The killed call was not counted.
    expect(outputs).toEqual(new Set(name === 'troubles' ? [10, null] : [10]));
    // A refused call has no answer in the session: the agent repeated it unchanged.
    const answered = new Set(rows.map(({ requestId }) => JSON.stringify(getRequest(chain, requestId).body)));
    expect(left.filter((body) => !answered.has(body))).toEqual([]);
    expect(left).toHaveLength(name === 'troubles' ? 1 : 0);
  });
});

import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { ContextId } from '../../../src/core/base/index.js';
import { contextEntries, tips, type WriteChain } from '../../../src/core/chain/index.js';
import type { SessionProblemKind } from '../../../src/core/contract/index.js';
import { exportContext } from '../../../src/core/export/index.js';
import { pairedCalls } from '../../../src/core/formats/index.js';
import { wordsOf } from '../../../src/core/requests/index.js';
import { diagnose, listSessions, repairSession } from '../../../src/core/sessions/index.js';
import { refusals } from '../../support/api-rules.js';
import { type DamagedAgent, damagedAgents, damagedSession, damageKinds } from '../../support/damaged-sessions.js';
import { importInto } from '../../support/imports.js';
import { some } from '../../support/long.js';
import { emptyChain, scratch } from '../../support/project.js';

const agents = Object.keys(damagedAgents) as DamagedAgent[];

function imported(text: string): WriteChain {
  const chain = emptyChain();
  const path = join(scratch(), '11111111-1111-4111-8111-111111111111.jsonl');
  writeFileSync(path, text);
  importInto(chain, path);
  return chain;
}

/** The faults of what Stemma exports to message APIs, and of what it sends to them itself. */
function faultsOf(chain: WriteChain, id: ContextId): string[] {
  const exported = (['anthropic-messages-v1', 'openai-chat-v1'] as const).flatMap((format) => {
    const { text = '' } = exportContext(chain, { id, format });
    return refusals(format, (JSON.parse(text) as { messages: never[] }).messages).map((fault) => `export to ${format}: ${fault}`);
  });
  const entries = pairedCalls(contextEntries(chain, { id }).map(({ entry }) => entry));
  let next = 0;
  const options = { newId: () => `new-${next++}`, now: '2026-09-03T10:00:00.000Z' as never };
  const wires = { anthropic: 'anthropic-messages-v1', openai: 'openai-chat-v1', responses: 'responses', gemini: 'gemini' } as const;
  const sent = Object.entries(wires).flatMap(([wire, api]) => {
    const list = wordsOf[wire as keyof typeof wires].write(entries, options);
    return refusals(api, list as never[]).map((fault) => `call of ${wire}: ${fault}`);
  });
  return [...exported, ...sent];
}

/** What is no damage to the agent: its records have no parents, its files hold no images, it leaves empty texts out itself or never sends thinking. */
const harmless: Readonly<Partial<Record<DamagedAgent, readonly SessionProblemKind[]>>> = {
  codex: ['broken_parent'],
  pi: ['empty_text'],
  gemini: ['broken_parent', 'empty_thinking', 'unsigned_thinking'],
  copilot: ['broken_parent', 'large_image', 'empty_text'],
  qwen: ['empty_thinking', 'unsigned_thinking'],
};

describe.each(some(agents, 2))('a damaged session of %s', (agent) => {
  test.each(damageKinds)('[F51] with %s is diagnosed and repaired, and no API refuses it', (kind) => {
    const chain = imported(damagedSession(agent, kind));
    const [session] = listSessions(chain, {}).sessions;
    const sessionId = session?.sessionId ?? '';
    // A branch whose beginning is lost begins with the model. Stemma itself sends it as it is until it is repaired.
    const isLost = (fault: string): boolean => fault.startsWith('call of') && fault.includes('the first message');
    for (const { id } of tips(chain, {})) expect(faultsOf(chain, id).filter((fault) => !isLost(fault))).toEqual([]);
    const { problems } = diagnose(chain, { sessionId });
    const kinds = [...new Set(problems.map((problem) => problem.kind))];
    if (harmless[agent]?.includes(kind)) return expect(kinds).toEqual([]);
    expect(kinds).toContain(kind);
    const { commit, changes } = repairSession(chain, { sessionId });
    expect(changes).toHaveLength(problems.length);
    expect(faultsOf(chain, commit?.id as ContextId)).toEqual([]);
    const { text = '' } = exportContext(chain, { id: commit?.id as ContextId, format: damagedAgents[agent] });
    // Nothing but the damaged part is lost.
    for (const word of ['prompt', 'second answer', 'second prompt', 'third answer']) expect(text).toContain(word);
    const again = imported(text);
    const [repaired] = listSessions(again, {}).sessions;
    expect(diagnose(again, { sessionId: repaired?.sessionId ?? '' }).problems).toEqual([]);
  });
});

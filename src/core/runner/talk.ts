import { badRequest, type ContextId, defined, finished } from '../base/index.js';
import { contextEntries, findCommit, fork, type ReadChain } from '../chain/index.js';
import type { ComposedCall } from '../composer/index.js';
import type { AgentTurn } from '../contract/index.js';
import { isOpen } from '../handover/index.js';
import { stepContext } from '../turns/index.js';
import type { CalledTool } from './call.js';
import { waitsFor } from './handover-tools.js';
import type { Actor } from './tool.js';
import { conversationTools, type ToolAnswer } from './tools.js';
import { allowedTurns, carryOut, giveAnswer, handedBefore, type TurnCallParts, textOfResult } from './turn.js';
import type { Start, WorkEnd } from './work-kind.js';

/** The parts of a conversation beyond the parts of a turn. */
export interface TalkParts extends TurnCallParts {
  readonly actor: Actor;
  readonly offered: readonly string[];
  readonly parameters: Readonly<Record<string, unknown>>;
  /** Composes the next call, with everything that is true at its moment. Called in a transaction. */
  compose(tip: ContextId): ComposedCall;
  readonly as: Start['as'];
  /** Stores the newest commit. Called in the transaction that makes the commit. */
  moved(tip: ContextId): void;
}

/**
 * Continues a context until the model replies without a tool call, or until a tool pauses the run. Each reply and each result becomes a commit in the
 * same transaction as the effect of the tool, so that a job that takes over after a kill repeats no recorded step. @throws the error that ended it
 */
export async function talk(parts: TalkParts, from: ContextId): Promise<Pick<WorkEnd, 'text' | 'pauses'>> {
  const { chain, signal } = parts;
  const left: Promise<unknown>[] = [];
  try {
    for (const turn of leftBy(chain, parts.actor.who, from)) left.push(carryOut(parts, { turns: [turn], wait: false }));
    let tip = from;
    for (;;) {
      signal.throwIfAborted();
      const { open, text } = readContext(chain, tip);
      if (open.length === 0 && text !== undefined) {
        await Promise.all(left);
        return { text, pauses: false };
      }
      if (open.length === 0) {
        tip = await reply(parts, tip);
        continue;
      }
      for (const call of open) {
        const done = await answerCall(parts, tip, call, left);
        tip = done.tip;
        if (done.pauses) return { text: '', pauses: true };
      }
    }
  } finally {
    await Promise.allSettled(left);
  }
}

async function reply(parts: TalkParts, tip: ContextId): Promise<ContextId> {
  const { chain, provider, model, offered, parameters, as, signal, tell } = parts;
  const composed = chain.db.transaction(() => parts.compose(tip));
  const tools = conversationTools(offered);
  const isOwn = parts.actor.runId !== null;
  const step = stepContext(chain, { id: tip, provider, model, tools, parameters, isOwn, composed, as, made: parts.moved }, signal);
  const commit = await finished(step, ({ kind, delta: text, toolName, tokens }) => {
    if (kind === 'text' || kind === 'thinking' || kind === 'waiting') tell({ kind, text });
    if (kind === 'tool_call') tell({ kind: 'call', text, ...defined({ toolName }) });
    if (kind === 'usage') tell({ kind, text: '', ...defined({ tokens }) });
  });
  signal.throwIfAborted();
  if (commit === undefined) throw badRequest('performer', `${provider.title} sent an empty reply.`);
  return commit;
}

/** The text of the last reply of a context, if no call is open after it. */
export function finalWords(chain: ReadChain, tip: ContextId): string | undefined {
  const { open, text } = readContext(chain, tip);
  return open.length === 0 && text !== '' ? text : undefined;
}

/** The calls at the end of a context that have no result yet, and the text after the last result. */
function readContext(chain: ReadChain, tip: ContextId) {
  const all = contextEntries(chain, { id: tip }).map(({ entry }) => entry);
  const asked = all.findLastIndex(({ role }) => role === 'user' || role === 'system');
  const since = all.slice(asked + 1);
  const results = new Set(since.flatMap(({ kind, toolCallId }) => (kind === 'tool_result' ? [toolCallId] : [])));
  const open = since.flatMap(({ kind, toolCallId = '', toolName = '', arguments: given }) =>
    kind === 'tool_call' && !results.has(toolCallId) ? [{ id: toolCallId, name: toolName, arguments: given ?? {} }] : [],
  );
  const last = since.findLastIndex(({ role }) => role === 'tool');
  const said = since.slice(last + 1);
  return { open, text: said.length === 0 ? undefined : said.flatMap(({ kind, text }) => (kind === 'text' ? [text ?? ''] : [])).join('\n\n') };
}

/** Answers a call. Stemma's own tools answer in the transaction of the result's commit; delegated agents and persons answer later. */
async function answerCall(parts: TalkParts, tip: ContextId, call: CalledTool, left: Promise<unknown>[]): Promise<Pick<WorkEnd, 'tip' | 'pauses'>> {
  const { chain, tell, actor } = parts;
  let made: ContextId | undefined;
  const keep = ({ status, result }: ToolAnswer): ContextId => {
    const entry = { role: 'tool', kind: 'tool_result', toolName: call.name, toolCallId: call.id, text: textOfResult(result) } as const;
    const { id } = fork(chain, {
      id: tip,
      edits: [{ op: 'append', entry: { ...entry, ...(status === 'failed' && { isError: true }) } }],
      summary: `${call.name}: ${textOfResult(result)}`.slice(0, 200).toWellFormed(),
      ...parts.as,
    });
    parts.moved(id);
    made = id;
    return id;
  };
  const handed = (): ToolAnswer | undefined => handedBefore(call.name, handedSince(chain, actor.who, tip), resultsIn(chain, tip).join('\n'));
  const answer = await giveAnswer(parts, call, left, { actor, offered: parts.offered, handed, keep });
  parts.signal.throwIfAborted();
  const commit = made ?? chain.artifacts.transaction(() => keep(answer));
  tell({ kind: 'result', text: textOfResult(answer.result), toolName: call.name });
  return { tip: commit, pauses: answer.pauses === true };
}

/** The open turns that an earlier job handed out without waiting for them. The results name these turns. */
function leftBy(chain: ReadChain, who: string, tip: ContextId): AgentTurn[] {
  const results = resultsIn(chain, tip).filter((text) => text.includes('"agent_turn_id"'));
  if (results.length === 0) return [];
  const isNamed = ({ agentTurnId }: AgentTurn): boolean => results.some((text) => text.includes(agentTurnId));
  return allowedTurns(chain).filter((turn) => turn.sourceAgentId === who && !waitsFor(turn.tool) && isOpen(turn) && isNamed(turn));
}

const resultsIn = (chain: ReadChain, tip: ContextId): string[] =>
  contextEntries(chain, { id: tip }).flatMap(({ entry }) => (entry.kind === 'tool_result' ? (entry.text ?? []) : []));

function handedSince(chain: ReadChain, who: string, tip: ContextId): AgentTurn[] {
  const since = findCommit(chain, tip).createdAt;
  return allowedTurns(chain).filter(({ sourceAgentId, createdAt }) => sourceAgentId === who && Date.parse(createdAt) >= since);
}

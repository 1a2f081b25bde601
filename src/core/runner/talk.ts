import { badRequest, type ContextId } from '../base/index.js';
import { type Chain, commitOf, contextEntries, fork } from '../chain/index.js';
import type { Entry } from '../contract/index.js';
import { handoverMap } from '../handover/index.js';
import { stepContext } from '../turns/index.js';
import type { CalledTool } from './call.js';
import type { Actor } from './tool.js';
import { answered, conversationTools, type ToolAnswer, waitsFor } from './tools.js';
import { carryOut, handedBefore, type TurnParts, textOfResult } from './turn.js';

/** What a conversation needs beside what a turn needs. */
export interface TalkParts extends TurnParts {
  readonly actor: Actor;
  /** Metadata of the commits. */
  readonly as: { readonly template?: string; readonly principal: string; readonly ticketId?: string; readonly threadId?: string };
  /** Stores the newest commit. It is called in the transaction that makes it. */
  moved(tip: ContextId): void;
}

/** How a conversation ended. `pauses`: a run waits for an answer. */
export interface Talked {
  readonly tip: ContextId;
  readonly text: string;
  readonly pauses: boolean;
}

/**
 * Continues a context until the model replies without a tool call, or until a tool pauses the run. Each reply and each result is a commit
 * that is made together with the effect of the tool, so that a job that takes over after a kill repeats nothing that was recorded.
 * @throws what ended it
 */
export async function talk(parts: TalkParts, from: ContextId): Promise<Talked> {
  const { chain, signal } = parts;
  const left: Promise<unknown>[] = [];
  try {
    let tip = from;
    for (;;) {
      signal.throwIfAborted();
      const { open, text } = endOf(chain, tip);
      if (open.length === 0 && text !== undefined) {
        await Promise.all(left);
        return { tip, text, pauses: false };
      }
      if (open.length === 0) {
        tip = await reply(parts, tip);
        continue;
      }
      for (const call of open) {
        const done = await answerCall(parts, tip, call, left);
        tip = done.tip;
        if (done.pauses) return { tip, text: '', pauses: true };
      }
    }
  } finally {
    await Promise.allSettled(left);
  }
}

async function reply(parts: TalkParts, tip: ContextId): Promise<ContextId> {
  const { chain, provider, model, tools, as, signal, tell } = parts;
  const step = stepContext(chain, { id: tip, provider, model, tools: conversationTools(tools), as, made: parts.moved }, signal);
  for (;;) {
    const { value, done } = await step.next();
    if (done) {
      signal.throwIfAborted();
      if (value === undefined) throw badRequest('performer', `${provider.title} sent an empty reply.`);
      return value;
    }
    const toolName = value.toolName === undefined ? {} : { toolName: value.toolName };
    if (value.kind === 'text' || value.kind === 'thinking' || value.kind === 'waiting') tell({ kind: value.kind, text: value.delta });
    if (value.kind === 'tool_call') tell({ kind: 'call', text: value.delta, ...toolName });
    if (value.kind === 'usage') tell({ kind: 'usage', text: '', ...(value.tokens && { tokens: value.tokens }) });
  }
}

/** The calls at the end of a context that have no result yet; else the words of its last reply. */
function endOf(chain: Chain, tip: ContextId): { readonly open: readonly CalledTool[]; readonly text: string | undefined } {
  const all: readonly Pick<Entry, 'role' | 'kind' | 'text' | 'toolName' | 'toolCallId' | 'arguments'>[] = contextEntries(chain, { id: tip }).map(
    ({ entry }) => entry,
  );
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

/** Answers a call: Stemma at once, together with the commit of the result; the agents of a delegation, or a person, when they have answered. */
async function answerCall(
  parts: TalkParts,
  tip: ContextId,
  call: CalledTool,
  left: Promise<unknown>[],
): Promise<{ readonly tip: ContextId; readonly pauses: boolean }> {
  const { chain, tell } = parts;
  const handed = handedSince(chain, parts.actor.who, tip, call.name);
  let answer: ToolAnswer | undefined = handed;
  let made: ContextId | undefined;
  if (!answer)
    chain.artifacts.transaction(() => {
      answer = answered(chain, parts.actor, call.name, call.arguments);
      if (answer && !answer.handed) made = store(answer);
    });
  if (!answer) {
    const { allow, note } = await parts.ask(call);
    answer = allow ? { status: 'success', result: note ?? '' } : { status: 'failed', result: note ?? `${call.name} was refused by a person.` };
  } else if (answer.handed) {
    const done = carryOut(parts, answer.handed);
    if (answer.handed.wait) answer = { status: 'success', result: await done };
    else left.push(done);
  }
  parts.signal.throwIfAborted();
  const commit = made ?? chain.artifacts.transaction(() => store(answer as ToolAnswer));
  tell({ kind: 'result', text: textOfResult(answer.result), toolName: call.name });
  return { tip: commit, pauses: answer.pauses === true };

  function store({ status, result }: ToolAnswer): ContextId {
    const entry = { role: 'tool', kind: 'tool_result', toolName: call.name, toolCallId: call.id, text: textOfResult(result) } as const;
    const { id } = fork(chain, {
      id: tip,
      edits: [{ op: 'append', entry: { ...entry, ...(status === 'failed' && { isError: true }) } }],
      summary: `${call.name}: ${textOfResult(result)}`.slice(0, 200).toWellFormed(),
      ...parts.as,
    });
    parts.moved(id);
    return id;
  }
}

/** The turns that an earlier job handed out for this call. They are not handed out twice. */
function handedSince(chain: Chain, who: string, tip: ContextId, name: string): ToolAnswer | undefined {
  if (!(waitsFor(name) || name === 'delegate_async' || name === 'launch_principal')) return undefined;
  const since = commitOf(chain, tip).createdAt;
  const turns = handoverMap(chain).turns.filter(
    ({ sourceAgentId, tool, createdAt }) => sourceAgentId === who && tool === name && Date.parse(createdAt) >= since,
  );
  const [first] = turns;
  if (!first) return undefined;
  return handedBefore({ name }, first.batchId === undefined ? [first] : turns.filter(({ batchId }) => batchId === first.batchId));
}

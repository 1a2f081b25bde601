import { findCommit, type ReadChain, templateText, type WriteChain } from '../chain/index.js';
import type { InputOf, OutputOf } from '../contract/index.js';
import { requireFormat } from '../formats/index.js';
import { type AgentTurnRow, makeTurnInput, sharedCall, turnInput, turnNamed } from '../handover/index.js';
import { composeContext, composedBody, stepBody } from '../turns/index.js';
import { type Decided, decidedBy, givenOr, tipOfWork } from './jobs.js';
import { offeredTo } from './offered.js';
import type { RunnerParts } from './parts.js';
import { openFormat } from './report-log.js';
import { shownCall } from './run-call.js';
import { findBeginning, openStart, startCall, startKey, whoStarts, writtenTask } from './start-work.js';
import { conversationTools } from './tools.js';
import { optionsOf } from './turn.js';
import { turnKey } from './turn-work.js';

/** The input of a turn's model now (`agent.input`), with the body of the request if the call names a wire. @throws NOT_FOUND */
export function readTurnInput(chain: WriteChain, layers: RunnerParts['layers'], given: InputOf<'agent.input'>): OutputOf<'agent.input'> {
  const turn = turnNamed(chain, given.agentTurnId);
  const job = givenOr({ sharing: given.enableShareContext }, decidedForTurn(chain, turn));
  const options = { ...optionsOf({ chain, layers, ...job }, turn), ...given };
  const input = turnInput(chain, options);
  if (given.wire === undefined) return input;
  const { composed, sent } = makeTurnInput(chain, turn, options);
  const model = String(sent.parameters.model ?? 'MODEL');
  return { ...input, body: composedBody(composed.messages, given.wire, { model, tools: (sent.tools ?? []) as never, parameters: sent.parameters }) };
}

/** What the job that carries out a turn decides about its calls: its own, or that of the turn which handed it out. */
function decidedForTurn(chain: ReadChain, { agentTurnId, parentTurnId }: AgentTurnRow): Decided | undefined {
  const own = decidedBy(chain, turnKey(agentTurnId));
  return own ?? (parentTurnId === null ? undefined : decidedForTurn(chain, turnNamed(chain, parentTurnId)));
}

/** A model's next call for a start of a ticket, not stored. @throws NOT_FOUND; CONFLICT for a done, dismissed or obsolete start */
export function previewTicketStart(
  chain: ReadChain,
  { event: no, wire, model, tools: limit, enableShareContext }: InputOf<'ticket.preview'>,
): OutputOf<'ticket.preview'> {
  const event = openStart(chain, no, 'makes a call');
  const { tools: named, sharing } = givenOr({ tools: limit, sharing: enableShareContext }, decidedBy(chain, startKey(no)));
  const who = whoStarts(event);
  const tip = tipOfWork(chain, startKey(no));
  const { base: from, text } = tip === undefined ? findBeginning(chain, event, who) : { base: tip, text: undefined };
  // Without a base, the start begins a conversation.
  const base = from === null ? undefined : findCommit(chain, from);
  const call = base && startCall(chain, event.ticketId, event.task === 'answer' && base.threadId !== null);
  const memory = text === undefined ? [] : [{ role: 'human' as const, content: text }];
  const composed = base
    ? composeContext(chain, base, { kind: 'turn', ...call, sharing, query: text })
    : sharedCall(chain, { profile: undefined, sharing }, { kind: 'turn', systemPrompt: templateText(chain, who) ?? '', memory });
  const tools = conversationTools(offeredTo(undefined, 'ticket', named));
  const shown = shownCall(composed, tools, {});
  if (!wire) return shown;
  const added = text === undefined ? [] : requireFormat(openFormat).parse(writtenTask(chain, text)).entries;
  return { ...shown, body: stepBody(chain, base, { wire, model, tools, parameters: {}, composed }, added) };
}

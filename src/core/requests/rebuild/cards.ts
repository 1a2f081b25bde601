import { type CommitSeq, type ContextId, type EntryKey, notFound, toTimestamp } from '../../base/index.js';
import { idsAt } from '../../cards/index.js';
import { findCommit, type ReadChain } from '../../chain/index.js';
import type { Proof, Request, RequestRow } from '../../contract/index.js';
import { type AgentTurnRow, type CardCall, callsOfTurn, newestCommitOf, turnNamed, turnsOfCommits } from '../../handover/index.js';
import { unknownUsage } from '../runtimes/runtime.js';

/** Calls of card turns, each with the turn's newest commit, which holds the reply. `isTurn`: the commits name a turn; list all its calls. */
export function cardRows(chain: ReadChain, seqs: ReadonlySet<CommitSeq>, isTurn: boolean) {
  const turns = turnsOfCommits(chain, [...seqs]);
  /** The commits of these calls. No other rule lists calls for them. */
  const commits = new Set<CommitSeq>();
  const rows = [...new Map([...turns.values()].map((turn) => [turn.no, turn])).values()].flatMap((turn): RequestRow[] => {
    const calls = callsOfTurn(chain, turn);
    if (!calls.length) return [];
    for (const [seq, of] of turns) if (of.no === turn.no) commits.add(seq);
    const commit = newestCommitOf(turn);
    if (commit === null || !(isTurn || seqs.has(findCommit(chain, commit).seq))) return [];
    const output = idsAt(chain, turn.output);
    return calls.map((call) => makeRow(turn, call, commit, output[call.outputs]));
  });
  return { rows, commits };
}

const makeRow = (turn: AgentTurnRow, call: CardCall, commit: ContextId, reply: string | undefined): RequestRow => ({
  requestId: call.requestId,
  at: toTimestamp(call.at),
  commit,
  replyKey: reply === undefined ? null : (`${reply}.0` as EntryKey),
  sessionId: turn.agentId,
  source: call.source === 'entries' ? 'entries' : 'stemma',
  model: typeof call.body.model === 'string' ? call.body.model : null,
  messageCount: call.body.messages.length,
  tokens: call.reply?.tokens ?? unknownUsage,
  proof: proofOf(call),
  ...(call.problem !== undefined && { problem: call.problem }),
});

/** Stemma's own calls are proved by their digest. For another performer, its input is recorded, but not whether it sent exactly that. */
function proofOf({ source, problem }: CardCall): Proof {
  if (source === 'entries') return 'rebuilt';
  return source === 'stemma' && problem === undefined ? 'digest' : 'recorded';
}

/** The turn and number of a call of a card turn; undefined for ids of other kinds. */
export function parseCardId(requestId: string): { readonly agentTurnId: string; readonly number: number } | undefined {
  const found = /^card:(.+):(\d+)$/.exec(requestId);
  return found ? { agentTurnId: found[1] as string, number: Number(found[2]) } : undefined;
}

/** One call of a card turn. @throws NOT_FOUND */
export function getCardCall(chain: ReadChain, requestId: string, { agentTurnId, number }: { agentTurnId: string; number: number }): Request {
  const call = callsOfTurn(chain, turnNamed(chain, agentTurnId))[number];
  if (!call) throw notFound(requestId, `The turn ${agentTurnId} has no recorded call ${number}.`);
  return {
    requestId,
    provider: 'openai',
    body: call.body,
    headers: {},
    digest: call.digest,
    recordedDigest: call.recordedDigest,
    proof: proofOf(call),
    missing: [...call.missing],
    ...(call.problem !== undefined && { problem: call.problem }),
  };
}

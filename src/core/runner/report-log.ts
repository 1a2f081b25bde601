import { decodeText, toTimestamp } from '../base/index.js';
import type { WriteChain } from '../chain/index.js';
import { type LocatedFile, removeInside, statInside } from '../files/index.js';
import { requireFormat, type WritableEntry } from '../formats/index.js';
import { type AgentLog, type AgentWork, type Begun, commitsOf } from './agent-log.js';
import type { AgentPiece } from './programs.js';

/** A format in which a tool call can stay open between two commits. */
export const openFormat = 'claude-code-v1';

/** Commits the reports of an agent, for agents that do not write their session to a growing file. */
export function recordReports(chain: WriteChain, begun: Begun, work: AgentWork): AgentLog {
  const format = requireFormat(openFormat);
  const commits = commitsOf(chain, work);
  const waiting: WritableEntry[] = [];
  const words = { thinking: '', text: '' };
  let file: LocatedFile | undefined;
  const closeWords = (): void => {
    for (const kind of ['thinking', 'text'] as const) {
      if (words[kind] !== '') waiting.push({ role: 'assistant', kind, text: words[kind] });
      words[kind] = '';
    }
  };
  const take = (): void => {
    closeWords();
    if (waiting.length === 0) return;
    commits.add(openFormat, decodeText(format.write(waiting.splice(0), { newId: chain.newId, now: toTimestamp(chain.clock()) })));
  };
  const add = (piece: AgentPiece): void => {
    if (piece.kind === 'thinking' && words.text !== '') closeWords();
    if (piece.kind === 'text' || piece.kind === 'thinking') words[piece.kind] += piece.delta;
    if (piece.kind !== 'call' && piece.kind !== 'result') return;
    const { toolName, toolCallId = chain.newId() } = piece;
    closeWords();
    if (piece.kind === 'call') waiting.push({ role: 'assistant', kind: 'tool_call', toolName, toolCallId, arguments: piece.input ?? {} });
    else waiting.push({ role: 'tool', kind: 'tool_result', toolName, toolCallId, text: piece.text });
    // Commits before a tool of Stemma runs, so that the tool records the agent's whole context.
    take();
  };
  return {
    tip: commits.tip,
    add,
    at(found) {
      file = found;
    },
    /** Removes the file from which the agent read the session. */
    end() {
      take();
      if (file && begun.resume?.path === file.path && statInside(file.root, file.path)) removeInside(file.root, file.path);
    },
  };
}

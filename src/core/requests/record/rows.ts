import type { WriteChain } from '../../chain/index.js';
import { type ApiRequest, agentOf } from '../runtimes/claude-code/records.js';

/** A message that a call refers to and that is missing in the file. */
export interface Gap {
  readonly hash: string;
  readonly reason: string;
}

/** Finds or creates the row of a call's conversation. */
export function conversationRows(chain: WriteChain, source: number): (call: ApiRequest) => number {
  const { db, project } = chain;
  const known = new Map(
    db
      .all<{ no: number; sessionId: string; agentId: string }>('SELECT no, sessionId, agentId FROM requestConversation WHERE source = ?', source)
      .map((row) => [`${row.sessionId}\n${row.agentId}`, row.no]),
  );
  return ({ sessionId = '', agentId }) => {
    const agent = agentOf(agentId);
    const name = `${sessionId}\n${agent}`;
    const no =
      known.get(name) ??
      db.run('INSERT INTO requestConversation (project, source, sessionId, agentId) VALUES (?, ?, ?, ?)', project, source, sessionId, agent).rowId;
    known.set(name, no);
    return no;
  };
}

/** Finds or creates the row of a missing message. */
export function gapRows(chain: WriteChain, source: number): (gap: Gap) => number {
  const { db, project } = chain;
  return ({ hash, reason }) => {
    const bytes = Buffer.from(hash, 'hex');
    const known = db.one<{ no: number }>('SELECT no FROM requestGap WHERE source = ? AND hash = ?', source, bytes);
    return known?.no ?? db.run('INSERT INTO requestGap (project, source, hash, reason) VALUES (?, ?, ?, ?)', project, source, bytes, reason).rowId;
  };
}

import { type ArtifactNo, type ContextId, orUndefined, toTimestamp } from '../base/index.js';
import { type ReadChain, readParsed } from '../chain/index.js';
import type { InputOf, OutputOf } from '../contract/index.js';

/** Trailers of a commit message that name a session. */
const trailer = /^(?:Stemma-Session|Agent-Session|Session-Id|Claude-Session|Codex-Session):\s*(\S.*?)\s*$/gim;

/** The calls that may have made a commit. More are not looked at. */
const maxCalls = 5_000;

/**
 * The sessions that made a commit of git: those that its message names, and those in which `git commit` printed its hash. Nothing is guessed from
 * times or authors.
 */
export function sessionsOfCommit(chain: ReadChain, { commit, message = '' }: InputOf<'blame.commit'>): OutputOf<'blame.commit'> {
  const { db, project } = chain;
  const named = [...message.matchAll(trailer)].flatMap(([, id = '']) =>
    db.one('SELECT 1 FROM commits WHERE +project = ? AND sessionId = ? LIMIT 1', project, id)
      ? [{ sessionId: id, turnId: null, basis: 'trailer' as const, at: null }]
      : [],
  );
  const calls = db.all<{ id: ContextId; sessionId: string | null; artifact: ArtifactNo; format: string; callId: string | null; at: number }>(
    `SELECT c.id, c.sessionId, c.artifact, c.format, t.callId, t.at FROM usageTool t JOIN commits c ON c.seq = t.context
      WHERE t.project = ? AND t.command LIKE '%git%commit%' AND t.isError = 0 ORDER BY t.at DESC LIMIT ${maxCalls}`,
    project,
  );
  const short = commit.toLowerCase();
  const made = calls.flatMap(({ id, sessionId, artifact, format, callId, at }) =>
    sessionId !== null && hashesIn(chain, artifact, format, callId).some((hash) => short.startsWith(hash) || hash.startsWith(short))
      ? [{ sessionId, turnId: id, basis: 'tool' as const, at: toTimestamp(at) }]
      : [],
  );
  return [...named, ...made];
}

/** The hashes that `git commit` printed: `[main 1a2b3c4] Subject`. */
function hashesIn(chain: ReadChain, artifact: ArtifactNo, format: string, callId: string | null): string[] {
  const entries = orUndefined(() => readParsed(chain, { artifact, format }).entries) ?? [];
  const result = entries.find(({ kind, toolCallId }) => kind === 'tool_result' && callId !== null && toolCallId === callId);
  return [...(result?.text ?? '').matchAll(/^\[[^\]\n]*\b([0-9a-f]{7,40})\]/gm)].flatMap(([, hash]) => hash ?? []);
}

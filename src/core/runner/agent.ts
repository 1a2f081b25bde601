import { badRequest, StemmaError } from '../base/index.js';
import { contextEntries, isShared } from '../chain/index.js';
import { afterNotice } from '../composer/index.js';
import type { AgentPerformer } from '../contract/index.js';
import { checkFolder, resumeIn, sessionFile } from '../export/index.js';
import type { LocatedFile } from '../files/index.js';
import { unknownUsage } from '../requests/index.js';
import { mergedCost, mergedTokens } from '../turns/index.js';
import { type AgentWork, type Begun, followSession } from './agent-log.js';
import { servedNames } from './agent-tools.js';
import { noteSession } from './left-sessions.js';
import type { Performing, RunnerParts } from './parts.js';
import type { AgentPiece, AgentProgram } from './programs.js';
import { recordReports } from './report-log.js';

/**
 * Lets a command-line agent continue a context in the folder that the person chose. Stemma writes the context as a session of the agent, commits the
 * entries that the agent adds while it works, and removes the session at the end, because the chain contains it. Permission requests go to a person.
 * Returns the last message. @throws LimitReached; UNAVAILABLE if the agent fails; the signal's reason if it aborts
 */
export async function performAgent(parts: RunnerParts, work: Performing, program: AgentProgram, task: AgentWork): Promise<string> {
  const { chain } = parts;
  const { diary, signal, jobId } = work;
  const performer = work.performer as AgentPerformer;
  checkFolder(performer.folder, 'performer.folder');
  const begun = beginSession(parts, jobId, performer, task);
  const own = new AbortController();
  const log = program.reports ? recordReports(chain, begun, task) : followSession(chain, program, begun, task, own.signal);
  const ended = AbortSignal.any([signal, own.signal]);
  let text: string | undefined;
  let size = 0;
  try {
    const order = {
      folder: performer.folder,
      permissions: performer.permissions ?? 'default',
      model: performer.model,
      prompt: begun.prompt,
      rules: afterNotice(isShared(chain), '') || undefined,
      resume: begun.resume,
      environment: parts.environment,
      // An empty list of tools offers none.
      mcp:
        work.tools?.length === 0 || task.permitted?.length === 0
          ? undefined
          : { project: parts.dir, tools: servedNames(work.tools ?? []), permitted: task.permitted, as: task.who, runId: task.runId },
    } as const;
    diary.meter.beginCall();
    for await (const piece of program.run(order, ended)) {
      size += piece.kind === 'text' || piece.kind === 'thinking' ? piece.delta.length : 0;
      diary.meter.check(size, performer.model);
      if (piece.kind === 'session') log.at(sessionAt(parts, jobId, performer, begun, piece));
      if (piece.kind === 'usage') {
        diary.meter.endCall(
          mergedTokens(unknownUsage, piece.tokens),
          piece.model ?? performer.model ?? null,
          mergedCost(null, piece.cost),
          Math.ceil(size / 4),
        );
        size = 0;
      }
      log.add(piece);
      if (piece.kind === 'end') {
        if (piece.isError) throw new StemmaError('UNAVAILABLE', `${program.title} failed: ${piece.text}`);
        text = piece.text;
      }
      tellPiece(work, piece, own);
      // The next model call starts with the results of the previous one.
      if (piece.kind === 'result') diary.meter.beginCall();
    }
    signal.throwIfAborted();
    if (own.signal.aborted) throw own.signal.reason;
    if (text === undefined) throw new StemmaError('UNAVAILABLE', `${program.title} ended without a result.`);
  } finally {
    own.abort();
    if (!diary.isClosed()) log.end();
  }
  return text;
}

/** Reports the work of an agent. A permission request waits for a person, and the agent waits for the answer. */
function tellPiece({ diary }: Performing, piece: AgentPiece, own: AbortController): void {
  const { kind } = piece;
  if (kind === 'text' || kind === 'thinking') diary.tell({ kind, text: piece.delta });
  if (kind === 'call' || kind === 'result') diary.tell({ kind, text: piece.text, toolName: piece.toolName });
  if (kind === 'usage') diary.tell({ kind, text: '', tokens: mergedTokens(unknownUsage, piece.tokens) });
  if (kind === 'notice') diary.tell({ kind, text: piece.text });
  if (kind === 'question')
    diary.ask({ requestId: piece.requestId, toolName: piece.toolName, arguments: JSON.stringify(piece.arguments) }).then(
      ({ allow, note }) => {
        piece.answer(allow, note);
        diary.tell({ kind: 'notice', text: `A person ${allow ? 'allowed' : 'refused'} ${piece.toolName}${allow || !note ? '.' : `: ${note}`}` });
      },
      (error: unknown) => own.abort(error),
    );
}

/** Writes the session that the agent resumes. A context that contains only a prompt starts a new session. */
function beginSession({ chain, agentRoots }: RunnerParts, jobId: string, performer: AgentPerformer, { from, isTakenOver }: AgentWork): Begun {
  const said = contextEntries(chain, { id: from }).map(({ entry }) => entry);
  const before = said.findLastIndex(({ role }) => role === 'assistant' || role === 'tool');
  const prompt = said
    .slice(before + 1)
    .flatMap(({ role, kind, text }) => ((role === 'user' || role === 'system') && kind === 'text' && text ? [text] : []))
    .join('\n\n');
  const isKnown = prompt !== '';
  if (!(isKnown || isTakenOver)) throw badRequest('what', `${from} does not end with a message, so the agent has nothing to answer.`);
  if (before < 0) return { prompt, isKnown, resume: undefined };
  const made = resumeIn(chain, agentRoots, { id: from, agent: performer.agent, cwd: performer.folder, takesPrompt: true }, (_path, sessionId) =>
    noteSession(chain, jobId, sessionId),
  );
  return { prompt: isKnown ? (made.prompt ?? prompt) : continuation, isKnown, resume: { sessionId: made.sessionId, path: made.path } };
}

/** The prompt for an agent that continues after the process of its job died. */
const continuation = 'Your work was interrupted. Continue from where you left off.';

/** The folder in which an agent stores its sessions on this machine. */
export const findRoot = ({ agentRoots }: Pick<RunnerParts, 'agentRoots'>, { agent }: AgentPerformer): string | undefined =>
  agentRoots.find((one) => one.agent === agent)?.root;

function sessionAt(
  parts: RunnerParts,
  jobId: string,
  performer: AgentPerformer,
  begun: Begun,
  { sessionId, path }: Extract<AgentPiece, { kind: 'session' }>,
): LocatedFile | undefined {
  const { agent, folder } = performer;
  const root = findRoot(parts, performer);
  const file = path ?? (begun.resume?.sessionId === sessionId ? begun.resume.path : root && sessionFile(agent, { root, cwd: folder, sessionId }));
  noteSession(parts.chain, jobId, sessionId);
  return root === undefined || file === undefined ? undefined : { root, path: file };
}

import type { ContextId } from '../base/index.js';
import { checkpoint, findCommit, type WriteChain } from '../chain/index.js';
import { type LocatedFile, readInside, removeInside, statInside } from '../files/index.js';
import { requireFormat } from '../formats/index.js';
import type { StartedWork } from './own-work.js';
import type { AgentPiece, AgentProgram } from './programs.js';

/** The work of an agent: the context that it continues, and the functions that store its commits. */
export interface AgentWork extends StartedWork {
  /** True if a job whose process died has worked on the context. It may then end anywhere. */
  readonly isTakenOver: boolean;
}

/** The session that an agent starts with, and the prompt that it answers. */
export interface Begun {
  readonly prompt: string;
  readonly isKnown: boolean;
  readonly resume: { readonly sessionId: string; readonly path: string } | undefined;
}

export interface AgentLog {
  tip(): ContextId;
  /** Accepts a piece after the agent has done the work that it reports. */
  add(piece: AgentPiece): void;
  at(found: LocatedFile | undefined): void;
  end(): void;
}

/** Makes commits on the chain of the work, each with the entries that an agent added. */
export function commitsOf(chain: WriteChain, { from, as, moved }: AgentWork) {
  let tip = from;
  return {
    tip: () => tip,
    add(format: string, text: string): void {
      const { sessionId, template } = findCommit(chain, tip);
      chain.artifacts.transaction(() => {
        tip = checkpoint(chain, {
          parent: tip,
          type: 'delta',
          format,
          text,
          checkpoint: 'turn_boundary',
          ...(sessionId !== null && { sessionId }),
          ...as,
          template: as.template ?? template,
        }).id;
        moved(tip);
      });
    },
  };
}

/** Commits the entries that an agent adds to its session file. After the signal aborts, only a new piece or the end commits. */
export function followSession(chain: WriteChain, program: AgentProgram, begun: Begun, work: AgentWork, signal: AbortSignal): AgentLog {
  const format = requireFormat(`${program.agent}-v1`);
  const commits = commitsOf(chain, work);
  let file: LocatedFile | undefined;
  let done = 0;
  let hasReplied = false;
  const take = (): void => {
    if (!file || (statInside(file.root, file.path)?.size ?? 0) <= done) return;
    const bytes = readInside(file.root, file.path, { limit: maxSessionBytes });
    const end = bytes.lastIndexOf(0x0a) + 1;
    if (end <= done) return;
    const lines = bytes
      .subarray(done, end)
      .toString('utf8')
      .split(/(?<=\n)/);
    done = end;
    const text = lines.filter((line) => hasReplied || !begun.isKnown || !isPrompt(line, begun.prompt)).join('');
    hasReplied ||= lines.some((line) => /"role":"assistant"/.test(line));
    if (format.parse(Buffer.from(text)).entries.length > 0) commits.add(format.id, text);
  };
  // An agent writes its file a moment after it reports a call, and a tool of Stemma waits for the commit with its call.
  let polling: NodeJS.Timeout | undefined;
  const stop = (): void => clearInterval(polling);
  signal.addEventListener('abort', stop, { once: true });
  const poll = (): void => {
    try {
      take();
    } catch {
      // Nobody awaits this attempt. The next piece or the end meets the same problem, and the job fails with it.
      stop();
    }
  };
  return {
    tip: commits.tip,
    add(piece) {
      if (piece.kind !== 'call' && piece.kind !== 'result') return;
      stop();
      take();
      if (piece.kind === 'call' && !signal.aborted) polling = setInterval(poll, pollMs);
    },
    at(found) {
      file = found;
      if (found && begun.resume?.path === found.path && done === 0) done = statInside(found.root, found.path)?.size ?? 0;
    },
    /** Also removes the session, because the chain contains it and the person did not start it. */
    end() {
      stop();
      take();
      if (file && statInside(file.root, file.path)) removeInside(file.root, file.path);
    },
  };
}

/** Milliseconds between two reads of the file while a tool runs. */
const pollMs = 50;
const maxSessionBytes = 512 * 1024 * 1024;

/** Whether a line is the agent's prompt, which the context already contains. */
const isPrompt = (line: string, prompt: string): boolean =>
  line.includes(JSON.stringify(prompt).slice(1, -1)) && /"role":"user"|"type":"user_message"|"type":"queue-operation"|"lastPrompt"/.test(line);

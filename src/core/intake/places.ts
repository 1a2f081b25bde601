import { type Dirent, readdirSync, statSync } from 'node:fs';
import { join, relative, sep } from 'node:path';
import type { Runtime } from '../contract/index.js';
import { importableFormats } from '../formats/index.js';

/** An agent's own folder on this machine, in which it keeps its histories. */
export interface AgentRoot {
  readonly agent: Runtime;
  readonly root: string;
}

/** Where under its own folder an agent keeps histories, and in which format. */
interface Place {
  readonly format: string;
  /** Or the files, for an agent that keeps them in one: then its path within is nothing. */
  readonly folders: readonly string[];
  /** What a session's path is like within such a folder; other files there are side files, or none of ours. */
  readonly session: RegExp;
  /** How many folders deep a session lies there, at most. */
  readonly depth: number;
  /** Whether the folder that a session lies in stands for a project. */
  readonly byProject: boolean;
}

const places: Readonly<Record<Runtime, Place>> = {
  'claude-code': { format: 'claude-code-v1', folders: ['projects'], session: /^[^/]+\/(?!agent-)[^/]+\.jsonl$/, depth: 1, byProject: true },
  codex: {
    format: 'codex-v1',
    folders: ['sessions', 'archived_sessions'],
    session: /(^|\/)rollout-[^/]+\.jsonl(\.zst)?$/,
    depth: 3,
    byProject: false,
  },
  gemini: { format: 'gemini-v1', folders: ['tmp'], session: /^[^/]+\/chats\/session-[^/]+\.jsonl?$/, depth: 2, byProject: true },
  // One database holds all of its sessions; what lies beside it are clones, tools and logs.
  opencode: { format: 'opencode-v1', folders: ['opencode.db'], session: /^$/, depth: 0, byProject: false },
  pi: { format: 'pi-v1', folders: ['sessions'], session: /^[^/]+\/[^/]+\.jsonl$/, depth: 1, byProject: true },
};

/** The folders under an agent's own that hold its histories: what to import, and what to watch. */
export const historyFolders = ({ agent, root }: AgentRoot): string[] => places[agent].folders.map((folder) => join(root, folder));

/** The format of an agent's sessions, where Stemma imports it. */
export const formatOfAgent = (agent: Runtime): (typeof importableFormats)[number] | undefined =>
  importableFormats.find(({ id }) => id === places[agent].format);

export const sortsByProject = (agent: Runtime): boolean => places[agent].byProject;

export interface SessionFile {
  readonly path: string;
  readonly bytes: number;
  /** Milliseconds since 1970. */
  readonly modifiedAt: number;
}

/** Every session under an agent's own folder. @throws what the file system says where the folder is not there or may not be read. */
export function sessionFiles(place: AgentRoot): SessionFile[] {
  const { session, depth } = places[place.agent];
  readdirSync(place.root);
  return historyFolders(place).flatMap((folder) =>
    filesIn(folder, depth).filter(({ path }) => session.test(relative(folder, path).replaceAll(sep, '/'))),
  );
}

function filesIn(folder: string, depth: number): SessionFile[] {
  const own = statSync(folder, { throwIfNoEntry: false });
  if (own?.isFile()) return [{ path: folder, bytes: own.size, modifiedAt: Math.floor(own.mtimeMs) }];
  return list(folder).flatMap((entry): SessionFile[] => {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) return depth > 0 ? filesIn(path, depth - 1) : [];
    const stat = entry.isFile() ? statSync(path, { throwIfNoEntry: false }) : undefined;
    return stat ? [{ path, bytes: stat.size, modifiedAt: Math.floor(stat.mtimeMs) }] : [];
  });
}

/** What stands in a folder; nothing where an agent has not made it yet. */
function list(folder: string): Dirent[] {
  try {
    return readdirSync(folder, { withFileTypes: true });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return [];
    throw error;
  }
}

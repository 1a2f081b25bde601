import { statSync } from 'node:fs';
import { join, relative, sep } from 'node:path';
import type { SourceAgent } from '../contract/index.js';
import { isOnThisMachine, type LocatedFile, listIfExists, listInside, namedFile, repositoryAt, statLocated } from '../files/index.js';
import type { ImportableFormat } from '../formats/index.js';
import { type FoundFile, unlessUnreadable } from './files.js';
import { formatNamed } from './recognize.js';

/** An agent's own folder on this machine, in which it keeps its histories. */
export interface AgentRoot {
  readonly agent: SourceAgent;
  readonly root: string;
  /** The folder holds the sessions themselves: a variable of the agent names it. */
  readonly holdsSessions?: true;
}

/** The location of an agent's histories below its own folder, and their format. */
interface Place {
  readonly format: string;
  /** Folders of sessions, or files that hold all sessions. For such a file, `session` matches the empty path. */
  readonly folders: readonly string[];
  /** Matches the path of a session within such a folder. Other files there are ignored. */
  readonly session: RegExp;
  /** The largest depth of a session below such a folder. */
  readonly depth: number;
  /** Whether each folder of sessions belongs to one project. */
  readonly byProject?: true;
  /** The paths to watch within such a folder, for editors that keep much other data there. Without it, all paths. */
  readonly watched?: RegExp;
  /** The size up to which a database there is watched, because it is copied at every change. */
  readonly maxWatchedBytes?: number;
}

const taskFolders: Place = {
  format: 'cline-v1',
  folders: ['data/sessions', 'sessions', 'data/tasks', 'tasks'],
  // The folder of a session also has other documents, and the messages of its subagents.
  session: /^[^/]+\/(?:(?!agent_)[^/]+\.messages|api_conversation_history)\.json$/,
  depth: 1,
};

const places: Readonly<Record<SourceAgent, Place>> = {
  'claude-code': { format: 'claude-code-v1', folders: ['projects'], session: /^[^/]+\/(?!agent-)[^/]+\.jsonl$/, depth: 1, byProject: true },
  codex: { format: 'codex-v1', folders: ['sessions', 'archived_sessions'], session: /(^|\/)rollout-[^/]+\.jsonl(\.zst)?$/, depth: 3 },
  gemini: { format: 'gemini-v1', folders: ['tmp'], session: /^[^/]+\/chats\/session-[^/]+\.jsonl?$/, depth: 2, byProject: true },
  // One database holds all sessions. Clones, tools and logs beside it are ignored.
  opencode: { format: 'opencode-v1', folders: ['opencode.db'], session: /^$/, depth: 0 },
  // Each session has a folder. Snapshots of files and a database of workflows beside its events are ignored.
  copilot: { format: 'copilot-cli-v1', folders: ['session-state'], session: /^[^/]+(\/events)?\.jsonl$/, depth: 1 },
  qwen: { format: 'qwen-code-v1', folders: ['projects'], session: /^[^/]+\/chats\/[^/]+\.jsonl$/, depth: 2, byProject: true },
  cline: taskFolders,
  roo: taskFolders,
  // The older extension has task folders, as Cline has.
  kilo: { format: 'kilo-v1', folders: ['kilo.db', 'tasks'], session: /^[^/]+\/api_conversation_history\.json$/, depth: 1 },
  openclaw: { format: 'openclaw-v1', folders: ['agents'], session: /^[^/]+\/agent\/openclaw-agent\.sqlite$/, depth: 2 },
  // The editor's database of all chats, and the sessions of its command line in the home folder.
  cursor: {
    format: 'cursor-v1',
    folders: ['globalStorage/state.vscdb', 'chats', 'projects'],
    session: /(?:^|\/)store\.db$|\/agent-transcripts\/.+\.jsonl$/,
    depth: 3,
    watched: /^[^/]+(?:\/(?:agent-transcripts(?:\/.+)?|[^/]+(?:\/store\.db)?))?$/,
    maxWatchedBytes: 256 * 1024 ** 2,
  },
  vscode: {
    format: 'vscode-chat-v1',
    folders: ['workspaceStorage', 'globalStorage/emptyWindowChatSessions', 'globalStorage/transferredChatSessions'],
    session: /^(?:[^/]+\/chatSessions\/)?[^/]+\.jsonl?$/,
    depth: 2,
    watched: /^[^/]+(?:\/chatSessions(?:\/[^/]+)?)?$/,
  },
  droid: { format: 'mapped-v1', folders: ['sessions'], session: /^[^/]+\/[^/]+\.jsonl$/, depth: 1, byProject: true },
  // One database holds the sessions of Goose.
  goose: { format: 'mapped-v1', folders: ['sessions/sessions.db'], session: /^$/, depth: 0 },
  // A conversation is a folder with a state and a file for each event, which are read together.
  openhands: { format: 'mapped-v1', folders: ['conversations'], session: /^[^/]+\/base_state\.json$/, depth: 1 },
  kimi: { format: 'mapped-v1', folders: ['sessions'], session: /^[^/]+\/[^/]+\/agents\/[^/]+\/wire\.jsonl$/, depth: 4 },
  antigravity: { format: 'mapped-v1', folders: ['brain'], session: /^[^/]+\/\.system_generated\/logs\/transcript\.jsonl$/, depth: 3 },
  amp: { format: 'mapped-v1', folders: ['threads'], session: /^T-[^/]+\.json$/, depth: 0 },
  continue: { format: 'mapped-v1', folders: ['sessions'], session: /^(?!sessions\.json$)[^/]+\.json$/, depth: 0 },
  kiro: { format: 'mapped-v1', folders: ['data.sqlite3'], session: /^$/, depth: 0 },
  zed: { format: 'mapped-v1', folders: ['threads/threads.db'], session: /^$/, depth: 0 },
  crush: { format: 'mapped-v1', folders: ['crush.db'], session: /^$/, depth: 0 },
  aider: { format: 'mapped-v1', folders: ['.aider.chat.history.md'], session: /^$/, depth: 0 },
  pi: { format: 'pi-v1', folders: ['sessions'], session: /^[^/]+\/[^/]+\.jsonl$/, depth: 1, byProject: true },
};

/** The folders to import and watch: those below an agent's own folder that hold its histories. */
export const historyFolders = ({ agent, root, holdsSessions }: AgentRoot): string[] =>
  holdsSessions ? [root] : places[agent].folders.map((folder) => join(root, folder));

/** The histories that agents keep in the repository in which they work: the folder below it, and the file there. */
const inRepositories = [
  { agent: 'aider', below: '', file: '.aider.chat.history.md' },
  { agent: 'crush', below: '.crush', file: 'crush.db' },
] as const;

/** The places of agents in these working folders and their repositories, where the folders are on this machine. */
export function placesInRepositories(folders: Iterable<string>): AgentRoot[] {
  const all = new Set([...folders].flatMap((folder) => [folder, repositoryAt(folder)]).filter(isOnThisMachine));
  return [...all].flatMap((folder) =>
    inRepositories.flatMap(({ agent, below, file }) => {
      const root = join(folder, below);
      return isFile(join(root, file)) ? [{ agent, root }] : [];
    }),
  );
}

const findPlaces = (agent: string | undefined): Place | undefined => Object.entries(places).find(([one]) => one === agent)?.[1];

/** Whether a file or folder is watched in a folder of sessions. */
export function isWatched(folder: { readonly path: string; readonly agent?: string | undefined }, path: string): boolean {
  const within = relative(folder.path, path).replaceAll(sep, '/');
  return !/^\.\.(?:\/|$)/.test(within) && (within === '' || (findPlaces(folder.agent)?.watched?.test(within) ?? true));
}

/** The size up to which a database of an agent is watched. */
export const maxWatchedBytes = (agent: string): number => findPlaces(agent)?.maxWatchedBytes ?? Number.POSITIVE_INFINITY;

/** The format of an agent's sessions, where Stemma imports it. */
export const formatOfAgent = (agent: SourceAgent): ImportableFormat | undefined => formatNamed(places[agent].format);

/** Whether an agent has a folder for each project. */
export const sortsByProject = (agent: SourceAgent): boolean => places[agent].byProject === true;

/** Every session in an agent's own folder. @throws the error of the file system if the folder does not exist or cannot be read. */
export function sessionFiles(place: AgentRoot): FoundFile[] {
  const { session, depth } = places[place.agent];
  listInside(place.root);
  return historyFolders(place).flatMap((folder) =>
    isFile(folder)
      ? fileAt(namedFile(folder))
      : filesIn(folder, folder, depth).filter(({ path }) => session.test(relative(folder, path).replaceAll(sep, '/'))),
  );
}

function filesIn(root: string, folder: string, depth: number): FoundFile[] {
  return listIfExists(root, folder).flatMap((entry): FoundFile[] => {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) return depth > 0 ? filesIn(root, path, depth - 1) : [];
    return entry.isFile() ? fileAt({ root, path }) : [];
  });
}

/** Whether an agent keeps its history in this one file. */
const isFile = (path: string): boolean => unlessUnreadable(() => statSync(path, { throwIfNoEntry: false })?.isFile()) ?? false;

/** A regular file with its size and time; nothing if it does not exist. */
function fileAt(file: LocatedFile): FoundFile[] {
  const stat = statLocated(file);
  return stat ? [{ ...file, bytes: stat.size, modifiedAt: Math.floor(stat.mtimeMs) }] : [];
}

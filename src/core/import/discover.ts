import { existsSync } from 'node:fs';
import { basename, dirname, extname, join } from 'node:path';
import { attempt, decodeText, defined, isObject, type Json, parseJson, toTimestamp } from '../base/index.js';
import type { ReadChain } from '../chain/index.js';
import { type FoundSession, type FoundSource, runtimes } from '../contract/index.js';
import { type LocatedFile, listInside, readInside, repositoryAt } from '../files/index.js';
import { type FoundFile, ioReason, readEnds, unlessDamaged, unlessUnreadable, withOpen } from './files.js';
import { documentOf, isDatabaseFile, withHolding } from './members.js';
import { type AgentRoot, formatOfAgent, historyFolders, placesInRepositories, sessionFiles, sortsByProject } from './places.js';
import { recognized, refusalOf } from './recognize.js';

/** Bytes read from each end of a transcript to find its title for a list. */
const lookLength = 64 * 1024;

/** The most working folders of a project in which histories of agents are looked for. */
const maxFolders = 500;

/** The agents' own folders, and the places in the repositories of a project in which agents keep their histories. */
export function agentPlaces(roots: readonly AgentRoot[], chain: ReadChain | undefined): readonly AgentRoot[] {
  if (!chain) return roots;
  const folders = chain.db.column<string>(
    'SELECT cwd FROM source WHERE project = ? AND cwd IS NOT NULL AND recorded IS NOT NULL GROUP BY cwd ORDER BY MAX(no) DESC LIMIT ?',
    [chain.project, maxFolders],
  );
  const known = new Set(roots.map(({ root }) => root));
  return [...roots, ...placesInRepositories(folders).filter(({ root }) => !known.has(root))];
}

/** The history folders of agents that exist on this machine, with the number and size of their sessions. */
export function foundSources(roots: readonly AgentRoot[]): FoundSource[] {
  return roots.flatMap((place): FoundSource[] => {
    const { agent, root } = place;
    const empty = {
      agent,
      root,
      folders: historyFolders(place).filter((folder) => existsSync(folder)),
      sessions: 0,
      ...(sortsByProject(agent) && { projects: 0 }),
      bytes: 0,
    };
    try {
      const files = sessionFiles(place);
      // An editor's folder exists without a history too. Only chats in it show that the agent was used.
      if (files.length === 0 && !isRuntime(agent)) return [];
      const folders = new Set(files.map((file) => dirname(file.path)));
      const deletes = deletedAfter(place);
      return [
        {
          ...empty,
          sessions: files.reduce((sum, file) => sum + (sessionsHeld(file) ?? 1), 0),
          ...(sortsByProject(agent) && { projects: folders.size }),
          bytes: files.reduce((sum, file) => sum + file.bytes, 0),
          ...(deletes && { deletes }),
        },
      ];
    } catch (error) {
      return (error as NodeJS.ErrnoException).code === 'ENOENT' ? [] : [{ ...empty, problem: ioReason(error) }];
    }
  });
}

const isRuntime = (agent: string): boolean => runtimes.some((one) => one === agent);

/** Each session under an agent's folder, newest first, titled from its first and last bytes. `imported` says whether a file was imported in this size. */
export function* foundSessions(place: AgentRoot, imported: Imported): Generator<FoundSession> {
  const format = formatOfAgent(place.agent);
  for (const file of sessionFiles(place).sort((a, b) => b.modifiedAt - a.modifiedAt)) {
    try {
      const held = (format?.database && sessionsIn(file, imported)) ?? (format?.exports?.together && documentIn(file, imported));
      if (held) {
        yield* held;
        continue;
      }
      const { head, tail } = readEnds(file, lookLength);
      const isImported = imported(file.path, file.bytes);
      const problem = isImported || recognized(head, file.path) ? undefined : withOpen(file, refusalOf);
      const seen = format?.peek(head, tail) ?? {};
      const sessionId = seen.sessionId ?? basename(file.path, extname(file.path));
      const about = { cwd: seen.cwd, title: seen.title ?? seen.firstPrompt, problem };
      yield listed(file, sessionId, about, { subagents: subagentsOf(file), imported: isImported });
    } catch (error) {
      // The file was deleted or cannot be read. An import reports it.
      ioReason(error);
    }
  }
}

const sessionsHeld = (file: LocatedFile): number | undefined =>
  unlessDamaged(() => (isDatabaseFile(file) ? withHolding(file, undefined, ({ members }) => [...members].length) : undefined));

const maxReadBytes = 4 * 1024 * 1024;

/** The session in a document; undefined if the document is large or holds several sessions. */
function documentIn(file: FoundFile, imported: Imported): FoundSession[] | undefined {
  if (file.bytes > maxReadBytes) return undefined;
  const [session, other] = sessionsIn(file, imported) ?? [];
  if (!session || other) return undefined;
  const { path, bytes, modifiedAt } = file;
  return [{ ...session, path, bytes, modifiedAt: toTimestamp(modifiedAt), subagents: subagentsOf(file), imported: imported(path, bytes) }];
}

function sessionsIn(file: FoundFile, imported: Imported): FoundSession[] | undefined {
  const found = unlessDamaged(() =>
    withHolding(file, undefined, ({ members }) =>
      [...members].map((member) => {
        const own = documentOf(file, member);
        return listed(own, member.id, member, { subagents: 0, imported: imported(own.path, own.bytes) });
      }),
    ),
  );
  return found?.sort((a, b) => (a.modifiedAt < b.modifiedAt ? 1 : -1));
}

/** Whether a file was imported in this size. */
type Imported = (path: string, bytes: number) => boolean;

/** A session as a list shows it. */
const listed = (
  { path, bytes, modifiedAt }: FoundFile,
  sessionId: string,
  { cwd, title, problem }: { readonly cwd?: string | undefined; readonly title?: string | undefined; readonly problem?: string | undefined },
  known: Pick<FoundSession, 'subagents' | 'imported'>,
): FoundSession => ({
  path,
  sessionId,
  ...defined({ cwd, repository: cwd === undefined ? undefined : repositoryAt(cwd), title }),
  bytes,
  modifiedAt: toTimestamp(modifiedAt),
  ...known,
  ...defined({ problem }),
});

/** Counts the subagents beside a session, as Claude Code and Cline keep them. Subagents of other agents name their session inside their files. */
function subagentsOf({ root, path }: LocatedFile): number {
  const isCline = path.endsWith('.messages.json');
  const [folder, own] = isCline ? [dirname(path), /^agent_.*\.messages\.json$/] : [join(path.replace(/\.jsonl$/, ''), 'subagents'), /\.jsonl$/];
  return unlessUnreadable(() => listInside(root, folder).filter(({ name }) => own.test(name)).length) ?? 0;
}

const maxSettingsBytes = 1024 * 1024;

/** Claude Code deletes a history this many days after its last message, unless a setting says otherwise. */
const claudeDays = 30;

/** After how many days an agent deletes its histories, where that is known. */
function deletedAfter({ agent, root }: AgentRoot): FoundSource['deletes'] {
  const setting = join(root, 'settings.json');
  if (agent === 'claude-code') {
    const days = member(settingsIn(root, setting), 'cleanupPeriodDays');
    return typeof days === 'number' && Number.isFinite(days) && days >= 0 ? { days, setting } : { days: claudeDays, setting: null };
  }
  if (agent === 'gemini') {
    const kept = member(member(settingsIn(root, setting), 'general'), 'sessionRetention');
    const days = member(kept, 'enabled') === true ? daysIn(member(kept, 'maxAge')) : undefined;
    return days === undefined ? undefined : { days, setting };
  }
  return undefined;
}

const member = (value: Json | undefined, name: string): Json | undefined => (isObject(value) && Object.hasOwn(value, name) ? value[name] : undefined);

/** An age as Gemini writes it: `30d`, `2w`, `24h`, `1m` (a month). */
function daysIn(age: Json | undefined): number | undefined {
  const [, count, unit = ''] = /^(\d+)([hdwm])$/.exec(typeof age === 'string' ? age : '') ?? [];
  const days = { h: 1 / 24, d: 1, w: 7, m: 30 }[unit];
  return count === undefined || days === undefined ? undefined : Number(count) * days;
}

/** The settings of an agent. A file that is missing or no JSON says nothing. */
const settingsIn = (root: string, path: string): Json | undefined =>
  attempt(() => parseJson(decodeText(readInside(root, path, { limit: maxSettingsBytes }))));

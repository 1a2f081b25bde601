import { eventIterator } from '@orpc/contract';
import { commit } from './context.js';
import { artifactName, artifactRef, base64, count, damaged, flag, list, longestSeconds, most, procedure, timestamp, upTo } from './scalars.js';
import * as z from './z.js';

/** Why a project is open for reading only. `restricted`: this machine did not create the project, and no person has trusted it yet. */
export const readOnlyReasons = ['restricted', 'permissions', 'read-only-disk', 'disk-full'] as const;
export type ReadOnlyReason = (typeof readOnlyReasons)[number];

export const projectInfo = z.object({
  projectId: z.string(),
  name: z.string(),
  dir: z.string(),
  createdAt: timestamp,
  /** Whether the project can be changed. `message` tells a person why not, and what to do about it. */
  access: z.discriminatedUnion('mode', [
    z.object({ mode: z.literal('read-write') }),
    z.object({ mode: z.literal('read-only'), reason: z.enum(readOnlyReasons), message: z.string() }),
  ]),
  counts: z.object({ commits: count, entries: count, cards: count, boxes: count, artifacts: count }),
  /** The size of the content, and of the whole project on disk without the database's journal. */
  bytes: z.object({ logical: count, stored: count }),
  formatVersion: count,
  /** The tokenizer. Its counts are estimates; counts of different tokenizers cannot be compared. */
  tokenizer: z.string(),
  /** False for a project that this machine did not create and that nobody trusted here. Every call that would change such a project is refused. */
  trusted: z.boolean(),
  /** Where the changes of the project stand. `project.changes` continues from it. */
  stand: z.string(),
});
export type ProjectInfo = z.output<typeof projectInfo>;

const enableShareContext = z.boolean().describe('Whether composed calls get the shared context, unless a call says otherwise.');
const historyBudget = count.min(1).max(10_000).describe('The number of messages in the space history of an agent. The default is 50.');
const maxChainDepth = count.min(1).max(100).describe('The depth at which a message starts no more runs. The default is 5.');
const projectSettings = z.object({
  enableShareContext,
  historyBudget: historyBudget.optional(),
  maxChainDepth: maxChainDepth.optional(),
  damaged,
});
export type ProjectSettings = z.output<typeof projectSettings>;

/**
 * What uses disk space. `content`: stored objects, compressed. `search` and `reading`: indexes of the objects, which a repair rebuilds. `requests`:
 * model calls. `history`: commits, tickets, cards, messages. `caches`: assembled contexts, which Stemma assembles again when needed. `free`: unused
 * pages of the database, which it reuses before it grows. `backups`: copies of the database. `journal`: the database's write-ahead log, which the
 * total excludes.
 */
export const diskAreas = ['content', 'search', 'reading', 'requests', 'history', 'caches', 'free', 'backups', 'journal'] as const;
export type DiskArea = (typeof diskAreas)[number];

/** Parts of a project whose lists may have changed. */
export const areas = ['commits', 'tickets', 'cards', 'boxes', 'messages', 'turns', 'jobs'] as const;
export type Area = (typeof areas)[number];

export const projectChange = z.object({
  /** The number of the latest commit. Pass it as `after` to continue from here. */
  cursor: count,
  /** New commits in order of creation. More than 200 arrive in several events. */
  commits: z.array(commit),
  changed: z.array(z.enum(areas)),
  /** Where the changes stand now. Pass it as `since`, also after the project was opened again. */
  stand: z.string(),
});
export type ProjectChange = z.output<typeof projectChange>;

export const policies = ['default', 'pin', 'ephemeral', 'replicate'] as const;
export type Policy = (typeof policies)[number];

/** Why the content of an object was removed. */
export const goneReasons = ['expired', 'evicted', 'deleted', 'lost'] as const;

const storageReport = z.object({
  /** The size of the content before compression. */
  logical: count,
  disk: z.array(z.object({ area: z.enum(diskAreas), bytes: count })),
  /** The objects whose content is stored, by policy, with their sizes before compression. */
  objects: z.array(z.object({ policy: z.enum(policies), count, bytes: count })),
  gone: z.array(z.object({ why: z.enum(goneReasons), count })),
});
export type StorageReport = z.output<typeof storageReport>;

const backupReport = z.object({
  /** Whether Stemma makes backups when the project is idle. */
  on: z.boolean(),
  /** The size of all backups together. */
  bytes: count,
  /** Newest first. */
  backups: z.array(z.object({ at: timestamp, bytes: count })),
  /** Why the last backup was discarded. */
  problem: z.string().optional(),
});
export type BackupReport = z.output<typeof backupReport>;

const dir = z.string().min(1).max(4_096).describe('The folder of the project: `NAME.stemma`.');

export const projectContract = {
  create: procedure('Creates a project in a new folder and opens it.', {
    dir,
    name: z.string().min(1).max(400).optional().describe('The name. The default is the name of the folder.'),
    projectId: z.string().min(1).max(200).optional().describe('The id. Without it, Stemma makes one.'),
  }).returns(projectInfo),
  open: procedure(
    'Opens a project. With `repair`, rebuilds a database that is too damaged to be opened; `project.check` with `repair` then names what was lost.',
    { dir, repair: flag('Rebuild a damaged database first.') },
  ).returns(projectInfo),
  conversion: procedure(
    'Says how far the conversion of a project from an earlier format has come, which opening it begins: first Stemma copies the database, then it converts it. Null if its folder has no copy of an earlier format. The first check removes the copy.',
    { dir },
  ).returns(
    z
      .object({
        from: count,
        to: count,
        isCopied: z.boolean().describe('Whether the copy is complete, so that the conversion has begun.'),
        copied: count.describe('The bytes of the copy so far.'),
        bytes: count.describe('The bytes of the database. The complete copy may have fewer.'),
      })
      .nullable(),
  ),
  trust: procedure(
    'Trusts a project folder that this machine did not create, by its id and its real path. From then on, the project can be changed. If the folder moves, it must be trusted again.',
    { dir },
  ).returns({ projectId: z.string(), dir: z.string(), trusted: z.literal(true) }),
  info: procedure('Returns the open project with its counts and sizes.').returns(projectInfo),
  changes: procedure(
    'Streams new commits and changed lists, whether this engine, a hook or the command line wrote them. Begins with the current state; with `after`, continues from an earlier cursor. Ends when the caller ends it.',
    {
      after: count.optional().describe('The cursor of an earlier event.'),
      since: z.string().max(200).optional().describe('The `stand` of the project or of an earlier event: the first event names what changed since.'),
    },
  ).returns(eventIterator(projectChange)),
  settings: procedure('Returns the settings of the project, which apply to everyone who works on it.').returns(projectSettings),
  setSettings: procedure('Changes settings of the project.', {
    enableShareContext: enableShareContext.optional(),
    historyBudget: historyBudget.optional(),
    maxChainDepth: maxChainDepth.optional(),
  }).returns(projectSettings),
  storage: procedure("Returns what uses the project's disk space. Slow for a large project, because it reads the whole database.").returns(
    storageReport,
  ),
  backups: procedure("Lists the backups of the project's database. Objects in packs never change, so backups do not copy them.").returns(
    backupReport,
  ),
  backUp: procedure('Makes a backup now and verifies it. Keeps the backups of the newest three days and three weeks and removes all others.', {
    ifDue: flag(
      'Make a backup only if backups are on, the project has changed, and the last backup (or the project, if there is no backup) is older than a day.',
    ),
  }).returns(backupReport),
  setBackups: procedure('Turns automatic backups, which are made when the project is idle, on or off. Existing backups stay.', {
    on: z.boolean().describe('Whether to make backups.'),
  }).returns(backupReport),
  check: procedure(
    'Verifies the whole project. With `repair`, restores damaged content from backups, imported files and replicas, and names the content that is lost. A repair keeps the damaged database.',
    { repair: flag('Repair damaged content.') },
  ).returns({
    ok: z.boolean(),
    /** The numbers of checked objects, commits and sources. */
    checked: z.record(z.string(), count),
    /** `id`: a ref, a commit id, a source id, or the name of a row or table. `repaired`: a repair fixed the problem. For any other problem, the message says what is lost or what to do. */
    problems: z.array(z.object({ kind: z.string(), id: z.string(), message: z.string(), repaired: z.boolean().optional() })),
  }),
};

const artifactStat = z.object({
  ref: artifactRef,
  short: z.string(),
  size: count,
  storedBytes: count,
  contentType: z.string(),
  policy: z.enum(policies),
  labels: z.array(z.string()),
  createdAt: timestamp,
  /** When an ephemeral object expires. */
  expiresAt: timestamp.optional(),
  /** Why the content of the object was removed. */
  gone: z.enum(goneReasons).optional(),
});

const policy = z
  .enum(policies)
  .describe(
    'How long to keep the object: while something references it (`default`), always (`pin`), for a limited time (`ephemeral`), or with a copy in the replicas (`replicate`).',
  );
const ttlSeconds = upTo(longestSeconds).optional().describe('For `ephemeral`: the number of seconds from now.');

export const artifactContract = {
  put: procedure('Stores an object and returns its ref. Storing the same content again returns the same ref.', {
    data: base64.optional().describe('The content as base64. Give either `data` or `text`.'),
    text: z.string().max(most.content).optional().describe('The content as text.'),
    contentType: z.string().min(1).max(200).describe('The media type of the content.'),
    policy: policy.optional(),
    ttlSeconds,
    labels: list(z.string().min(1).max(200), 100).optional().describe('Labels. An object with a label is never collected.'),
  }).returns({ ref: artifactRef, short: z.string(), size: count, storedBytes: count, existed: z.boolean() }),
  get: procedure('Returns the content of an object, or a range of it.', {
    ref: artifactName,
    start: count.optional().describe('The first byte.'),
    end: count.optional().describe('The byte after the last one.'),
  }).returns({ data: z.string(), contentType: z.string(), size: count }),
  stat: procedure('Returns the size, type, policy and other facts of an object, without its content.', { ref: artifactName }).returns(artifactStat),
  setPolicy: procedure('Changes how long an object is kept.', { ref: artifactName, policy, ttlSeconds }).returns(artifactStat),
  gc: procedure(
    'Removes objects that nothing references and that are older than an hour. With a budget, also drops caches and evicts `default` objects that a replica holds, until the store fits the budget.',
    {
      dryRun: flag('Only report what would be removed.'),
      budgetBytes: count.optional().describe('The size that the store should have at most.'),
      deleted: flag(
        'Also free the content that only deleted sessions and branches contain. This cannot be undone: these sessions and branches cannot be restored.',
      ),
    },
  ).returns({
    /** Every examined object was removed or is counted under `kept`. */
    examined: count,
    removed: count,
    /** Stored bytes of removed, dropped and evicted objects. */
    freedBytes: count,
    kept: z.object({ reachable: count, pinned: count, young: count }),
    deletedSessions: count.optional().describe('With `deleted`: the deleted sessions, without their subagents, whose content is freed.'),
  }),
  repack: procedure(
    'Packs objects more densely: neighbors into compressed blocks, large objects into chunks. `before` and `after` are stored bytes.',
  ).returns({ objects: count, before: count, after: count }),
  dropCaches: procedure('Deletes assembled contexts. Nothing is lost: each is assembled again when needed.').returns({ freedBytes: count }),
};

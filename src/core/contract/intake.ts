import { eventIterator } from '@orpc/contract';
import { entryDraft } from './entry.js';
import { mapping } from './mapping.js';
import { artifactRef, contextId, count, formatName, line, list, procedure, sourceAgents, timestamp } from './scalars.js';
import * as z from './z.js';

const paths = list(z.string().min(1).max(4_096), 100_000).min(1).describe('Files and folders.');

export const skip = z.object({ path: z.string(), line: count, reason: z.string() });
export type Skip = z.output<typeof skip>;

export const importResult = z.object({
  sessions: count,
  commits: count,
  entries: count,
  bytes: count,
  /** Lines that were skipped, each with its reason. They are stored with their source. */
  skipped: z.array(skip),
  /** Irregularities that were resolved, such as a root joined by position or a cycle that was cut. */
  notes: z.array(skip),
  tips: z.array(contextId),
  /** The number of model calls that were imported from separate files, if any existed. */
  requests: count.optional(),
  ms: count,
});
export type ImportResult = z.output<typeof importResult>;

export const importProgress = z.object({
  phase: z.enum(['finding', 'reading', 'storing', 'done']),
  done: count,
  total: count,
  bytes: count,
  path: z.string().optional(),
});
export type ImportProgress = z.output<typeof importProgress>;

/** The number of entries that a preview shows. */
const maxPreviewed = 200;

export const mappingPreview = z.object({
  sessions: z.array(z.object({ id: z.string(), title: z.string().optional(), records: count, entries: count })),
  /** The first entries of the first session. */
  entries: list(entryDraft.extend({ at: timestamp.optional(), author: z.string().optional(), tokens: count }), maxPreviewed),
  /** The number of records that become no entry. An import still stores them. */
  unread: count,
  /** The numbers of the first lines that are no JSON. They are left out, and kept with the file. */
  broken: list(count, maxPreviewed),
  /** Why the mapping cannot read the file. */
  problem: z.string().optional(),
});
export type MappingPreview = z.output<typeof mappingPreview>;

export const granularity = z.enum(['turn_boundary', 'tool_call']).describe('Where commits end: at each turn (the default) or at each tool call.');

export const importContract = {
  detect: procedure('Finds the histories in files and folders and recognizes their formats. Imports nothing.', { paths }).returns(
    z.array(z.object({ path: z.string(), format: formatName, sessions: count, bytes: count, confidence: z.number() })),
  ),
  run: procedure(
    'Imports histories. Streams progress; the result comes at the end. Ending the stream cancels the import; commits that are stored by then stay and are complete.',
    {
      paths,
      format: formatName.optional().describe('The format of the files. The default is recognized from their content.'),
      granularity: granularity.optional(),
      mapping: mapping.optional().describe('How to read files of a tool that Stemma does not know. Every given file is then read with this mapping.'),
    },
  ).returns(eventIterator(importProgress, importResult)),
  preview: procedure('Shows the sessions and entries that a mapping makes of a file. Imports nothing.', {
    path: z.string().min(1).max(4_096).describe('A JSON or JSONL file.'),
    mapping: mapping.describe('The mapping.'),
  }).returns(mappingPreview),
  mappings: procedure(
    'Lists the built-in mappings. An import recognizes files of their tools without being told; each mapping can serve as a pattern.',
  ).returns(z.array(mapping)),
};

export const source = z.object({
  sourceId: z.string(),
  path: z.string(),
  format: formatName,
  bytes: count,
  hash: z.string(),
  tips: z.array(contextId),
  importedAt: timestamp,
  title: z.string().optional(),
  sessionId: z.string().optional(),
  /** The working directory, as the file names it. */
  cwd: z.string().optional(),
  /** The part of the session that the project contains, its subagents included. */
  holds: z.object({ commits: count, messages: count, compactions: count, errors: count, startedAt: timestamp, endedAt: timestamp }).optional(),
});
export type Source = z.output<typeof source>;

export const sourceContract = {
  list: procedure('Lists the imported files.').returns(z.array(source)),
  get: procedure('Returns an imported file byte for byte: writes it to `path`, or stores it as an artifact.', {
    sourceId: line.describe('The id of the imported file.'),
    path: line.min(1).optional().describe('The new file to write. It must not exist.'),
  }).returns({ artifactRef: artifactRef.optional(), path: z.string().optional(), bytes: count, hash: z.string() }),
};

export const foundSession = z.object({
  path: z.string(),
  sessionId: z.string(),
  /** The working directory, as the file names it. */
  cwd: z.string().optional(),
  /** The repository of the working directory. */
  repository: z.string().optional(),
  title: z.string().optional(),
  bytes: count,
  modifiedAt: timestamp,
  subagents: count,
  /** True if the open project contains it in this size. */
  imported: z.boolean(),
  /** Why the file cannot be imported. */
  problem: z.string().optional(),
});
export type FoundSession = z.output<typeof foundSession>;

export const foundSource = z.object({
  agent: z.enum(sourceAgents),
  /** The agent's own folder on this machine. */
  root: z.string(),
  /** The folders under `root` that hold histories. Importing these folders imports every session. */
  folders: z.array(z.string()),
  sessions: count,
  /** The number of folders, if the agent sorts its sessions by project. */
  projects: count.optional(),
  bytes: count,
  /** After how many days the agent deletes its histories, and the file with the setting; null if it is the agent's default. */
  deletes: z.object({ days: z.number(), setting: z.string().nullable() }).optional(),
  /** Why Stemma could not read the folder. */
  problem: z.string().optional(),
});
export type FoundSource = z.output<typeof foundSource>;

export const recentProject = z.object({ dir: z.string(), name: z.string(), openedAt: timestamp, missing: z.boolean() });
export type RecentProject = z.output<typeof recentProject>;

/** Text that a person typed but has not sent or saved yet. */
export const savedDraft = z.object({ key: z.string(), text: z.string(), savedAt: timestamp });
export type SavedDraft = z.output<typeof savedDraft>;

export const libraryContract = {
  sources: procedure('Lists the places of agents with histories on this machine.').returns(z.array(foundSource)),
  sessions: procedure("Lists the sessions in one agent's folder.", {
    root: line.describe("The agent's folder, as `library.sources` names it."),
  }).returns(z.array(foundSession)),
  search: procedure('Searches the contents of histories on this machine that the open project does not contain. It imports nothing.', {
    text: z.string().trim().min(1).max(400).describe('The text to find, ignoring case.'),
  }).returns({
    hits: z.array(z.object({ path: z.string(), snippet: z.string() })),
    searched: count,
    /** Histories that were not read: databases, and those beyond the limits. */
    unread: count,
  }),
  recent: procedure('Lists the projects that were opened before, most recent first.').returns(z.array(recentProject)),
  sample: procedure('Creates the sample project if it does not exist, and returns its folder.').returns({ dir: z.string() }),
  home: procedure('Returns the project that imports go to when none is open, and creates it at first use.').returns({ dir: z.string() }),
  allowWrite: procedure(
    'Confirms a new file that the window wants to write. Until Stemma stops, windows may write it and other new files directly in its folder; hidden files are confirmed one by one. Before the confirmation, a call of a window that would write to a `path` fails with UNAUTHORIZED, and `data.path` and `data.folder` name the file and the folder to confirm. Scripts and the command line need no confirmation.',
    { path: z.string().min(1).max(4_096).describe('The new file.') },
  ).returns({ path: z.string(), folder: z.string() }),
  drafts: procedure('Lists texts that a person typed in a window of this machine but has not sent or saved yet, newest first.').returns(
    z.array(savedDraft),
  ),
  saveDraft: procedure('Stores text that a person typed, so that it survives a reload and a restart of Stemma.', {
    key: z.string().min(1).max(1_000).describe('The field that the draft belongs to. A later draft with the same key replaces it.'),
    text: z.string().max(2_000_000).nullable().describe('The draft, or null to remove it.'),
  }).returns({}),
  startup: procedure('Returns the options with which the engine was started.').returns({
    paths: z.array(z.string()),
    project: z.string().nullable(),
    /** The `stemma:` link that the app was started with. It comes from anybody: `desktop.link` reads it. */
    link: z.string().nullable(),
    platform: z.string(),
  }),
};

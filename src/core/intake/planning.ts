import { type ImportPlan, importableFormats, type Outlined, outlined, type PlannedCommit } from '../formats/index.js';
import type { ReadCalls } from '../requests/index.js';
import { metaBeside } from './beside.js';
import { openFile, Unreadable } from './files.js';
import type { Granularity } from './import.js';
import { headOf, recognized } from './recognize.js';

/** What a thread that plans is asked for: a file that the project has not taken in yet. */
export interface PlanRequest {
  readonly id: number;
  readonly path: string;
  /** Of the person who imports it. */
  readonly format?: string | undefined;
  readonly granularity: Granularity;
}

/** A commit as it can be handed to another thread: without its entries, which are told of by their outline. */
export type SentCommit = Omit<PlannedCommit, 'entries' | 'elisions' | 'outline'> & { readonly outline: Outlined };
/** Its commits come some at a time, in order, once: they are as much text as all else together. */
export type SentPlan = Omit<ImportPlan, 'commits'> & {
  readonly commits: Iterable<PlannedCommit | SentCommit>;
  /** Its request records, where they were read while it was planned. */
  readonly calls?: ReadCalls | undefined;
};

/** A file as it was read, and what becomes of it in a project that knows none of its records. */
export interface PlannedFile {
  readonly format: string;
  readonly size: number;
  readonly modifiedAt: number;
  readonly hash: Uint8Array;
  readonly plan: Omit<ImportPlan, 'commits'>;
  /** The records that it asked for and took to be unknown, as a list in JSON. */
  readonly unknown: string;
}

/** What hears of a plan: first of the file, then of its commits, some at a time, in order. `send` may wait until some have been taken. */
export interface PlanListener {
  begin(file: PlannedFile): void;
  send(commits: readonly SentCommit[]): void;
}

/** So many characters of outlines, about, are handed over together. */
const toldAtOnce = 64 * 1024;

/**
 * Reads and plans a file. It asks no project: whether what it says holds is for the project to say. Nothing is said of what is no plain file
 * of a known format: whoever asked looks at it, and says what is wrong.
 */
export function planFile({ path, format: asked, granularity }: PlanRequest, listener: PlanListener): void {
  let file: ReturnType<typeof openFile> | undefined;
  try {
    // Its bytes are read again by who stores them: to hand them over would cost more than that.
    file = openFile(path, { held: 0 });
    const { bytes, modifiedAt } = file;
    const head = headOf(bytes);
    const formats = importableFormats.filter(({ id }) => asked === undefined || id === asked);
    if (formats.some(({ exports }) => exports?.recognize(head))) return;
    const format = asked === undefined ? recognized(head, path)?.format : formats[0];
    if (!format) return;
    const unknown: string[] = [];
    const known = {
      has: (record: string) => {
        unknown.push(record);
        return false;
      },
    };
    const context = { path, known, resumeAt: 0, granularity, meta: metaBeside(path) };
    const { commits, ...plan } = format.planParts?.(bytes, context) ?? format.plan(file.whole(), context);
    listener.begin({ format: format.id, size: bytes.length, modifiedAt, hash: file.hash(), plan, unknown: JSON.stringify(unknown) });
    for (const some of together(commits)) listener.send(some);
  } catch (error) {
    if (!(error instanceof Unreadable)) throw error;
  } finally {
    file?.close();
  }
}

function* together(commits: readonly PlannedCommit[]): Generator<readonly SentCommit[]> {
  let some: SentCommit[] = [];
  let told = 0;
  for (const commit of commits) {
    const sent = sentCommit(commit);
    some.push(sent);
    told += sent.outline.data.length;
    if (told < toldAtOnce) continue;
    yield some;
    some = [];
    told = 0;
  }
  if (some.length > 0) yield some;
}

function sentCommit(commit: PlannedCommit): SentCommit {
  const { parent, type, checkpoint, ranges, kept, template, principal, sessionId, summary, createdAt, records, startedBy } = commit;
  return {
    ...{ parent, type, checkpoint, ranges, template, records },
    ...(kept && { kept }),
    ...(principal !== undefined && { principal }),
    ...(sessionId !== undefined && { sessionId }),
    ...(summary !== undefined && { summary }),
    ...(createdAt !== undefined && { createdAt }),
    ...(startedBy && { startedBy }),
    outline: outlineOfCommit(commit),
  };
}

export const outlineOfCommit = (commit: PlannedCommit | SentCommit): Outlined =>
  commit.outline ?? outlined('entries' in commit ? commit : { entries: [], elisions: [] });

import { type ImportPlan, importableFormats, type Outlined, outlined, type PlannedCommit } from '../formats/index.js';
import { metaBeside } from './beside.js';
import { openFile, Unreadable } from './files.js';
import type { Granularity } from './import.js';
import { recognized } from './recognize.js';

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
export type SentPlan = Omit<ImportPlan, 'commits'> & { readonly commits: Iterable<PlannedCommit | SentCommit> };

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

const headLength = 64 * 1024;
/** So many commits are handed over together. */
const atOnce = 32;

/** Reads and plans a file, whose commits it hands over some at a time. It asks no project: whether the answer holds is for the project to say. */
export function planFile({ path, format: asked, granularity }: PlanRequest, send: (commits: readonly SentCommit[]) => void): PlannedFile | undefined {
  let file: ReturnType<typeof openFile> | undefined;
  try {
    // Its bytes are read again by who stores them: to hand them over would cost more than that.
    file = openFile(path, { held: 0 });
    const { bytes, modifiedAt } = file;
    const head = bytes.subarray(0, Math.min(headLength, bytes.length));
    const formats = importableFormats.filter(({ id }) => asked === undefined || id === asked);
    if (formats.some(({ exports }) => exports?.recognize(head))) return undefined;
    const format = asked === undefined ? recognized(head, path)?.format : formats[0];
    if (!format) return undefined;
    const unknown: string[] = [];
    const known = {
      has: (record: string) => {
        unknown.push(record);
        return false;
      },
    };
    const context = { path, known, resumeAt: 0, granularity, meta: metaBeside(path) };
    const { commits, ...plan } = format.planParts?.(bytes, context) ?? format.plan(file.whole(), context);
    for (let at = 0; at < commits.length; at += atOnce) send(commits.slice(at, at + atOnce).map(sentCommit));
    return {
      format: format.id,
      size: bytes.length,
      modifiedAt,
      hash: file.hash(),
      plan,
      unknown: JSON.stringify(unknown),
    };
  } catch (error) {
    if (error instanceof Unreadable) return undefined;
    throw error;
  } finally {
    file?.close();
  }
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

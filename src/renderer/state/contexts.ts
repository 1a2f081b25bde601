import {
  type ContextId,
  type Entry,
  type EntryKey,
  type OutlineRow,
  type OutputOf,
  type Stop,
  type TimelineRow,
  unpackOutline,
} from '../../core/contract/index.js';
import { api } from '../client';
import { AnswerMemory, Latest } from './memory';
import { route } from './navigation';
import { type Query, useQuery } from './query';
import { createRanges, type Ranges } from './ranges';

/** Every entry of a context without its content; `tokens` is their sum. */
export interface ContextOutline {
  readonly total: number;
  readonly tokens: number;
  readonly rows: readonly OutlineRow[];
  /** True if `rows` contains only the rows where reading begins, because the context is long. */
  readonly isPart?: true;
  /** Entries that arrived with their content, and the position of the first of these entries in `rows`. */
  readonly read?: { readonly from: number; readonly entries: readonly Entry[] };
}

export type ShownCommit = OutputOf<'context.show'>;

const commits = new AnswerMemory<ShownCommit>(60, 'never');

/** A commit with its children and tags. Without an id, the engine is not asked. */
export const useCommit = (project: string | undefined, id: ContextId | undefined): Query<ShownCommit> =>
  useQuery(project && id ? `${project} ${id}` : null, (signal) => api.context.show({ id: id as ContextId }, { signal }), commits);

const pageSize = 60;

// Commits never change, so these answers stay valid.
const outlines = new Latest<Promise<ContextOutline>>(12);
const beginnings = new Latest<Promise<ContextOutline>>(12);
const entryLists = new Latest<Ranges<Entry>>(8);
const timelines = new Latest<Ranges<TimelineRow>>(4);

/** Caches an answer, but not a failure. */
async function keep(kept: Latest<Promise<ContextOutline>>, key: string, ask: () => Promise<ContextOutline>): Promise<ContextOutline> {
  try {
    return await kept.get(key, ask);
  } catch (error) {
    kept.forget(key);
    throw error;
  }
}

type Asked = Parameters<typeof api.context.outline>[0];

async function askOutline(query: Asked): Promise<ContextOutline> {
  const { packed, entries, ...outline } = await api.context.outline({ ...query, packed: true });
  if (entries) return { ...outline, isPart: true, read: { from: 0, entries } };
  return packed === undefined ? outline : { ...outline, rows: unpackOutline(packed) };
}

const askedOf = (id: ContextId, stop: Stop, unsent: boolean): Asked => ({ id, stop, ...(unsent && { hidden: true }) });

/** The part of a context to show at once: the whole outline, or of a long one the rows around the selected entry or the last prompt. */
export const askBeginning = (project: string, id: ContextId, stop: Stop, unsent = false): Promise<ContextOutline> =>
  keep(beginnings, `${project}\n${id}\n${stop}\n${unsent}`, () =>
    askOutline({ ...askedOf(id, stop, unsent), near: (route().entry as EntryKey | undefined) ?? null }),
  );

/** Every entry of a context without its content. `unsent` adds entries that were never sent to the model. */
export const loadOutline = (project: string, id: ContextId, stop: Stop, unsent = false): Promise<ContextOutline> =>
  keep(outlines, `${project}\n${id}\n${stop}\n${unsent}`, async () => {
    const { isPart, read, ...whole } = await askBeginning(project, id, stop, unsent);
    if (!isPart) return whole;
    // Draws the part first, because the rest takes seconds to arrive.
    await new Promise((drawn) => setTimeout(drawn, drawMs));
    const outline = await askOutline(askedOf(id, stop, unsent));
    const first = read?.entries[0]?.key;
    return { ...outline, ...(read && { read: { from: outline.rows.findLastIndex(({ key }) => key === first), entries: read.entries } }) };
  });

/** Milliseconds in which the first part of a long context is drawn and its other data is requested. */
const drawMs = 300;

/** The entries of a context with their content, in pages. */
export const entryRanges = (project: string, id: ContextId, stop: Stop, unsent = false): Ranges<Entry> =>
  entryLists.get(`${project}\n${id}\n${stop}\n${unsent}`, () =>
    createRanges<Entry>(pageSize, (offset, limit) => api.context.entries({ id, stop, offset, limit, ...(unsent && { hidden: true }) })),
  );

/** The entries of an outline: first the entries that arrived with it, then, for a whole outline, the pages. */
export function entriesWith(pages: Ranges<Entry>, { isPart, read }: ContextOutline): Ranges<Entry> {
  if (!read) return pages;
  const at = (index: number): Entry | undefined => pages.at(index) ?? read.entries[index - read.from];
  return isPart ? { ...pages, at, need: () => {} } : { ...pages, at };
}

/** The replay shows fewer entries at once than the context. */
const stepPageSize = 20;

/** The steps of a chain's replay with their content, in pages. */
export const stepEntriesOf = (project: string, id: ContextId): Ranges<Entry> =>
  entryLists.get(`${project}\n${id}\nsteps`, () => createRanges<Entry>(stepPageSize, (offset, limit) => api.turn.entries({ id, offset, limit })));

/** The number of messages in a page of a timeline, and the longest text in it in characters. */
const timelinePage = 50;
const maxTextLength = 4_000;

/** The messages of a context as a timeline, in pages. Long texts are cut. */
export const timelineOf = (project: string, id: ContextId): Ranges<TimelineRow> =>
  timelines.get(`${project}\n${id}`, () =>
    createRanges<TimelineRow>(timelinePage, (offset, limit) => api.timeline.rows({ id, offset, limit, longest: maxTextLength })),
  );

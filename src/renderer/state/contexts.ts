import { type Commit, type ContextId, type Entry, type OutlineRow, type Stop, type TimelineRow, unpackOutline } from '../../core/contract/index.js';
import { api } from '../client';
import { Latest } from './latest';
import { Memory } from './memory';
import { type Query, useQuery } from './query';
import { createRanges, type Ranges } from './ranges';

/** Every entry of a context without its content; `tokens` is their sum. */
export interface Outline {
  readonly total: number;
  readonly tokens: number;
  readonly rows: readonly OutlineRow[];
}

export type ShownCommit = Commit & { readonly children: readonly ContextId[]; readonly depth: number };

const commits = new Memory<ShownCommit>(60, 'never');

/** A commit with its children and tags; `undefined` asks nothing. */
export const useCommit = (project: string | undefined, id: ContextId | undefined): Query<ShownCommit> =>
  useQuery(project && id ? `${project} ${id}` : null, (signal) => api.context.show({ id: id as ContextId }, { signal }), commits);

const pageSize = 60;

// Commits never change, so these answers stay right.
const outlines = new Latest<Promise<Outline>>(12);
const entryLists = new Latest<Ranges<Entry>>(8);
const timelines = new Latest<Ranges<TimelineRow>>(4);

/** Every entry of a context without its content. `unsent` adds entries that were never sent to the model. A failure is not cached. */
export async function outlineOf(project: string, id: ContextId, stop: Stop, unsent = false): Promise<Outline> {
  const key = `${project}\n${id}\n${stop}\n${unsent}`;
  try {
    return await outlines.get(key, async () => {
      const { packed, ...outline } = await api.context.outline({ id, stop, packed: true, ...(unsent && { hidden: true }) });
      return packed === undefined ? outline : { ...outline, rows: unpackOutline(packed) };
    });
  } catch (error) {
    outlines.forget(key);
    throw error;
  }
}

/** The entries of a context with their content, in pages. */
export const entriesOf = (project: string, id: ContextId, stop: Stop, unsent = false): Ranges<Entry> =>
  entryLists.get(`${project}\n${id}\n${stop}\n${unsent}`, () =>
    createRanges<Entry>(pageSize, async (offset, limit) => {
      const { total, entries } = await api.context.entries({ id, stop, offset, limit, ...(unsent && { hidden: true }) });
      return { total, items: entries };
    }),
  );

/** The steps of a chain's replay with their content, in pages. */
export const stepEntriesOf = (project: string, id: ContextId): Ranges<Entry> =>
  entryLists.get(`${project}\n${id}\nsteps`, () =>
    createRanges<Entry>(pageSize, async (offset, limit) => {
      const { total, entries } = await api.turn.entries({ id, offset, limit });
      return { total, items: entries };
    }),
  );

/** Messages of a page of a timeline, and the most characters of a text in it. */
const timelinePage = 50;
const maxTextLength = 4_000;

/** The messages of a context as a timeline, in pages. Long texts are cut. */
export const timelineOf = (project: string, id: ContextId): Ranges<TimelineRow> =>
  timelines.get(`${project}\n${id}`, () =>
    createRanges(timelinePage, async (offset, limit) => {
      const { total, rows } = await api.timeline.rows({ id, offset, limit, longest: maxTextLength });
      return { total, items: rows };
    }),
  );

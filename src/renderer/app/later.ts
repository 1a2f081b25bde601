import { type ComponentType, lazy } from 'react';

type View = ComponentType<{ project: string }>;

/** A view that could not be fetched: what serves the window went away before it was. */
export class NotLoaded extends Error {
  override readonly name = 'NotLoaded';
}

const loads: (() => Promise<unknown>)[] = [];

/** A view that is loaded when it is first asked for, or when there is nothing else to do. */
function later(load: () => Promise<View>) {
  loads.push(load);
  return lazy(async () => {
    try {
      return { default: await load() };
    } catch (error) {
      throw new NotLoaded('It was not loaded yet, and what serves this window does not answer.', { cause: error });
    }
  });
}

// The first page, the chain and the context come with the window; each of the others brings libraries of its own.
export const DiffView = later(async () => (await import('../views/diff')).DiffView);
export const ReplayView = later(async () => (await import('../views/replay')).ReplayView);
export const RunView = later(async () => (await import('../views/run')).RunView);
export const ExperimentsView = later(async () => (await import('../views/experiments')).ExperimentsView);
export const RequestView = later(async () => (await import('../views/request')).RequestView);
export const ComposeView = later(async () => (await import('../views/compose')).ComposeView);
export const TimelineView = later(async () => (await import('../views/timeline')).TimelineView);
export const BoxesView = later(async () => (await import('../views/boxes')).BoxesView);
export const ReviewsView = later(async () => (await import('../views/reviews')).ReviewsView);
export const StorageView = later(async () => (await import('../views/storage')).StorageView);
export const HandoverView = later(async () => (await import('../views/handover')).HandoverView);

/** Loads what was not asked for yet a while after the first page: a view opens at once then, and also when the engine is away. Gives what stops it. */
export function loadViews(): () => void {
  const soon = setTimeout(() => {
    for (const load of loads) void load().catch(() => {});
  }, 1_500);
  return () => clearTimeout(soon);
}

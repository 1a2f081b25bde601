import { type ComponentType, createElement, lazy, useState } from 'react';

/** A view of the open project; `project` is the project's folder. */
export type ViewComponent = ComponentType<{ readonly project: string }>;

/** The error if the code of a view could not be loaded, because the server stopped before the view was opened. */
export class NotLoaded extends Error {
  override readonly name = 'NotLoaded';
}

const loads: (() => Promise<unknown>)[] = [];

/** A view whose code is loaded when the view is first opened, or by `loadViews`. */
export function later(load: () => Promise<{ readonly View: ViewComponent }>): ViewComponent {
  let loaded: ViewComponent | undefined;
  const loadOnce = async (): Promise<ViewComponent> => {
    loaded ??= (await load()).View;
    return loaded;
  };
  loads.push(loadOnce);
  const Waiting = lazy(async () => {
    try {
      return { default: await loadOnce() };
    } catch (error) {
      throw new NotLoaded('This view is not loaded yet, and Stemma does not answer.', { cause: error });
    }
  });
  return (properties) => {
    // React shows what has waited after 300 ms at the earliest, even if the code is there.
    const [View] = useState<ViewComponent>(() => loaded ?? Waiting);
    return createElement(View, properties);
  };
}

/** Loads the other views shortly after the first page, so that they open at once. Returns a function that cancels this. */
export function loadViews(): () => void {
  const soon = setTimeout(() => {
    for (const load of loads) void load().catch(() => {});
  }, 1_500);
  return () => clearTimeout(soon);
}

interface Pressed {
  readonly key: string;
  readonly ctrlKey: boolean;
  readonly metaKey: boolean;
  readonly altKey: boolean;
}

/** The place that a key leads to in a list of `count` rows of which `page` are seen at once; undefined where it is no key of a list. */
export function placeByKey({ key, ctrlKey, metaKey, altKey }: Pressed, at: number, count: number, page = 20): number | undefined {
  if (ctrlKey || metaKey || altKey || count === 0) return undefined;
  const steps: Record<string, number> = { j: 1, ArrowDown: 1, k: -1, ArrowUp: -1, PageDown: page, PageUp: -page, Home: -count, End: count };
  const by = steps[key];
  return by === undefined ? undefined : Math.max(0, Math.min(count - 1, at + by));
}

/** How many rows a page key goes on by: what is seen but one, so that the eye finds the place again. */
export const rowsOnPage = (scroller: Element | null, rowHeight: number): number =>
  Math.max(1, Math.floor((scroller?.clientHeight ?? 400) / rowHeight) - 1);

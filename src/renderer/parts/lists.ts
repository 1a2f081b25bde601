interface Pressed {
  readonly key: string;
  readonly ctrlKey: boolean;
  readonly metaKey: boolean;
  readonly altKey: boolean;
}

/** The row that a key selects in a list of `count` rows with `page` visible ones; undefined for other keys. */
export function placeByKey({ key, ctrlKey, metaKey, altKey }: Pressed, at: number, count: number, page = 20): number | undefined {
  if (ctrlKey || metaKey || altKey || count === 0) return undefined;
  const steps: Record<string, number> = { j: 1, ArrowDown: 1, k: -1, ArrowUp: -1, PageDown: page, PageUp: -page, Home: -count, End: count };
  const by = steps[key];
  return by === undefined ? undefined : Math.max(0, Math.min(count - 1, at + by));
}

/** Rows per page key: one less than visible, so that one row stays in view. */
export const rowsOnPage = (scroller: Element | null, rowHeight: number): number =>
  Math.max(1, Math.floor((scroller?.clientHeight ?? 400) / rowHeight) - 1);

/** The reading position and the display settings. */
export const state = {
  /** The selected entry. */
  at: 0,
  /** True if entries after the selected entry are hidden. */
  isReplay: false,
  /** True if the reader has selected an entry. Otherwise, `at` follows scrolling. */
  isSelected: false,
  /** The timer of the next step while the session plays, otherwise 0. */
  timer: 0,
  speed: 1,
};

const listeners: (() => void)[] = [];

/** Calls `listener` whenever the state or the search changes. */
export const onChange = (listener: () => void): unknown => listeners.push(listener);

/** Tells every listener about a change. */
export function changed(): void {
  for (const listener of listeners) listener();
}

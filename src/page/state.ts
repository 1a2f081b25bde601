/** Where the reader is, and what is shown. */
export const state = {
  /** The selected entry. */
  at: 0,
  /** Entries after the selected one are hidden. */
  isReplay: false,
  /** The reader has selected an entry. Otherwise `at` follows scrolling. */
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

import { firstVisible, main, showSelected } from './blocks.js';
import { gapBefore, index, total } from './data.js';
import { changed, state } from './state.js';

/** Selects an entry and scrolls to it. */
export function select(at: number, block: ScrollLogicalPosition = 'nearest'): void {
  const before = state.at;
  state.at = Math.max(0, Math.min(total - 1, at));
  state.isSelected = true;
  const article = showSelected(before);
  article?.scrollIntoView({ block });
  // Drawing the entries around it moves it once more.
  requestAnimationFrame(() => article?.scrollIntoView({ block: block === 'start' ? 'start' : 'nearest' }));
  const address = article?.dataset.key && `#${encodeURIComponent(article.dataset.key)}`;
  if (address && location.hash !== address) history.replaceState(null, '', address);
  changed();
}

/** Selects an entry and ends the replay, which may not have reached the entry yet. */
export function jump(at: number, block: ScrollLogicalPosition): void {
  if (state.isReplay && at > state.at) state.isReplay = false;
  select(at, block);
}

/** Hides the entries after the selected one, or shows all again. */
export function setReplay(isReplay: boolean): void {
  state.isReplay = isReplay;
  if (!isReplay) stop();
  select(state.at, 'nearest');
}

const maxWaitMs = 2_500;

/** Plays entry by entry from the selected one, or pauses. */
export function playOrPause(): void {
  if (state.timer) stop();
  else {
    if (state.at >= total - 1) state.at = 0;
    if (!state.isSelected) state.at = firstVisible();
    setReplay(true);
    scheduleNext();
    changed();
  }
}

function scheduleNext(): void {
  if (state.at >= total - 1) {
    stop();
    return;
  }
  // Long pauses are shortened, and entries with the same time get a minimum delay.
  const wait = Math.max(250, Math.min(maxWaitMs, gapBefore(state.at + 1) || 500));
  state.timer = window.setTimeout(() => {
    select(state.at + 1);
    scheduleNext();
  }, wait / state.speed);
}

/** Pauses. */
export function stop(): void {
  clearTimeout(state.timer);
  state.timer = 0;
  changed();
}

/** Moves by a number of entries. Without a selection, it selects the first entry in view. */
export function step(by: number): void {
  stop();
  select(!state.isSelected && !state.isReplay ? firstVisible() : state.at + by);
}

/** Moves to the next (1) or the previous (-1) prompt. */
export function stepPrompt(by: number): void {
  stop();
  const places = index.prompts.map(([at]) => at);
  const from = state.isSelected ? state.at : firstVisible();
  select((by > 0 ? places.find((at) => at > from) : places.findLast((at) => at < from)) ?? (by > 0 ? total - 1 : 0), 'start');
}

/** Follows manual scrolling: ends the selection, and makes the player show the entry in view. */
export function watchScrolling(): void {
  let isDue = false;
  const scrolled = (): void => {
    isDue = false;
    if (state.isReplay || state.timer) return;
    const at = firstVisible();
    if (state.isSelected) for (const article of main.querySelectorAll('.now')) article.classList.remove('now');
    state.isSelected = false;
    state.at = at;
    changed();
  };
  for (const kind of ['wheel', 'touchmove', 'pointerup'])
    window.addEventListener(
      kind,
      (event) => {
        if (isDue || (kind === 'pointerup' && event.target !== document.documentElement)) return;
        isDue = true;
        setTimeout(scrolled, 120);
      },
      { passive: true },
    );
}

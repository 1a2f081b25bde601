import { useCallback, useEffect, useMemo, useRef, useState } from 'react';
import type { ContextId, Entry, OutlineRow, Stop } from '../../../core/contract/index.js';
import {
  blockOfEntry,
  type EntryBlock,
  groupIntoBlocks,
  guessHeight,
  heightBefore,
  useBlockKeys,
  useEntriesOfBlocks,
  useVirtualRows,
  type VirtualRows,
} from '../../parts';
import {
  type ContextOutline,
  copy,
  entriesWith,
  entryRanges,
  move,
  type Ranges,
  show,
  useChainFacts,
  useNavigation,
  useRanges,
  useReading,
  useTurnNumbers,
  useUi,
} from '../../state';
import { type ShownTurn, seamsOf, turnsOf } from './blocks';
import { clearFound } from './painting';
import { useLanding } from './useLanding';

export interface ContextInView {
  readonly project: string;
  readonly commit: ContextId;
  readonly stop: Stop;
  /** True to include entries that were recorded but never sent to the model. */
  readonly unsent: boolean;
}

export interface ReaderContext extends ContextInView {
  readonly outline: ContextOutline;
}

export type ContextReader = ReturnType<typeof useReader>;

/** Within this many pixels of the end, the end counts as visible. */
const nearEnd = 80;

/** The list of a context: its blocks and turns, the visible range, the selected entry, and the keys. `onFind` opens the search. */
export function useReader(shown: ReaderContext, onFind: () => void) {
  const { project, commit, stop, unsent, outline } = shown;
  const { rows } = outline;
  const pages = useRanges(entryRanges(project, commit, stop, unsent));
  const entries = useMemo(() => entriesWith(pages, outline), [pages, outline]);
  const blocks = useMemo(() => groupIntoBlocks(rows), [rows]);
  const facts = useChainFacts(project);
  const { numbers, of: turnCount } = useTurnNumbers(project, commit);
  const turns = useMemo(() => turnsOf(rows, blocks, facts.summaries, numbers), [rows, blocks, facts, numbers]);
  const seams = useMemo(() => seamsOf(rows), [rows]);
  const selected = useNavigation(({ route }) => route.entry);
  const arrival = useArrival(outline);
  // Draws the list where reading begins, so that nothing is loaded for its top.
  const [initialOffset] = useState(() => heightBefore(rows, blocks, findStart(shown, selected, turns).entry));
  const [overscan, setOverscan] = useState(1);
  const { scroller, virtual: list } = useVirtualRows(blocks.length, (n) => guessHeight(rows, blocks[n] as EntryBlock), {
    getItemKey: useBlockKeys(rows, blocks),
    overscan,
    initialOffset,
    anchorTo: arrival.anchorTo,
  });
  const items = list.getVirtualItems();
  const offset = list.scrollOffset ?? 0;
  const visible = list.scrollRect?.height ?? 0;
  const top = list.getVirtualItemForOffset(offset + 4)?.index ?? 0;
  const bottom = list.getVirtualItemForOffset(offset + visible)?.index ?? 0;
  const from = blocks[top]?.first ?? 0;
  const to = (blocks[bottom]?.first ?? 0) + 1;
  useEffect(() => useReading.setState({ from, to }), [from, to]);
  useEntriesOfBlocks(entries, blocks, items);
  useOverscan(entries, blocks, items, setOverscan);
  const land = useLanding(scroller, list);
  const goTo = useCallback((entry: number) => land(blockOfEntry(blocks, entry)), [land, blocks]);
  const goToBlock = (block: number, align: 'start' | 'auto') => (align === 'start' ? land(block) : list.scrollToIndex(block, { align }));
  useStart(shown, selected, turns, { goTo, goToEnd: () => list.scrollToIndex(blocks.length - 1, { align: 'end' }), scroller }, arrival.hasMoved);
  const room = roomBelow(list, turns, visible);

  const topTurn = turns.findLastIndex((turn) => turn.firstBlock <= top);
  const turnIndex = Math.max(0, topTurn);
  const selectedEntry = useMemo(() => (selected ? rows.findIndex((row) => row.key === selected) : -1), [rows, selected]);
  const selectedBlock = selectedEntry >= 0 ? blockOfEntry(blocks, selectedEntry) : -1;
  const select = (block: number) => move({ entry: rows[blocks[block]?.first ?? -1]?.key ?? selected });
  const step = (by: number) => {
    const next = Math.max(0, Math.min(blocks.length - 1, selectedBlock >= 0 ? selectedBlock + by : top));
    select(next);
    goToBlock(next, 'auto');
  };
  const stepTurn = (by: number) => {
    const next = turns[Math.max(0, Math.min(turns.length - 1, turnIndex + by))];
    if (!next) return;
    select(next.promptBlock);
    goToBlock(next.promptBlock, 'start');
  };
  const fork = (entry = selectedEntry) => show({ kind: 'fork', commit, at: cutAt(rows, blocks, entry), stop });
  const onKeyDown = keyHandler(onFind, {
    j: () => step(1),
    k: () => step(-1),
    ']': () => stepTurn(1),
    '[': () => stepTurn(-1),
    '/': onFind,
    f: () => fork(),
    e: () => show({ kind: 'export', commit, stop }),
    y: () => void copy(selected ?? commit, 'Copied the key'),
  });
  return {
    ...{ rows, entries, blocks, facts, turns, seams, scroller, list, items, room, from, to, turnIndex, selectedEntry, selectedBlock },
    ...{ goTo, goToBlock, select, stepTurn, fork, onKeyDown, turnCount, watched: arrival.handlers },
    selectEntry: (entry: number) => select(blockOfEntry(blocks, entry)),
    atEnd: offset + visible >= list.getTotalSize() - nearEnd,
  };
}

/** The last entry that a fork keeps when it is cut at this entry. */
function cutAt(rows: ContextOutline['rows'], blocks: readonly EntryBlock[], entry: number): OutlineRow['key'] | undefined {
  // A tool call stays together with its result, so the cut comes after the result.
  const result = entry >= 0 ? blocks[blockOfEntry(blocks, entry)]?.result : undefined;
  // An entry that was never sent cannot be the cut, so the cut is the last sent entry before it.
  const last = rows.slice(0, (result ?? entry) + 1).findLast((row) => !row.hidden);
  return (last ?? rows.findLast((row) => !row.hidden))?.key;
}

type Items = ReturnType<VirtualRows['getVirtualItems']>;

/**
 * Raises the number of blocks that are drawn beyond the view. The first drawing omits most of them, so that the visible blocks can be read sooner.
 * The others follow while a landing is still corrected on every frame, so that their real heights do not move the target.
 */
function useOverscan(entries: Ranges<Entry>, blocks: readonly EntryBlock[], items: Items, setOverscan: (count: number) => void): void {
  const isReadable = items.length > 0 && items.every(({ index }) => entries.at(blocks[index]?.first ?? 0) !== undefined);
  useEffect(() => (isReadable ? afterFrames(3, () => setOverscan(6)) : undefined), [isReadable, setOverscan]);
}

/** Calls a function after a number of frames. Returns a function that cancels the call. */
function afterFrames(count: number, act: () => void): () => void {
  let frame = requestAnimationFrame(function next() {
    count--;
    if (count > 0) frame = requestAnimationFrame(next);
    else act();
  });
  return () => cancelAnimationFrame(frame);
}

/** Notices that the rest of a long context arrived above the rows. The list keeps its place, or lands again if the person has not moved. */
function useArrival({ isPart }: ContextOutline) {
  const wasPart = useRef(isPart);
  const moved = useRef(false);
  const anchorTo = wasPart.current && !isPart ? ('end' as const) : ('start' as const);
  useEffect(() => {
    wasPart.current = isPart;
  }, [isPart]);
  const act = useCallback(() => {
    moved.current = true;
  }, []);
  const handlers = { onWheelCapture: act, onPointerDownCapture: act, onTouchStartCapture: act, onKeyDownCapture: act };
  return { anchorTo, hasMoved: () => moved.current, handlers };
}

/** Space below the last turn, so that its prompt can be scrolled to the top. */
function roomBelow(list: VirtualRows, turns: readonly ShownTurn[], visible: number): number {
  const start = list.measurementsCache[turns.at(-1)?.promptBlock ?? 0]?.start ?? 0;
  return Math.max(0, visible - (list.getTotalSize() - start));
}

interface StartActions {
  readonly goTo: (entry: number) => void;
  readonly goToEnd: () => void;
  readonly scroller: React.RefObject<HTMLDivElement | null>;
}

/** Where reading begins: at the linked entry, else at the prompt of the commit. */
function findStart({ commit, outline: { rows } }: ReaderContext, linked: string | undefined, turns: readonly ShownTurn[]) {
  const place = linked ? rows.findIndex((row) => row.key === linked) : -1;
  if (place >= 0) return { entry: place, isLinked: true };
  // A commit without visible entries, such as a commit that only records an event, shows the previous turn.
  return { entry: (turns.findLast((turn) => turn.commit === commit) ?? turns.at(-1))?.promptEntry ?? 0, isLinked: false };
}

/** Scrolls to the linked entry, else to the prompt, once per context and when the rest arrives; and to entries that others jump to. */
function useStart(
  shown: ReaderContext,
  linked: string | undefined,
  turns: readonly ShownTurn[],
  { goTo, goToEnd, scroller }: StartActions,
  hasMoved: () => boolean,
): void {
  // biome-ignore lint/correctness/useExhaustiveDependencies: once per context
  useEffect(() => {
    if (hasMoved()) return;
    const { entry, isLinked } = findStart(shown, linked, turns);
    if (useUi.getState().followsTurns && !isLinked) goToEnd();
    else if (entry > 0) goTo(entry);
    scroller.current?.focus({ preventScroll: true });
    return clearFound;
  }, [shown.outline.isPart]);
  const jump = useReading((reading) => reading.jump);
  // biome-ignore lint/correctness/useExhaustiveDependencies: only a new jump moves the list
  useEffect(() => {
    if (jump && performance.now() - jump.at < 1_000) goTo(jump.entry);
  }, [jump]);
}

/** Handles the keys of the list. Arrow keys act like j and k. */
const keyHandler =
  (onFind: () => void, actions: Readonly<Record<string, () => void>>) =>
  (event: React.KeyboardEvent): void => {
    if (event.target !== event.currentTarget && event.key === 'Enter') return;
    if ((event.ctrlKey || event.metaKey) && event.key === 'f') {
      event.preventDefault();
      onFind();
      return;
    }
    if (event.ctrlKey || event.metaKey || event.altKey || event.target instanceof HTMLInputElement) return;
    const key = { ArrowDown: 'j', ArrowUp: 'k' }[event.key] ?? event.key;
    const act = Object.hasOwn(actions, key) ? actions[key] : undefined;
    if (!act) return;
    event.preventDefault();
    act();
  };

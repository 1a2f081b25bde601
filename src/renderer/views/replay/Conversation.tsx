import { useVirtualizer } from '@tanstack/react-virtual';
import { useEffect, useMemo, useRef } from 'react';
import type { ContextId, ReplayStep } from '../../../core/contract/index.js';
import { type Block, blockOfEntry, blocksOf, EntryView, guessHeight, SomeUnread, say, ToolView } from '../../parts';
import { stepEntriesOf, useRanges } from '../../state';

interface ConversationProps {
  readonly project: string;
  readonly commit: ContextId;
  readonly steps: readonly ReplayStep[];
  readonly place: number;
  readonly playing: boolean;
}

/** The conversation up to now: what is not there yet is not there, what a compaction took out of the window is faint. */
export function Conversation({ project, commit, steps, place, playing }: ConversationProps) {
  const entries = useRanges(stepEntriesOf(project, commit));
  const blocks = useMemo(() => blocksOf(steps), [steps]);
  const scroller = useRef<HTMLDivElement>(null);
  const latest = blockOfEntry(blocks, place);
  // A result that comes after other calls belongs to an earlier block: those below it are there already.
  const shown = useMemo(() => {
    let [low, high] = [0, blocks.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((blocks[middle]?.first ?? 0) <= place) low = middle + 1;
      else high = middle;
    }
    return low;
  }, [blocks, place]);
  const reset = useMemo(() => steps.findLastIndex((step, at) => at <= place && step.dropped), [steps, place]);

  const list = useVirtualizer({
    count: shown,
    getScrollElement: () => scroller.current,
    estimateSize: (n) => guessHeight(steps, blocks[n] as Block),
    getItemKey: (n) => steps[blocks[n]?.first ?? 0]?.key ?? n,
    overscan: 4,
  });
  const items = list.getVirtualItems();
  const first = items[0]?.index;
  const last = items.at(-1)?.index;
  useEffect(() => {
    if (first === undefined || last === undefined) return;
    const places = blocks.slice(first, last + 1).flatMap((block) => [block.first, block.result ?? block.first]);
    if (places.length) entries.need(Math.min(...places), Math.max(...places) + 1);
  }, [first, last, blocks, entries]);

  // What came last is in view, wherever one jumped from; its end, as in every conversation.
  // biome-ignore lint/correctness/useExhaustiveDependencies: a step moves the list, content that arrives does not
  useEffect(() => {
    if (latest >= 0) list.scrollToIndex(latest, { align: 'end' });
  }, [latest, shown]);

  const problem = entries.problem();
  return (
    <section
      ref={scroller}
      className="replay-conversation"
      aria-label="Conversation up to now"
      aria-live={playing ? 'off' : undefined}
      aria-busy={items.some((item) => !entries.at(blocks[item.index]?.first ?? 0))}
      // biome-ignore lint/a11y/noNoninteractiveTabindex: a list that scrolls is reached by keyboard
      tabIndex={0}
    >
      {problem !== undefined && <SomeUnread what="entries" error={problem} onRetry={entries.retry} />}
      <div style={{ height: list.getTotalSize(), position: 'relative' }}>
        <div style={{ transform: `translateY(${items[0]?.start ?? 0}px)` }}>
          {items.map((item) => {
            const block = blocks[item.index] as Block;
            const step = steps[block.first];
            const entry = entries.at(block.first);
            const isAnswered = typeof block.result === 'number' && block.result <= place;
            return (
              <div
                key={item.key}
                data-index={item.index}
                data-entry={step?.key}
                ref={list.measureElement}
                aria-current={item.index === latest ? 'step' : undefined}
                className={`block replay-block${item.index === latest ? ' chosen' : ''}${block.first < reset ? ' gone' : ''}`}
              >
                {block.opens && block.first > 0 && !step?.dropped && <div className="turn-line" />}
                {step?.dropped && (
                  <div className="seam">
                    <span>
                      Compaction: {say.plural(step.dropped.entries, 'entry', 'entries')} and {say.tokens(step.dropped.tokens)} left the window, this
                      summary took their place
                    </span>
                  </div>
                )}
                {!entry ? (
                  <div className="block-frame" style={{ height: Math.min(item.size, 320) }} />
                ) : block.result === undefined ? (
                  <EntryView entry={entry} />
                ) : (
                  <ToolView
                    call={entry}
                    result={isAnswered ? entries.at(block.result as number) : null}
                    noResult={block.result === null ? 'This call was never answered.' : 'Running: the answer has not come yet.'}
                  />
                )}
              </div>
            );
          })}
        </div>
      </div>
    </section>
  );
}

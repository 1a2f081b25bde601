import { useEffect, useMemo, useState } from 'react';
import type { Entry, ReplayStep } from '../../../core/contract/index.js';
import {
  blockOfEntry,
  type EntryBlock,
  EntryView,
  Estimate,
  groupIntoBlocks,
  guessHeight,
  heightBefore,
  MeasuredRows,
  say,
  ToolView,
  Unread,
  useBlockKeys,
  useEntriesOfBlocks,
  useVirtualRows,
} from '../../parts';
import { stepEntriesOf, useRanges } from '../../state';
import { blocksUpTo, type ShownSteps } from './turns';

type ConversationProps = ShownSteps & { readonly place: number; readonly playing: boolean };

/** The conversation up to the current step. Entries that a compaction removed from the window are faint. */
export function Conversation({ project, commit, before, steps, place, playing }: ConversationProps) {
  const entries = useRanges(stepEntriesOf(project, commit));
  const blocks = useMemo(() => groupIntoBlocks(steps), [steps]);
  const latest = blockOfEntry(blocks, place);
  const shown = useMemo(() => blocksUpTo(blocks, place), [blocks, place]);
  const reset = useMemo(() => steps.findLastIndex((step, at) => at <= place && step.dropped), [steps, place]);

  // Draws the list at the current step, so that nothing is loaded for its top.
  const [initialOffset] = useState(() => heightBefore(steps, blocks, place));
  const { scroller, virtual: list } = useVirtualRows(shown, (n) => guessHeight(steps, blocks[n] as EntryBlock), {
    getItemKey: useBlockKeys(steps, blocks),
    overscan: 4,
    initialOffset,
  });
  const items = list.getVirtualItems();
  useEntriesOfBlocks(entries, blocks, items, before);

  // After each step, the end of the latest entry scrolls into view.
  // biome-ignore lint/correctness/useExhaustiveDependencies: only a step scrolls the list, not content that loads
  useEffect(() => {
    if (latest >= 0) list.scrollToIndex(latest, { align: 'end' });
  }, [latest, shown]);

  const problem = entries.problem();
  return (
    <section
      ref={scroller}
      className="replay-conversation quiet-focus"
      aria-label="Conversation up to this step"
      aria-live={playing ? 'off' : undefined}
      aria-busy={items.some((item) => !entries.at(before + (blocks[item.index]?.first ?? 0)))}
      // biome-ignore lint/a11y/noNoninteractiveTabindex: a scrolling list must be reachable by keyboard
      tabIndex={0}
    >
      {problem !== undefined && <Unread what="Some entries" error={problem} onRetry={entries.retry} />}
      <MeasuredRows
        virtual={list}
        attributes={({ index }) => {
          const { first } = blocks[index] as EntryBlock;
          return {
            'data-entry': steps[first]?.key,
            'aria-current': index === latest ? 'step' : undefined,
            className: `block replay-block${index === latest ? ' chosen' : ''}${first < reset ? ' gone' : ''}`,
          };
        }}
      >
        {({ index, size }) => {
          const block = blocks[index] as EntryBlock;
          return (
            <>
              <BlockHead block={block} step={steps[block.first]} />
              <BlockBody block={block} place={place} entryAt={(n) => entries.at(before + n)} height={Math.min(size, 320)} />
            </>
          );
        }}
      </MeasuredRows>
    </section>
  );
}

function BlockHead({ block, step }: { block: EntryBlock; step: ReplayStep | undefined }) {
  if (!step?.dropped) return block.opens && block.first > 0 ? <div className="turn-line" /> : null;
  return (
    <div className="seam wrap small">
      <span>
        Compaction: this summary replaced {say.plural(step.dropped.entries, 'entry', 'entries')} (<Estimate of={step.dropped.tokens} />)
      </span>
    </div>
  );
}

interface BlockBodyProps {
  readonly block: EntryBlock;
  readonly place: number;
  readonly entryAt: (place: number) => Entry | undefined;
  /** The height of the frame that is drawn until the entry is loaded. */
  readonly height: number;
}

function BlockBody({ block: { first, result }, place, entryAt, height }: BlockBodyProps) {
  const entry = entryAt(first);
  if (!entry) return <div className="block-frame" style={{ height }} />;
  if (result === undefined) return <EntryView entry={entry} />;
  return (
    <ToolView
      call={entry}
      result={result !== null && result <= place ? entryAt(result) : null}
      noResult={result === null ? 'No result recorded.' : 'Running: no result yet.'}
    />
  );
}

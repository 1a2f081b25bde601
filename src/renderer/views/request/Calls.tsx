import { CornerDownRight, User, Wrench, X } from 'lucide-react';
import { type CSSProperties, useEffect, useMemo, useRef, useState } from 'react';
import type { ContextId, UsageCall } from '../../../core/contract/index.js';
import { basis, inFolder, rowsOnPage, say, selectByKey, shortPaths, useVirtualRows } from '../../parts';
import { type CallMark, isMiss, marksOf, missTitle, readShare } from './calls';
import { besideWords, costText, costWords, priceText, sentWords } from './words';

const rowHeight = 28;
/** The assumed height of the list without its selected row, until it is measured. */
const firstHeight = 400;

interface CallsProps {
  readonly calls: readonly UsageCall[];
  readonly numbers: readonly (number | undefined)[];
  readonly turns: ReadonlyMap<ContextId, number>;
  readonly places: readonly number[];
  /** The place of the selected call among all calls. */
  readonly place: number;
  /** The folder of the repository: paths inside it are shown without it. */
  readonly folder: string | null;
  readonly onChoose: (requestId: string) => void;
}

/** The calls of a history in the order sent, one row each. */
export function Calls({ calls, numbers, turns, places, place, folder, onChoose }: CallsProps) {
  const at = places.indexOf(place);
  const marks = useMemo(() => marksOf(calls), [calls]);
  // Draws the list at the selected row, so that its top is not drawn first.
  const [initialOffset] = useState(() => Math.max(0, at * rowHeight - firstHeight));
  const { scroller, virtual } = useVirtualRows(places.length, rowHeight, {
    overscan: 16,
    initialOffset,
    initialRect: { width: 0, height: firstHeight + rowHeight },
  });
  const onScroll = useRowInView(scroller, at);
  return (
    // The columns of numbers have room for the largest one.
    <div className="calls rest stack" style={{ '--digits': String(calls.length).length } as CSSProperties}>
      <div className="call-row call-heads rigid" aria-hidden>
        <span className="n">#</span>
        <span className="n">Turn</span>
        <span>Trigger or tool</span>
        <span className="n">+ Tokens</span>
        <span className="n">Context</span>
        <span>Cache</span>
        <span className="n c-lo">Wait</span>
        <span className="n">Cost</span>
        <span className="n c-lo">Time</span>
      </div>
      <div
        ref={scroller}
        className="calls-scroll overflows"
        role="listbox"
        aria-label="Calls in the order sent"
        tabIndex={0}
        data-list
        onScroll={onScroll}
        onKeyDown={(event) => {
          selectByKey(event, places, at, rowsOnPage(scroller.current, rowHeight), (next) => {
            const call = calls[next];
            if (call) onChoose(call.requestId);
          });
        }}
      >
        <div style={{ height: virtual.getTotalSize(), position: 'relative' }}>
          {virtual.getVirtualItems().map((item) => {
            const index = places[item.index] ?? -1;
            const call = calls[index];
            const turn = call && turns.get(call.commit);
            const above = calls[places[item.index - 1] ?? -1];
            const isFirst = turn !== undefined && turn !== (above && turns.get(above.commit));
            return (
              call && (
                <CallRow
                  key={call.requestId}
                  call={call}
                  mark={marks.get(call.requestId)}
                  number={numbers[index]}
                  turn={isFirst ? turn : undefined}
                  chosen={index === place}
                  top={item.start}
                  folder={folder}
                  onChoose={onChoose}
                />
              )
            );
          })}
        </div>
      </div>
    </div>
  );
}

/** The distance of a row outside of the visible list in pixels: above it (negative) or below it. */
function outside(list: HTMLElement, at: number): number {
  const top = at * rowHeight - list.scrollTop;
  return top < 0 ? top : Math.max(0, top + rowHeight - list.getBoundingClientRect().height);
}

/** Keeps the selected row in view when the list becomes smaller, unless a person scrolled. Returns what the list does when it scrolls. */
function useRowInView(scroller: React.RefObject<HTMLDivElement | null>, at: number): () => void {
  const isHeld = useRef(true);
  useEffect(() => {
    const list = scroller.current;
    if (!list || at < 0) return;
    isHeld.current = true;
    const hold = (): void => {
      if (isHeld.current) list.scrollTop += outside(list, at);
    };
    // The observer calls at its start, but only after the list has reported where it was first drawn.
    hold();
    const observer = new ResizeObserver(hold);
    observer.observe(list);
    return () => observer.disconnect();
  }, [scroller, at]);
  return () => {
    if (scroller.current) isHeld.current = Math.abs(outside(scroller.current, at)) < 2;
  };
}

const icons = { prompt: User, tool: Wrench, other: CornerDownRight } as const;

interface CallRowProps extends Pick<CallsProps, 'folder' | 'onChoose'> {
  readonly call: UsageCall;
  readonly mark: CallMark | undefined;
  readonly number: number | undefined;
  /** Set for the first call of a turn in the list. */
  readonly turn: number | undefined;
  readonly chosen: boolean;
  readonly top: number;
}

function CallRow({ call, mark, number, turn, chosen, top, folder, onChoose }: CallRowProps) {
  const { trigger, triggerKind, beside, added, window, waitMs, cost, at, subagent } = call;
  const TriggerIcon = icons[triggerKind];
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: the list handles the keys
    <div
      className={`call-row call selectable trigger-${triggerKind}${turn === undefined ? '' : ' begins-turn'}`}
      role="option"
      aria-selected={chosen}
      tabIndex={-1}
      style={{ top, height: rowHeight }}
      onClick={() => onChoose(call.requestId)}
    >
      <span className="n faint">{number}</span>
      <span className="n muted" title={turn === undefined ? undefined : `Turn ${turn}`}>
        {turn}
      </span>
      <span className="call-trigger row gap-6">
        <TriggerIcon size={13} aria-hidden />
        <Marks mark={mark} />
        <Trigger
          text={beside === undefined ? trigger && inFolder(trigger, folder) : besideWords(beside)}
          isTool={triggerKind === 'tool'}
          subagent={subagent}
        />
      </span>
      <span
        className="n"
        title={
          beside !== undefined
            ? 'This call belongs to no conversation that grows'
            : added === null
              ? 'Not recorded: this call or the one before has no count'
              : `${basis.counted}: growth of the input since the call before`
        }
      >
        {added === null ? '–' : `${added < 0 ? '−' : '+'}${say.exact(Math.abs(added))}`}
      </span>
      <span className="n muted" title={sentWords(call)}>
        {window === null ? <span className="faint">not recorded</span> : say.exact(window)}
      </span>
      <Cache call={call} />
      <span
        className="n c-lo muted"
        title={
          waitMs === null
            ? 'Not recorded: the times of the request and the reply give no wait'
            : 'From the last entry before the reply to the end of the reply'
        }
      >
        {waitMs === null ? '–' : say.duration(waitMs)}
      </span>
      <span className="n" title={costWords(call)}>
        {cost ? priceText(cost) : <span className="faint">{costText(call)}</span>}
      </span>
      <span className="n c-lo muted" title={say.instant(at)}>
        {say.instant(at).slice(-8)}
      </span>
    </div>
  );
}

const Marks = ({ mark }: { mark: CallMark | undefined }) => (
  <>
    {mark?.cut && (
      <span className="badge" title="The first call after a compaction">
        after compaction
      </span>
    )}
    {mark?.model !== undefined && (
      <span className="badge" title="A different model than in the call before">
        {mark.model}
      </span>
    )}
  </>
);

/** The cause of a call: a prompt, or a tool with its arguments. */
function Trigger({ text, isTool, subagent }: { text: string | null; isTool: boolean; subagent: string | undefined }) {
  const [, tool, given] = (isTool && /^(\S+) (.+)$/s.exec(text ?? '')) || [];
  return (
    <span className="ellipsis" title={text ?? undefined}>
      {tool === undefined ? (text ?? (subagent ? `subagent ${subagent}` : 'not recorded')) : tool}{' '}
      {given && <code className="muted">{shortPaths(given)}</code>}
    </span>
  );
}

const missWords = (call: UsageCall): string => {
  const { lostTokens, lostCost } = call.cache;
  return `${missTitle(call)}${lostTokens === undefined ? '' : `: ${say.exact(lostTokens)} tokens paid again${lostCost ? `, ${priceText(lostCost)} more than a cache read` : ''}`}`;
};

/** The share of the input that came from the cache, or a mark that the call missed the cache. */
function Cache({ call }: { call: UsageCall }) {
  const share = readShare(call);
  if (isMiss(call))
    return (
      <span title={missWords(call)}>
        <span className="call-miss inline-row small">
          <X size={11} aria-hidden /> miss
        </span>
      </span>
    );
  if (share === null)
    return (
      <span className="faint" title={basis.notRecorded}>
        not recorded
      </span>
    );
  return (
    <span className="call-cache row" title={`${basis.counted}: ${say.exact(call.tokens.cacheRead ?? 0)} tokens read from the cache`}>
      <i>
        <b style={{ width: `${share * 100}%` }} />
      </i>
      <span className="muted">{(share * 100).toFixed(1)}%</span>
    </span>
  );
}

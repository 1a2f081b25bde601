import { useVirtualizer } from '@tanstack/react-virtual';
import { BookOpen, ChevronDown, ChevronUp, Download, Eye, EyeOff, GitFork, Search } from 'lucide-react';
import { useCallback, useEffect, useMemo, useRef, useState } from 'react';
import type { ContextId, Entry, RequestRow, Stop } from '../../../core/contract/index.js';
import {
  Answer,
  type Block,
  Button,
  blockOfEntry,
  blocksOf,
  Empty,
  guessHeight,
  IconButton,
  SomeUnread,
  Sought,
  Switch,
  say,
  TokenBar,
  TokenLegend,
} from '../../parts';
import {
  copy,
  entriesOf,
  jumpTo,
  move,
  type Outline,
  outlineOf,
  type Ranges,
  show,
  useChainFacts,
  useNavigation,
  useQuery,
  useRanges,
  useReading,
  useUi,
} from '../../state';
import { NoCommit, ToCommit } from '../NoCommit';
import { BlockView, Seam } from './BlockView';
import { seamsOf, turnsOf } from './blocks';
import { CallSeam, useCalls } from './CallSeam';
import { CopyMenu } from './CopyMenu';
import { Find } from './Find';
import { Newer } from './Newer';
import { clearFound } from './painting';

/** What the model saw at a commit, in order, and where its tokens went. */
export function ContextView({ project }: { project: string }) {
  const { commit, stop = 'compaction', unsent: wanted } = useNavigation(({ route }) => route);
  const unsent = wanted === 'yes';
  const query = useQuery(commit ? `${project} ${commit} ${stop} ${unsent}` : null, () => outlineOf(project, commit as ContextId, stop, unsent));
  if (!commit) {
    return (
      <NoCommit title="No commit is chosen" icon={BookOpen}>
        A context is what the model saw at one point of a conversation. Choose a commit in the chain and press Enter.
      </NoCommit>
    );
  }
  return (
    <Answer
      query={query}
      what={`The context of ${say.shortId(commit)} cannot be shown`}
      loading="Reading the context"
      stillWorks="The chain and other commits still work."
      actions={<ToCommit />}
      lines={14}
    >
      {(outline) => <Reader key={`${commit} ${stop} ${unsent}`} project={project} commit={commit} stop={stop} unsent={unsent} outline={outline} />}
    </Answer>
  );
}

interface ReaderProps {
  readonly project: string;
  readonly commit: ContextId;
  readonly stop: Stop;
  /** Also what was recorded but never sent to the model. */
  readonly unsent: boolean;
  readonly outline: Outline;
}

function Reader({ project, commit, stop, unsent, outline }: ReaderProps) {
  const { rows } = outline;
  const entries = useRanges(entriesOf(project, commit, stop, unsent));
  const blocks = useMemo(() => blocksOf(rows), [rows]);
  const facts = useChainFacts(
    project,
    useNavigation(({ route }) => route.session),
  );
  const turns = useMemo(() => turnsOf(rows, blocks, facts.summaries), [rows, blocks, facts]);
  const seams = useMemo(() => seamsOf(rows), [rows]);
  const scroller = useRef<HTMLDivElement>(null);
  const chosen = useNavigation(({ route }) => route.entry);
  const reading = useReading();
  const [finding, setFinding] = useState(false);
  const [sought, setSought] = useState('');

  const list = useVirtualizer({
    count: blocks.length,
    getScrollElement: () => scroller.current,
    estimateSize: (n) => guessHeight(rows, blocks[n] as Block),
    getItemKey: (n) => rows[blocks[n]?.first ?? 0]?.key ?? n,
    overscan: 6,
  });
  const items = list.getVirtualItems();

  const top = list.getVirtualItemForOffset((list.scrollOffset ?? 0) + 4)?.index ?? 0;
  const bottom = list.getVirtualItemForOffset((list.scrollOffset ?? 0) + (list.scrollRect?.height ?? 0))?.index ?? 0;
  const from = blocks[top]?.first ?? 0;
  const to = (blocks[bottom]?.first ?? 0) + 1;
  useEffect(() => useReading.setState({ from, to }), [from, to]);
  const calls = useCalls(project, commit, stop, entries.at(from) !== undefined);

  const atEnd = (list.scrollOffset ?? 0) + (list.scrollRect?.height ?? 0) >= list.getTotalSize() - nearEnd;
  const firstItem = items[0]?.index;
  const lastItem = items.at(-1)?.index;
  useEffect(() => {
    if (firstItem === undefined || lastItem === undefined) return;
    const visible = blocks.slice(firstItem, lastItem + 1);
    const places = visible.flatMap((block) => [block.first, block.result ?? block.first]);
    if (places.length) entries.need(Math.min(...places), Math.max(...places) + 1);
  }, [firstItem, lastItem, blocks, entries]);

  const goTo = useCallback((entry: number) => list.scrollToIndex(blockOfEntry(blocks, entry), { align: 'start' }), [list, blocks]);

  // A deep link leads to its entry, and opening a commit to its own turn.
  // biome-ignore lint/correctness/useExhaustiveDependencies: once per context
  useEffect(() => {
    const linked = chosen ? rows.findIndex((row) => row.key === chosen) : -1;
    const own = rows.findIndex((row) => row.commit === commit);
    const place = linked >= 0 ? linked : own;
    if (useUi.getState().followsTurns && linked < 0) list.scrollToIndex(blocks.length - 1, { align: 'end' });
    else if (place > 0) goTo(place);
    scroller.current?.focus({ preventScroll: true });
    return clearFound;
  }, []);

  const jump = reading.jump;
  // biome-ignore lint/correctness/useExhaustiveDependencies: only a new wish moves the list
  useEffect(() => {
    if (jump && performance.now() - jump.at < 1_000) goTo(jump.entry);
  }, [jump]);

  const turnIndex = Math.max(
    0,
    turns.findLastIndex((turn) => turn.firstBlock <= top),
  );
  const turn = turns[turnIndex];
  const chosenIndex = useMemo(() => (chosen ? rows.findIndex((row) => row.key === chosen) : -1), [rows, chosen]);
  const chosenBlock = chosenIndex >= 0 ? blockOfEntry(blocks, chosenIndex) : -1;

  const choose = (block: number) => {
    const key = rows[blocks[block]?.first ?? -1]?.key;
    if (key) move({ entry: key });
  };
  const step = (by: number) => {
    const at = chosenBlock >= 0 ? chosenBlock + by : top;
    const next = Math.max(0, Math.min(blocks.length - 1, at));
    choose(next);
    list.scrollToIndex(next, { align: 'auto' });
  };
  const stepTurn = (by: number) => {
    const next = turns[Math.max(0, Math.min(turns.length - 1, turnIndex + by))];
    if (!next) return;
    choose(next.firstBlock);
    list.scrollToIndex(next.firstBlock, { align: 'start' });
  };
  // A call goes with its result: the cut comes after both.
  const fork = (index = chosenIndex) => {
    const result = index >= 0 ? blocks[blockOfEntry(blocks, index)]?.result : undefined;
    // What was never sent is no place to cut: the last entry before it is.
    const last = rows.slice(0, (result ?? index) + 1).findLast((row) => !row.hidden);
    show({ kind: 'fork', commit, at: last?.key ?? rows.findLast((row) => !row.hidden)?.key, stop });
  };

  const onKeyDown = (event: React.KeyboardEvent) => {
    if (event.target !== event.currentTarget && event.key === 'Enter') return;
    if ((event.ctrlKey || event.metaKey) && event.key === 'f') {
      event.preventDefault();
      return setFinding(true);
    }
    if (event.ctrlKey || event.metaKey || event.altKey || event.target instanceof HTMLInputElement) return;
    const key = { ArrowDown: 'j', ArrowUp: 'k' }[event.key] ?? event.key;
    const act = {
      j: () => step(1),
      k: () => step(-1),
      ']': () => stepTurn(1),
      '[': () => stepTurn(-1),
      '/': () => setFinding(true),
      f: () => fork(),
      e: () => show({ kind: 'export', commit, stop }),
      y: () => void copy(chosen ?? commit, 'Copied the key'),
    }[key];
    if (!act) return;
    event.preventDefault();
    act();
  };

  const problem = entries.problem();
  if (outline.total === 0) {
    return (
      <Empty title="This context is empty" picture={<BookOpen size={48} strokeWidth={1} />}>
        The commit holds nothing that was sent to a model.
      </Empty>
    );
  }
  return (
    <section className="context" aria-label="Context">
      <div className="context-top">
        <div className="context-tools">
          <Switch
            label="How far back"
            value={stop === 'root' ? 'root' : 'compaction'}
            onChange={(value) => move({ stop: value === 'root' ? 'root' : undefined })}
            options={[
              { value: 'compaction', name: 'As the model had it', hint: 'From the last compaction on: what was sent to the model' },
              { value: 'root', name: 'Full history', hint: 'From the first prompt on, through every compaction' },
            ]}
          />
          <span className="muted ellipsis">
            {say.plural(outline.total, 'entry', 'entries')} · {say.tokens(outline.tokens)}
          </span>
          <span className="grow" />
          <IconButton
            icon={unsent ? Eye : EyeOff}
            label={unsent ? 'Hide what was never sent' : 'Show what was never sent to the model'}
            aria-pressed={unsent}
            onClick={() => move({ unsent: unsent ? undefined : 'yes' })}
          />
          <IconButton icon={Search} label="Find in context" keys="/" onClick={() => setFinding(!finding)} aria-pressed={finding} />
          <CopyMenu commit={commit} stop={stop} total={outline.total} entry={chosenIndex >= 0 ? entries.at(chosenIndex) : undefined} />
          <Button small icon={GitFork} onClick={() => fork()} title="Fork from the chosen entry (f)">
            Fork
          </Button>
          <Button small icon={Download} onClick={() => show({ kind: 'export', commit, stop })} title="Export this context (e)">
            Export
          </Button>
        </div>
        <TokenBar rows={rows} from={from} to={to} seams={seams} onJump={jumpTo} />
        <TokenLegend rows={rows} />
      </div>
      {finding && (
        <Find
          commit={commit}
          stop={stop}
          unsent={unsent}
          scroller={scroller}
          onWords={setSought}
          onGo={(entry) => {
            choose(blockOfEntry(blocks, entry));
            goTo(entry);
          }}
          onClose={() => {
            setFinding(false);
            setSought('');
            scroller.current?.focus({ preventScroll: true });
          }}
        />
      )}
      {problem !== undefined && <SomeUnread what="entries" error={problem} onRetry={entries.retry} />}
      <section
        ref={scroller}
        // biome-ignore lint/a11y/noNoninteractiveTabindex: a list that scrolls is reached by keyboard
        tabIndex={0}
        data-list
        className="context-scroll"
        aria-label="Entries"
        aria-busy={items.some((item) => !entries.at(blocks[item.index]?.first ?? 0))}
        onKeyDown={onKeyDown}
      >
        {turn && (
          <div className="turn-sticky">
            <button
              type="button"
              className="ellipsis"
              title="To the beginning of this turn"
              onClick={() => list.scrollToIndex(turn.firstBlock, { align: 'start' })}
            >
              <span className="muted">
                Turn {turnIndex + 1} of {turns.length}
              </span>{' '}
              {say.firstLine(turn.head)}
            </button>
            <span className="muted turn-time">{timeOf(entries, turn.firstEntry)}</span>
            <IconButton small icon={ChevronUp} label="Previous turn" keys="[" onClick={() => stepTurn(-1)} disabled={turnIndex === 0} />
            <IconButton small icon={ChevronDown} label="Next turn" keys="]" onClick={() => stepTurn(1)} disabled={turnIndex >= turns.length - 1} />
          </div>
        )}
        <div className="context-length" style={{ height: list.getTotalSize() }}>
          <div style={{ transform: `translateY(${items[0]?.start ?? 0}px)` }}>
            <Sought value={sought}>
              {items.map((item) => {
                const block = blocks[item.index] as Block;
                const row = rows[block.first];
                return (
                  // biome-ignore lint/a11y/useKeyWithClickEvents: the list itself answers the keys
                  // biome-ignore lint/a11y/noStaticElementInteractions: choosing by pointer; the list itself answers the keys
                  <div
                    key={item.key}
                    data-index={item.index}
                    data-entry={row?.key}
                    ref={list.measureElement}
                    className={`block${item.index === chosenBlock ? ' chosen' : ''}${row?.hidden ? ' unsent' : ''}`}
                    aria-current={item.index === chosenBlock || undefined}
                    onClick={() => choose(item.index)}
                  >
                    {block.opens && block.first > 0 && row?.kind !== 'summary' && <div className="turn-line" />}
                    {row?.kind === 'summary' && <Seam commit={block.commit} stop={stop} />}
                    {row && calls.has(row.key) && <CallSeam call={calls.get(row.key) as RequestRow} />}
                    <BlockView
                      block={block}
                      entries={entries}
                      height={item.size}
                      subagent={facts.subagentOfCall.get(row?.kind === 'tool_call' ? (row.toolCallId ?? '') : '')}
                      onFork={() => fork(block.first)}
                    />
                  </div>
                );
              })}
            </Sought>
          </div>
        </div>
      </section>
      <Newer commit={commit} atEnd={atEnd} />
    </section>
  );
}

/** So many pixels from the end one has read to the end. */
const nearEnd = 80;

const timeOf = (entries: Ranges<Entry>, index: number): string => {
  const at = entries.at(index)?.at;
  return at ? say.when(at) : '';
};

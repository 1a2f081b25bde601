import { BookOpen, ChevronDown, ChevronUp } from 'lucide-react';
import { useEffect, useMemo, useState } from 'react';
import type { ContextId, Stop } from '../../../core/contract/index.js';
import { Button, Damaged, Empty, IconButton, say, Unread } from '../../parts';
import {
  askBeginning,
  type ContextOutline,
  entryRanges,
  go,
  loadDrafts,
  loadOutline,
  move,
  newest,
  type Query,
  useCommit,
  useHit,
  useLive,
  useNavigation,
  useQuery,
  useUi,
} from '../../state';
import { CommitAnswer, NoCommit } from '../NoCommit';
import { Blocks } from './Blocks';
import { useCalls } from './CallSeam';
import { ContextTop } from './ContextTop';
import { Find } from './Find';
import { clearFound, paintFound } from './painting';
import { type ContextReader, type ReaderContext, useReader } from './useReader';

/** What the model saw at a commit, in order, and how many tokens each part took. */
export function ContextView({ project }: { project: string }) {
  const { commit, stop = 'compaction', unsent: wanted } = useNavigation(({ route }) => route);
  const unsent = wanted === 'yes';
  useEffect(() => void loadDrafts(), []);
  const query = useOutline(project, commit, stop, unsent);
  if (!commit) {
    return (
      <NoCommit title="No commit is selected" icon={BookOpen}>
        A context is what the model saw at one point of a conversation. Select a commit in the chain and press Enter.
      </NoCommit>
    );
  }
  return (
    <CommitAnswer query={query} what={`Cannot show the context of ${say.shortId(commit)}`} loading="Loading the context">
      {(outline) =>
        outline.total === 0 ? (
          <Empty title="This context is empty" picture={BookOpen}>
            The commit contains nothing that was sent to a model.
          </Empty>
        ) : (
          <Reader key={`${commit} ${stop} ${unsent}`} project={project} commit={commit} stop={stop} unsent={unsent} outline={outline} />
        )
      }
    </CommitAnswer>
  );
}

/** The outline of a context; until it has arrived, the part around the selection. */
function useOutline(project: string, commit: ContextId | undefined, stop: Stop, unsent: boolean): Query<ContextOutline> {
  const entry = useNavigation(({ route }) => route.entry);
  const key = commit ? `${project} ${commit} ${stop} ${unsent}` : null;
  const begun = useQuery(key, () => askBeginning(project, commit as ContextId, stop, unsent));
  const whole = useQuery(key, async () => {
    const outline = await loadOutline(project, commit as ContextId, stop, unsent);
    // Requests the first entries before the surrounding components send their own requests.
    const { from, to } = firstInView(outline.rows, commit as ContextId, entry);
    entryRanges(project, commit as ContextId, stop, unsent).need(from, to);
    return outline;
  });
  const contains = begun.status === 'done' && (!entry || begun.data.rows.some((row) => row.key === entry));
  return whole.status === 'loading' && contains ? begun : whole;
}

const firstEntries = 8;

/** The entries that a context shows first: from the linked entry on, else from the prompt of the commit on. */
function firstInView(rows: ContextOutline['rows'], commit: ContextId, linked: string | undefined): { readonly from: number; readonly to: number } {
  const place = linked ? rows.findIndex(({ key }) => key === linked) : rows.findLastIndex((row) => row.commit === commit && row.prompt);
  const from = place >= 0 ? place : rows.length - 1;
  return { from, to: Math.min(rows.length, from + firstEntries) };
}

function IfDamaged({ project, commit }: Pick<ReaderContext, 'project' | 'commit'>) {
  return useCommit(project, commit).data?.damaged ? <Damaged /> : null;
}

/** The words of the open search hit. They stay highlighted while its entry is selected. */
function useOpenedHit(scroller: React.RefObject<HTMLElement | null>, finding: boolean): readonly string[] {
  const { entry, words } = useHit();
  const selected = useNavigation(({ route }) => route.entry);
  const shown = entry === selected && !finding ? words : none;
  // Highlighted again after every change of the list, because rows come and go while it scrolls.
  useEffect(() => {
    const element = scroller.current;
    const block = shown.length > 0 ? element?.querySelector<HTMLElement>('.block.chosen') : undefined;
    if (block) paintFound(block, shown, block);
    else if (!finding) clearFound();
  });
  return shown;
}

const none: readonly string[] = [];

function Reader(shown: ReaderContext) {
  const { project, commit } = shown;
  const [finding, setFinding] = useState(false);
  const [sought, setSought] = useState('');
  const reader = useReader(shown, () => setFinding(true));
  const { blocks, entries, items, scroller } = reader;
  const hit = useOpenedHit(scroller, finding);
  const inView = [...new Set(items.flatMap(({ index }) => blocks[index]?.commit ?? []))];
  const calls = useCalls(project, inView, entries.at(reader.from) !== undefined);
  const problem = entries.problem();
  const closeFind = () => {
    setFinding(false);
    setSought('');
    scroller.current?.focus({ preventScroll: true });
  };
  return (
    <section className="context whole stack" aria-label="Context" {...reader.watched}>
      <ContextTop shown={shown} reader={reader} finding={finding} onFind={() => setFinding(!finding)} />
      {finding && (
        <Find
          shown={shown}
          scroller={scroller}
          onWords={setSought}
          onGo={(entry) => {
            reader.selectEntry(entry);
            reader.goTo(entry);
          }}
          onClose={closeFind}
        />
      )}
      <IfDamaged project={project} commit={commit} />
      {problem !== undefined && <Unread what="Some entries" error={problem} onRetry={entries.retry} />}
      <TurnBar reader={reader} />
      <section
        ref={scroller}
        // biome-ignore lint/a11y/noNoninteractiveTabindex: a scrolling list must be reachable by keyboard
        tabIndex={0}
        data-list
        className="context-scroll quiet-focus overflows"
        aria-label="Entries"
        aria-busy={items.some((item) => !entries.at(blocks[item.index]?.first ?? 0))}
        onKeyDown={reader.onKeyDown}
      >
        <Blocks shown={shown} reader={reader} calls={calls} sought={sought || (hit[0] ?? '')} />
      </section>
      <Newer commit={commit} atEnd={reader.atEnd} />
    </section>
  );
}

/** The turn at the top of the list, with buttons to the previous and the next turn. */
function TurnBar({ reader }: { reader: ContextReader }) {
  const { turns, turnCount, turnIndex, entries, goToBlock, stepTurn } = reader;
  const turn = turns[turnIndex];
  if (!turn) return null;
  const at = entries.at(turn.promptEntry)?.at;
  return (
    <div className="turn-sticky row gap-4 rigid small">
      <button type="button" className="ellipsis grow" title="Go to the start of this turn" onClick={() => goToBlock(turn.promptBlock, 'start')}>
        {turn.number !== undefined && (
          <span className="muted">
            Turn {turn.number} of {turnCount}{' '}
          </span>
        )}
        {say.firstLine(turn.head)}
      </button>
      <span className="muted rigid">{at ? say.when(at) : ''}</span>
      <IconButton small icon={ChevronUp} label="Previous turn" keys="[" onClick={() => stepTurn(-1)} disabled={turnIndex === 0} />
      <IconButton small icon={ChevronDown} label="Next turn" keys="]" onClick={() => stepTurn(1)} disabled={turnIndex >= turns.length - 1} />
    </div>
  );
}

/** A notice of newer commits of this branch. With *Follow*, they are shown as they arrive while the end of the list is visible. */
function Newer({ commit, atEnd }: { commit: ContextId; atEnd: boolean }) {
  const latest = useLive((live) => live.next);
  const follows = useUi((ui) => ui.followsTurns);
  const end = useMemo(() => newest(latest, commit), [latest, commit]);
  // Commits that an import adds to a session that has ended are no news.
  const later = useLive(({ capture }) => capture?.files.some(({ tip }) => tip === end?.id)) ? end : undefined;
  useEffect(() => {
    if (follows && atEnd && later) move({ commit: later.id, entry: undefined });
  }, [follows, atEnd, later]);
  if (!later && !follows) return null;
  return (
    <output className="newer row gap-12 rigid small">
      <span className="grow">{later ? `${say.plural(later.commits, 'newer commit')} on this branch` : 'The newest commit of this branch'}</span>
      <label className="row gap-6" title="Show new entries as they arrive, while the end is visible">
        <input type="checkbox" checked={follows} onChange={(event) => useUi.setState({ followsTurns: event.target.checked })} />
        Follow
      </label>
      {later && <Button small look="primary" label="Show" onClick={() => go({ commit: later.id, entry: undefined })} />}
    </output>
  );
}

import { Download, GitFork, Play } from 'lucide-react';
import { useMemo, useState } from 'react';
import type { Commit, ContextId, EntryKey, Stop } from '../../../core/contract/index.js';
import { api } from '../../client';
import { Answer, agents, Button, Code, describeProblem, Estimate, findAgent, Id, Input, ProblemLine, Sheet, say } from '../../parts';
import {
  type ContextOutline,
  dismiss,
  keepDraft,
  loadDrafts,
  loadOutline,
  move,
  openContext,
  refreshProject,
  route,
  show,
  useDrafts,
  useOpenDir,
  useQuery,
} from '../../state';
import { EntryEditor } from './EntryEditor';
import { type Changes, type ForkPlan, noChanges, packChanges, planOf, unpackChanges } from './plan';

/** Creates a branch from any entry, with changed, dropped, inserted or appended entries. */
export function ForkSheet({ commit, at, stop }: { commit: ContextId; at?: EntryKey | undefined; stop: Stop }) {
  const dir = useOpenDir();
  const query = useQuery(dir ? `${dir} ${commit} ${stop}` : null, async () => {
    await loadDrafts();
    return loadOutline(dir ?? '', commit, stop);
  });
  if (query.status !== 'done') {
    return (
      <Sheet title="Fork" kind="side" onClose={dismiss}>
        <Answer query={query} what="Cannot fork this context" loading="Loading the context" stillWorks="Nothing was changed.">
          {() => null}
        </Answer>
      </Sheet>
    );
  }
  return <Editor dir={dir ?? ''} commit={commit} at={at} stop={stop} outline={query.data} />;
}

interface EditorProps {
  readonly dir: string;
  readonly commit: ContextId;
  readonly at: EntryKey | undefined;
  readonly stop: Stop;
  readonly outline: ContextOutline;
}

function Editor({ dir, commit, at, stop, outline }: EditorProps) {
  const { rows } = outline;
  const start = at ? rows.findIndex((row) => row.key === at) : rows.length - 1;
  const draftKey = `fork\n${dir}\n${commit}\n${stop}`;
  const [changes, change] = useState<Changes>(
    () => keptEdits(useDrafts.getState().drafts.get(draftKey), rows.length) ?? noChanges(start >= 0 ? start : rows.length - 1),
  );
  /** Keeps edits until they become a fork, even if the sheet is closed. */
  const setChanges = (next: Changes) => {
    change(next);
    keepDraft(draftKey, packChanges(next));
  };
  const [isWriting, setIsWriting] = useState(false);
  const [name, setName] = useState('');
  const [state, setState] = useState<{ phase: 'editing' | 'creating' } | { phase: 'created'; fork: Commit } | { phase: 'failed'; error: unknown }>({
    phase: 'editing',
  });
  const plan = useMemo(() => planOf(rows, changes), [rows, changes]);

  const create = async () => {
    setState({ phase: 'creating' });
    try {
      const last = rows[changes.cut]?.key;
      const fork = await api.context.fork({
        id: commit,
        ...(last && changes.cut < rows.length - 1 && { at: last }),
        ...(plan.edits.length > 0 && { edits: [...plan.edits] }),
        ...(name.trim() && { summary: name.trim() }),
      });
      setState({ phase: 'created', fork });
      keepDraft(draftKey, null);
      // The chain shows the new branch at once. Other views do not change.
      if (route().view === 'chain') move({ commit: fork.id, against: undefined });
      await refreshProject();
    } catch (error) {
      setState({ phase: 'failed', error });
    }
  };
  if (state.phase === 'created') return <Created fork={state.fork} unchanged={state.fork.id === commit} />;

  const nothing = plan.edits.length === 0 && plan.removed.entries === 0;
  return (
    <Sheet
      title="Fork"
      kind="side"
      onClose={dismiss}
      action={{
        label: state.phase === 'creating' ? 'Creating the fork…' : 'Create fork',
        icon: GitFork,
        disabled: state.phase === 'creating' || nothing || isWriting,
        onClick: () => void create(),
      }}
      footer={<Size before={outline.tokens} after={plan.tokensAfter} />}
    >
      <div className="fork whole stack gap-12">
        <p className="muted">The fork starts with the kept entries. The original does not change.</p>
        <Cut plan={plan} />
        <label className="row">
          <span className="muted">Name</span>
          <Input className="grow" placeholder="Optional" value={name} onChange={setName} />
        </label>
        <Notices plan={plan} nothing={nothing} onCut={(cut) => setChanges({ ...changes, cut })} />
        {state.phase === 'failed' && <ProblemLine>Cannot create the fork: {describeProblem(state.error).message} Nothing was changed.</ProblemLine>}
        <EntryEditor rows={rows} commit={commit} stop={stop} changes={changes} onChange={setChanges} onWriting={setIsWriting} />
      </div>
    </Sheet>
  );
}

const Size = ({ before, after }: { before: number; after: number }) => (
  <span className="grow">
    <b>
      <Estimate of={before} />
    </b>{' '}
    before,{' '}
    <b>
      <Estimate of={after} />
    </b>{' '}
    after
  </span>
);

/** A stored draft counts only if it has edits, because a cut alone is quickly chosen again. */
function keptEdits(text: string | undefined, entries: number): Changes | undefined {
  const kept = unpackChanges(text, entries);
  return kept && (kept.dropped.size || kept.replaced.size || kept.inserted.size || kept.appended.length) ? kept : undefined;
}

function Notices({ plan, nothing, onCut }: { plan: ForkPlan; nothing: boolean; onCut: (cut: number) => void }) {
  const { openCalls, closeAt } = plan;
  return (
    <>
      {nothing && <p className="notice-line">No changes yet. Cut after an earlier entry, or edit, drop or append an entry.</p>}
      {openCalls.length > 0 && (
        <div className="notice-line" role="status">
          <span className="grow">
            {openCalls.length === 1 ? 'One tool call has' : `${openCalls.length} tool calls have`} no result after the cut. An export closes open
            calls as the agent does.
          </span>
          {closeAt !== undefined && <Button small label="Keep the results" onClick={() => onCut(closeAt)} />}
        </div>
      )}
    </>
  );
}

function Cut({ plan }: { plan: ForkPlan }) {
  const all = plan.kept.tokens + plan.removed.tokens || 1;
  return (
    <div>
      <div className="fork-bar" aria-hidden>
        <i className="stays" style={{ flexGrow: plan.kept.tokens / all }} />
        {plan.removed.entries > 0 && <i className="goes" style={{ flexGrow: plan.removed.tokens / all }} />}
      </div>
      <div className="fork-sides row wrap">
        <span>
          <b>Kept</b> {say.plural(plan.kept.entries, 'entry', 'entries')}, <Estimate of={plan.kept.tokens} />
        </span>
        <span>
          <b>Removed</b>{' '}
          {plan.removed.entries === 0 ? (
            'none'
          ) : (
            <>
              {say.plural(plan.removed.entries, 'entry', 'entries')}, <Estimate of={plan.removed.tokens} />
            </>
          )}
        </span>
      </div>
    </div>
  );
}

function Created({ fork, unchanged }: { fork: Commit; unchanged: boolean }) {
  const agent = findAgent(fork.format);
  const open = () => {
    dismiss();
    openContext(fork.id);
  };
  return (
    <Sheet
      title="Fork created"
      onClose={dismiss}
      footer={
        <>
          <Button icon={Download} label="Export" onClick={() => show({ kind: 'export', commit: fork.id, stop: 'compaction' })} />
          <Button icon={Play} label={`Resume in ${agents[agent].name}`} onClick={() => show({ kind: 'resume', commit: fork.id, agent })} />
          <Button look="primary" label="Open fork" autoFocus onClick={open} />
        </>
      }
    >
      <p>
        <Id id={fork.id} what="commit id" />
      </p>
      <p>
        {unchanged ? 'Nothing was changed, so the branch starts at the commit itself.' : fork.summary && <Code text={say.firstLine(fork.summary)} />}
      </p>
      <p className="muted">
        The fork contains {say.plural(fork.messageCount, 'message')} of its own, <Estimate of={fork.tokenCount} />. The original did not change.
      </p>
    </Sheet>
  );
}

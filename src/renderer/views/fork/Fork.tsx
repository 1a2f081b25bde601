import { Download, GitFork, Play } from 'lucide-react';
import { useMemo, useState } from 'react';
import type { Commit, ContextId, EntryKey, Stop } from '../../../core/contract/index.js';
import { api } from '../../client';
import { Answer, agentOf, agents, Button, Code, Id, problemOf, Sheet, say } from '../../parts';
import { dismiss, go, move, type Outline, outlineOf, refreshProject, route, show, useOpenDir, useQuery } from '../../state';
import { EntryEditor } from './EntryEditor';
import { type Changes, noChanges, type Plan, planOf } from './plan';

/** Branches off at any entry, with whatever should be different in what the model will have seen. */
export function ForkSheet({ commit, at, stop }: { commit: ContextId; at?: EntryKey | undefined; stop: Stop }) {
  const dir = useOpenDir();
  const query = useQuery(dir ? `${dir} ${commit} ${stop}` : null, () => outlineOf(dir ?? '', commit, stop));
  if (query.status !== 'done') {
    return (
      <Sheet title="Fork" kind="side" onClose={dismiss}>
        <Answer query={query} what="This context cannot be forked now" loading="Reading the context" stillWorks="Nothing was changed.">
          {() => null}
        </Answer>
      </Sheet>
    );
  }
  return <Editor commit={commit} at={at} stop={stop} outline={query.data} />;
}

function Editor({ commit, at, stop, outline }: { commit: ContextId; at: EntryKey | undefined; stop: Stop; outline: Outline }) {
  const { rows } = outline;
  const start = at ? rows.findIndex((row) => row.key === at) : rows.length - 1;
  const [changes, setChanges] = useState<Changes>(() => noChanges(start >= 0 ? start : rows.length - 1));
  const [isWriting, setIsWriting] = useState(false);
  const [name, setName] = useState('');
  const [state, setState] = useState<{ phase: 'editing' | 'making' } | { phase: 'made'; fork: Commit } | { phase: 'failed'; error: unknown }>({
    phase: 'editing',
  });
  const plan = useMemo(() => planOf(rows, changes), [rows, changes]);

  const cutAt = (cut: number) => setChanges({ ...changes, cut });
  const make = async () => {
    setState({ phase: 'making' });
    try {
      const last = rows[changes.cut]?.key;
      const fork = await api.context.fork({
        id: commit,
        ...(last && changes.cut < rows.length - 1 && { at: last }),
        ...(plan.edits.length > 0 && { edits: [...plan.edits] }),
        ...(name.trim() && { summary: name.trim() }),
      });
      setState({ phase: 'made', fork });
      // The chain shows the new branch at once; who reads a context goes on reading it.
      if (route().view === 'chain') move({ commit: fork.id, against: undefined });
      await refreshProject();
    } catch (error) {
      setState({ phase: 'failed', error });
    }
  };
  if (state.phase === 'made') return <Made fork={state.fork} unchanged={state.fork.id === commit} />;

  const nothing = plan.edits.length === 0 && plan.goes.entries === 0;
  return (
    <Sheet
      title="Fork"
      kind="side"
      onClose={dismiss}
      footer={
        <>
          <span className="grow fork-sum">
            <b>{say.tokens(outline.tokens)}</b> before, <b>{say.tokens(plan.tokensAfter)}</b> after
          </span>
          <Button onClick={dismiss}>Cancel</Button>
          <Button look="primary" icon={GitFork} disabled={state.phase === 'making' || nothing || isWriting} onClick={() => void make()}>
            {state.phase === 'making' ? 'Making the fork…' : 'Make the fork'}
          </Button>
        </>
      }
    >
      <div className="fork">
        <p className="muted">The original stays as it is. The fork goes on from the entries that stay, as if the rest had never been said.</p>
        <Cut plan={plan} />
        <label className="fork-name">
          <span className="muted">Name</span>
          <input
            className="field grow"
            placeholder="What this branch is for (optional)"
            value={name}
            onChange={(event) => setName(event.target.value)}
          />
        </label>
        {nothing && (
          <p className="notice-line">Nothing goes and nothing changes yet: choose an earlier entry to cut after, or change, drop or append one.</p>
        )}
        {plan.openCalls.length > 0 && (
          <div className="notice-line" role="status">
            <span className="grow">
              {plan.openCalls.length === 1 ? 'One tool call stays' : `${plan.openCalls.length} tool calls stay`} without a result. On export it is
              closed as the agent itself does it.
            </span>
            {plan.closeAt !== undefined && (
              <Button small onClick={() => cutAt(plan.closeAt ?? changes.cut)}>
                Keep the results too
              </Button>
            )}
          </div>
        )}
        {state.phase === 'failed' && (
          <div className="notice-line error" role="alert">
            <span className="grow">The fork was not made: {problemOf(state.error).message} Nothing was changed.</span>
          </div>
        )}
        <EntryEditor rows={rows} commit={commit} stop={stop} changes={changes} onChange={setChanges} onWriting={setIsWriting} />
      </div>
    </Sheet>
  );
}

function Cut({ plan }: { plan: Plan }) {
  const all = plan.stays.tokens + plan.goes.tokens || 1;
  return (
    <div className="fork-cut">
      <div className="fork-bar" aria-hidden>
        <i className="stays" style={{ flexGrow: plan.stays.tokens / all }} />
        {plan.goes.entries > 0 && <i className="goes" style={{ flexGrow: plan.goes.tokens / all }} />}
      </div>
      <div className="fork-sides">
        <span>
          <b>Stays</b> {say.plural(plan.stays.entries, 'entry', 'entries')}, {say.tokens(plan.stays.tokens)}
        </span>
        <span>
          <b>Goes</b> {plan.goes.entries === 0 ? 'nothing' : `${say.plural(plan.goes.entries, 'entry', 'entries')}, ${say.tokens(plan.goes.tokens)}`}
        </span>
      </div>
    </div>
  );
}

function Made({ fork, unchanged }: { fork: Commit; unchanged: boolean }) {
  const agent = agentOf(fork.format);
  const open = () => {
    dismiss();
    go({ view: 'context', commit: fork.id, entry: undefined, stop: undefined });
  };
  return (
    <Sheet
      title="The fork is made"
      onClose={dismiss}
      footer={
        <>
          <Button icon={Download} onClick={() => show({ kind: 'export', commit: fork.id, stop: 'compaction' })}>
            Export
          </Button>
          <Button icon={Play} onClick={() => show({ kind: 'resume', commit: fork.id, agent })}>
            Resume in {agents[agent].name}
          </Button>
          <Button look="primary" autoFocus onClick={open}>
            Open the fork
          </Button>
        </>
      }
    >
      <p>
        <Id id={fork.id} what="commit id" />
      </p>
      <p>
        {unchanged
          ? 'Nothing was cut or changed, so the commit itself is where the branch begins.'
          : fork.summary && <Code text={say.firstLine(fork.summary)} />}
      </p>
      <p className="muted">
        {say.plural(fork.messageCount, 'message')} and {say.tokens(fork.tokenCount)} of its own. The original chain was not touched.
      </p>
    </Sheet>
  );
}

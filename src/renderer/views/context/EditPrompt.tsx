import { GitBranch, Play, RotateCcw, SquareTerminal, Trash2, User } from 'lucide-react';
import { useEffect, useRef, useState } from 'react';
import type { Commit, ContextId, Runtime } from '../../../core/contract/index.js';
import { api } from '../../client';
import { agents, Button, Copyable, describeProblem, findAgent, Input, ProblemLine, TextArea } from '../../parts';
import { type ForkDraft, go, keepForkDraft, notify, openContext, refreshProject, useCommit } from '../../state';

type Step =
  | { readonly phase: 'editing' }
  | { readonly phase: 'working'; readonly what: string }
  /** True if the recorded folder does not exist on this machine, so that the person must name another folder. */
  | { readonly phase: 'folder'; readonly recorded: string }
  | { readonly phase: 'by hand'; readonly command: string }
  | { readonly phase: 'failed'; readonly error: unknown };

/** A prompt as an inline editor. The agent that wrote the context continues the fork, without the number of entries `below`. */
export function EditPrompt({ project, draft, below }: { project: string; draft: ForkDraft; below: number }) {
  const { commit, text, original } = draft;
  const shown = useCommit(project, commit);
  const agent = findAgent(shown.data?.format ?? '');
  const [folder, setFolder] = useState('');
  const field = useRef<HTMLTextAreaElement>(null);
  const { step, run } = useFork(project, draft);
  const keep = (change: Partial<ForkDraft>) => keepForkDraft(project, commit, { ...draft, ...change });
  useFittingHeight(field, text);
  const continueIn = () => void run(`Opening ${agents[agent].name}…`, (fork) => continueFork(fork.id, agent, folder.trim()));
  const disabled = step.phase === 'working' || text.trim() === '';
  return (
    <section className="edit-prompt stack gap-8" aria-label="Edit and fork">
      <EditHead draft={draft} onName={(name) => keep({ name })} />
      <TextArea
        ref={field}
        label="Prompt"
        value={text}
        // The person opened it to type.
        autoFocus
        onChange={(text) => keep({ text })}
        onKeyDown={(event) => {
          event.stopPropagation();
          if (event.key === 'Escape') keep({ open: false });
          if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) continueIn();
        }}
      />
      <Missing step={step} folder={folder} onFolder={setFolder} onContinue={continueIn} />
      <div className="row wrap">
        <Button look="primary" icon={SquareTerminal} disabled={disabled} onClick={continueIn} title="Ctrl+Enter">
          {step.phase === 'working' ? step.what : `Continue in ${agents[agent].name}`}
        </Button>
        <Button icon={Play} label="Run here" disabled={disabled} onClick={() => void run('Forking…', openFork('run'))} />
        <Button icon={GitBranch} label="Keep as branch" disabled={disabled} onClick={() => void run('Forking…', openFork('context'))} />
        <span className="grow" />
        <Button look="plain" icon={RotateCcw} label="Restore the original" disabled={text === original} onClick={() => keep({ text: original })} />
        <Button look="plain" icon={Trash2} label="Discard" onClick={() => discard(project, draft)} />
      </div>
      <p className="muted small">Draft saved. It survives Escape, a reload and a restart.</p>
      {below > 0 && (
        <p className="edit-cut muted small">
          {below === 1 ? '1 entry below leaves' : `${below} entries below leave`} the fork. {below === 1 ? 'It stays' : 'They stay'} on the original.
        </p>
      )}
    </section>
  );
}

function discard(project: string, draft: ForkDraft): void {
  keepForkDraft(project, draft.commit, undefined);
  notify('Discarded the draft', { name: 'Undo', act: () => keepForkDraft(project, draft.commit, draft) });
}

const EditHead = ({ draft, onName }: { draft: ForkDraft; onName: (name: string) => void }) => (
  <header className="row">
    <User size={13} aria-hidden /> <b>User</b>
    <span className="badge">Edit &amp; fork</span>
    <span className="grow" />
    <Input
      label="Name of the branch"
      placeholder="Branch name (optional)"
      value={draft.name}
      onChange={onName}
      onKeyDown={(event) => event.stopPropagation()}
    />
  </header>
);

const openFork = (view: 'context' | 'run') => async (fork: Commit) => {
  go({ view, commit: fork.id, entry: undefined, stop: undefined });
  return undefined;
};

/** Makes the fork of a draft and runs an action on it. Each text is forked only once, so that a second try adds no second branch. */
function useFork(project: string, { commit, key, text, original, name }: ForkDraft) {
  const [step, setStep] = useState<Step>({ phase: 'editing' });
  const made = useRef<{ readonly text: string; readonly fork: Commit }>(undefined);
  const forked = async (): Promise<Commit> => {
    if (made.current?.text === text) return made.current.fork;
    const fork = await api.context.fork({
      id: commit,
      at: key,
      ...(text !== original && { edits: [{ op: 'replace', key, entry: { role: 'user', kind: 'text', text } }] }),
      ...(name.trim() && { summary: name.trim() }),
    });
    made.current = { text, fork };
    void refreshProject();
    return fork;
  };
  const run = async (what: string, act: (fork: Commit) => Promise<Step | undefined>) => {
    setStep({ phase: 'working', what });
    try {
      const next = await act(await forked());
      if (next) return setStep(next);
      keepForkDraft(project, commit, undefined);
    } catch (error) {
      setStep({ phase: 'failed', error });
    }
  };
  return { step, run };
}

/** The problem of the last step: no folder, no terminal, or an error. */
function Missing({ step, folder, onFolder, onContinue }: { step: Step; folder: string; onFolder: (folder: string) => void; onContinue: () => void }) {
  switch (step.phase) {
    case 'failed':
      return <ProblemLine>Cannot fork: {describeProblem(step.error).message} The draft is kept.</ProblemLine>;
    case 'folder':
      return (
        <label className="stack gap-4">
          <span>
            The recorded folder <span className="mono">{step.recorded}</span> does not exist on this machine. Folder to continue in:
          </span>
          <Input
            className="mono"
            // The next step needs this answer.
            autoFocus
            placeholder="/home/me/project"
            value={folder}
            onChange={onFolder}
            onKeyDown={(event) => {
              event.stopPropagation();
              if (event.key === 'Enter' && folder.trim()) onContinue();
            }}
          />
        </label>
      );
    case 'by hand':
      return (
        <div>
          <p>No terminal program was found. Run this command in a terminal:</p>
          <Copyable text={step.command} label="Command" />
        </div>
      );
    default:
      return null;
  }
}

/** Opens a fork with its agent in a terminal. Returns the problem; undefined if the terminal is open. */
async function continueFork(id: ContextId, agent: Runtime, folder: string): Promise<Step | undefined> {
  const where = { id, agent, ...(folder && { cwd: folder }) };
  const planned = await api.export.resume({ ...where, dryRun: true });
  if (!planned.cwdExists) return { phase: 'folder', recorded: planned.cwd };
  const { terminal, command } = await api.export.continue(where);
  if (terminal === null) return { phase: 'by hand', command };
  notify(`Opened ${agents[agent].name} in a terminal`);
  openContext(id);
  return undefined;
}

/** Makes the field as high as its text, up to half of the window. */
function useFittingHeight(field: React.RefObject<HTMLTextAreaElement | null>, text: string): void {
  // biome-ignore lint/correctness/useExhaustiveDependencies: the text decides the height
  useEffect(() => {
    const element = field.current;
    if (!element) return;
    element.style.height = 'auto';
    element.style.height = `${Math.min(element.scrollHeight + 4, innerHeight / 2)}px`;
  }, [field, text]);
}

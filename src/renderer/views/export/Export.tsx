import { ClipboardCopy, Download, FileOutput } from 'lucide-react';
import { useEffect, useState } from 'react';
// Types only: the contract's schemas stay out of the window's bundle.
import type { ContextId, exportFormats, Runtime, Stop } from '../../../core/contract/index.js';
import { api } from '../../client';
import { agentIds, agents, Button, Copyable, problemOf, Sheet, Switch, say } from '../../parts';
import { copy, dismiss, download } from '../../state';

type Format = (typeof exportFormats)[number];

const formats: Record<Format, { name: string; what: string; extension: string; type: string }> = {
  'claude-code-v1': {
    name: 'Claude Code session',
    what: 'A session file that Claude Code resumes.',
    extension: 'jsonl',
    type: 'application/x-ndjson',
  },
  'codex-v1': {
    name: 'Codex session',
    what: 'A rollout that Codex resumes.',
    extension: 'jsonl',
    type: 'application/x-ndjson',
  },
  'gemini-v1': {
    name: 'Gemini CLI session',
    what: 'A session file that Gemini CLI resumes.',
    extension: 'jsonl',
    type: 'application/x-ndjson',
  },
  'pi-v1': { name: 'pi session', what: 'A session file that pi resumes.', extension: 'jsonl', type: 'application/x-ndjson' },
  'anthropic-messages-v1': {
    name: 'Anthropic messages',
    what: 'The messages array, as the API takes it.',
    extension: 'json',
    type: 'application/json',
  },
  'openai-chat-v1': { name: 'OpenAI chat', what: 'The messages array, as chat completions take it.', extension: 'json', type: 'application/json' },
  markdown: { name: 'Markdown', what: 'A document for people.', extension: 'md', type: 'text/markdown' },
};
const formatNames = Object.keys(formats) as Format[];

const tierNames = {
  native: 'as it was recorded',
  translated: 'translated from another format',
  rendered: 'rendered for reading',
  raw: 'raw bytes',
} as const;

type Written = Awaited<ReturnType<typeof api.export.context>>;

/** A context as a file: for an agent, for an API, or for people. */
export function ExportSheet({ commit, stop: given }: { commit: ContextId; stop: Stop }) {
  const [format, setFormat] = useState<Format>('claude-code-v1');
  const [stop, setStop] = useState<'compaction' | 'root'>(given === 'root' ? 'root' : 'compaction');
  const [path, setPath] = useState('');
  const [redact, setRedact] = useState(false);
  const [state, setState] = useState<{ phase: 'asking' | 'writing' } | { phase: 'done'; written: Written } | { phase: 'failed'; error: unknown }>({
    phase: 'asking',
  });
  const ask = (to?: string) => api.export.context({ id: commit, stop, format, ...(redact && { redact }), ...(to && { path: to }) });
  const fileName = `${say.shortId(commit)}.${formats[format].extension}`;

  const write = async () => {
    setState({ phase: 'writing' });
    try {
      setState({ phase: 'done', written: await ask(path.trim()) });
    } catch (error) {
      setState({ phase: 'failed', error });
    }
  };
  const take = async (use: (text: string) => void | Promise<void>) => {
    setState({ phase: 'writing' });
    try {
      const written = await ask();
      await use(written.text ?? '');
      setState({ phase: 'done', written });
    } catch (error) {
      setState({ phase: 'failed', error });
    }
  };
  const busy = state.phase === 'writing';
  return (
    <Sheet
      title={`Export ${say.shortId(commit)}`}
      onClose={dismiss}
      footer={
        <>
          <Button icon={ClipboardCopy} disabled={busy} onClick={() => void take((text) => copy(text, 'Copied the export'))}>
            Copy
          </Button>
          <Button
            {...(path.trim() ? {} : { look: 'primary' })}
            icon={Download}
            disabled={busy}
            onClick={() => void take((text) => download(text, fileName, formats[format].type))}
          >
            Download
          </Button>
        </>
      }
    >
      <div className="export">
        <fieldset>
          <legend className="muted">Format</legend>
          {formatNames.map((name) => (
            <label key={name} className="export-format">
              <input type="radio" name="format" value={name} checked={format === name} onChange={() => setFormat(name)} />
              <span>
                <b>{formats[name].name}</b> <span className="mono muted">{name}</span>
                <br />
                <span className="muted">{formats[name].what}</span>
              </span>
            </label>
          ))}
        </fieldset>
        <Switch
          label="How far back"
          value={stop}
          onChange={setStop}
          options={[
            { value: 'compaction', name: 'As the model had it' },
            { value: 'root', name: 'Full history' },
          ]}
        />
        <label className="export-check">
          <input type="checkbox" checked={redact} onChange={(event) => setRedact(event.target.checked)} />
          Take out secrets, home folders and e-mail addresses
        </label>
        {redact && <Redactions key={`${format} ${stop}`} ask={() => api.export.context({ id: commit, stop, format, redact, dryRun: true })} />}
        <form
          className="path-form"
          onSubmit={(event) => {
            event.preventDefault();
            void write();
          }}
        >
          <input
            className="field grow mono"
            placeholder={`/path/to/${fileName}`}
            aria-label="Path of the new file"
            value={path}
            onChange={(event) => setPath(event.target.value)}
          />
          <Button type="submit" icon={FileOutput} disabled={busy || !path.trim()}>
            Write the file
          </Button>
        </form>
        <p className="muted">A file that is there already is never overwritten.</p>
        {state.phase === 'writing' && <p role="status">Writing…</p>}
        {state.phase === 'failed' && (
          <p className="notice-line error" role="alert">
            Nothing was written: {problemOf(state.error).message}
          </p>
        )}
        {state.phase === 'done' && (
          <div role="status" className="export-done">
            <p>
              {say.bytes(state.written.bytes)} of {formats[format]?.name ?? state.written.format}, {tierNames[state.written.tier]}
              {state.written.redactions?.length ? ', but for what was taken out' : ''}.
            </p>
            {state.written.path && <Copyable text={state.written.path} label="Path" />}
          </div>
        )}
      </div>
    </Sheet>
  );
}

const kindNames = { secret: 'secret', path: 'home folder', email: 'e-mail address' } as const;

/** What would be taken out, before anything is written. What it is called by is all that is shown: a secret stays one here too. */
function Redactions({ ask }: { ask: () => Promise<Written> }) {
  const [found, setFound] = useState<Written['redactions'] | { error: unknown }>();
  // biome-ignore lint/correctness/useExhaustiveDependencies: the key of this part changes with what is asked
  useEffect(() => {
    let isCurrent = true;
    ask().then(
      ({ redactions }) => isCurrent && setFound(redactions ?? []),
      (error: unknown) => isCurrent && setFound({ error }),
    );
    return () => {
      isCurrent = false;
    };
  }, []);
  if (found === undefined) return <p role="status">Looking for secrets…</p>;
  if (!Array.isArray(found))
    return (
      <p className="notice-line error" role="alert">
        Secrets could not be looked for: {problemOf('error' in found ? found.error : found).message}
      </p>
    );
  if (found.length === 0) return <p className="muted">Nothing was found that would be taken out.</p>;
  return (
    <ul className="export-redactions" aria-label="What is taken out">
      {found.map(({ placeholder, kind, count }) => (
        <li key={placeholder}>
          <span className="mono">{placeholder}</span>{' '}
          <span className="muted">
            {kindNames[kind]}, {count === 1 ? 'once' : `${count} times`}
          </span>
        </li>
      ))}
    </ul>
  );
}

/** Puts the context where an agent looks for its sessions, and says how to go on there. */
export function ResumeSheet({ commit, agent: given }: { commit: ContextId; agent: Runtime }) {
  const [agent, setAgent] = useState(given);
  const [cwd, setCwd] = useState('');
  const [state, setState] = useState<
    { phase: 'asking' | 'writing' } | { phase: 'done'; made: Awaited<ReturnType<typeof api.export.resume>> } | { phase: 'failed'; error: unknown }
  >({
    phase: 'asking',
  });
  const make = async () => {
    setState({ phase: 'writing' });
    try {
      setState({ phase: 'done', made: await api.export.resume({ id: commit, agent, ...(cwd.trim() && { cwd: cwd.trim() }) }) });
    } catch (error) {
      setState({ phase: 'failed', error });
    }
  };
  const done = state.phase === 'done' ? state.made : undefined;
  return (
    <Sheet
      title={`Resume in ${agents[agent].name}`}
      onClose={dismiss}
      footer={
        done ? (
          <>
            <Button onClick={dismiss}>Close</Button>
            <Button look="primary" icon={ClipboardCopy} autoFocus onClick={() => void copy(done.command, 'Copied the command')}>
              Copy the command
            </Button>
          </>
        ) : (
          <>
            <Button onClick={dismiss}>Cancel</Button>
            <Button look="primary" icon={FileOutput} disabled={state.phase === 'writing'} onClick={() => void make()}>
              {state.phase === 'writing' ? 'Writing the session…' : 'Write the session'}
            </Button>
          </>
        )
      }
    >
      {done ? (
        <div className="export">
          <p>The session is where {agents[agent].name} looks for it. Run this in a terminal:</p>
          <Copyable text={done.command} label="Command" />
          <Copyable text={done.path} label="File" />
        </div>
      ) : (
        <div className="export">
          <p>
            Writes <b className="mono">{say.shortId(commit)}</b> as a new session into {agents[agent].name}’s own folder. The agent then goes on from
            {agent === given ? ' exactly here' : ' here, as far as its own format can hold what was said'}. No file is overwritten.
          </p>
          {agentIds.length > 1 && (
            <label className="export-cwd">
              <span className="muted">Agent</span>
              <select className="field" value={agent} onChange={(event) => setAgent(event.target.value as Runtime)}>
                {agentIds.map((id) => (
                  <option key={id} value={id}>
                    {agents[id].name}
                  </option>
                ))}
              </select>
            </label>
          )}
          <label className="export-cwd">
            <span className="muted">Working directory</span>
            <input
              className="field mono"
              placeholder="the one of the original session"
              value={cwd}
              onChange={(event) => setCwd(event.target.value)}
            />
          </label>
          {state.phase === 'failed' && (
            <p className="notice-line error" role="alert">
              Nothing was written: {problemOf(state.error).message}
            </p>
          )}
        </div>
      )}
    </Sheet>
  );
}

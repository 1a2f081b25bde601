import { Braces, Radio, Terminal } from 'lucide-react';
import { useMemo, useState } from 'react';
import type { ContextId, Request, RequestRow } from '../../../core/contract/index.js';
import { api } from '../../client';
import { Answer, Button, Empty, Fold, ProblemLine, Proof, problemOf, Switch, say } from '../../parts';
import { copy, go, useNavigation, useQuery } from '../../state';
import { NoCommit, ToCommit } from '../NoCommit';
import { curlOf, isMissing, type Part, type ShownMessage, shownBody } from './body';
import { Calls } from './Calls';
import { Changes } from './Changes';
import { Fill } from './Fill';
import { Parts } from './Parts';

const modes = [
  { value: 'calls', name: 'Calls', hint: 'The calls behind a commit' },
  { value: 'parts', name: 'Prompts and tools', hint: 'The system prompts and tool sets of the whole project' },
] as const;

/** The calls behind a commit, one of them whole; or the system prompts and tool sets of the project's calls. */
export function RequestView({ project }: { project: string }) {
  const { commit, part } = useNavigation(({ route }) => route);
  return (
    <div className="request-view">
      <div className="request-modes">
        <Switch
          label="What of the requests"
          value={part === undefined ? 'calls' : 'parts'}
          options={modes}
          onChange={(mode) => go({ part: mode === 'parts' ? 'latest' : undefined })}
        />
      </div>
      {part !== undefined ? (
        <Parts project={project} />
      ) : commit ? (
        <OfCommit key={`${project} ${commit}`} project={project} commit={commit} />
      ) : (
        <NoCommit title="Every answer had a request" icon={Radio}>
          System prompt, tools and messages as they went over the wire, with the proof of it.
        </NoCommit>
      )}
    </div>
  );
}

function OfCommit({ project, commit }: { project: string; commit: ContextId }) {
  const chosen = useNavigation(({ route }) => route.call);
  const series = useQuery(`${project} ${commit} series`, (signal) => api.request.series({ id: commit, stop: 'root' }, { signal }));
  const calls = useQuery(`${project} ${commit} calls`, (signal) => api.request.list({ id: commit, stop: 'root' }, { signal }));
  return (
    <Answer
      query={calls}
      what="The calls of this context cannot be listed"
      loading="Proving the calls"
      stillWorks="The chain and other commits still work."
      actions={<ToCommit />}
      lines={12}
    >
      {(rows) => {
        const at = rows.findIndex((row) => row.requestId === chosen);
        const place = at >= 0 ? at : lastOf(rows, commit);
        const row = rows[place];
        if (!row)
          return (
            <Empty title="No call to a model" picture={<Radio size={48} strokeWidth={1} />}>
              Nothing in this context is an answer of a model.
            </Empty>
          );
        return (
          <section className="request" aria-label="Requests">
            <div className="fill">
              {series.status === 'done' && <Fill series={series.data} chosen={row} onChoose={(call) => go({ call })} />}
              {series.status === 'failed' && <ProblemLine>What filled the window cannot be told: {problemOf(series.error).message}</ProblemLine>}
            </div>
            <Calls rows={rows} place={place} onChoose={(call) => go({ call })} />
            <OneCall key={row.requestId} project={project} row={row} number={place + 1} rows={rows} before={rows[place - 1]} />
          </section>
        );
      }}
    </Answer>
  );
}

/** The last call of the commit itself, else the last of all. */
function lastOf(rows: readonly RequestRow[], commit: ContextId): number {
  const own = rows.findLastIndex((row) => row.commit === commit);
  return own >= 0 ? own : rows.length - 1;
}

function OneCall({
  project,
  row,
  number,
  rows,
  before,
}: {
  project: string;
  row: RequestRow;
  number: number;
  rows: readonly RequestRow[];
  before: RequestRow | undefined;
}) {
  const query = useQuery(`${project} ${row.requestId}`, (signal) => api.request.get({ requestId: row.requestId }, { signal }));
  return (
    <div className="request-one">
      <header className="request-head">
        <h2>Call {number}</h2>
        <span className="mono muted">{row.model ?? 'model not recorded'}</span>
        <Proof proof={row.proof} />
        <span className="grow" />
        {row.replyKey && row.commit && (
          <button
            type="button"
            className="link-button"
            onClick={() => go({ view: 'context', commit: row.commit ?? undefined, entry: row.replyKey ?? undefined })}
          >
            its answer in the context
          </button>
        )}
      </header>
      <p className="request-facts muted">
        {say.instant(row.at)} · {say.plural(row.messageCount, 'message')} · {usage(row)}
        {row.agentId && ` · subagent ${row.agentId}`}
      </p>
      {row.problem && query.status !== 'failed' && <p className="notice-line">{row.problem}</p>}
      {row.commit === null && (
        <p className="muted request-missing">
          {row.source === 'wire'
            ? 'Seen on the wire; no conversation that is imported holds its answer. Agents make such calls for themselves, for a title or a summary; else import the session.'
            : 'No commit holds its answer, nor what it followed.'}
        </p>
      )}
      {/* What cannot be rebuilt cannot be compared either: that it cannot is said once. */}
      {query.status !== 'failed' && (
        <Changes project={project} row={row} rows={rows} before={before} missing={query.status === 'done' ? query.data.missing : []} />
      )}
      <Answer
        query={query}
        what="This call cannot be rebuilt"
        loading="Rebuilding the request"
        stillWorks="The other calls can be looked at."
        lines={16}
      >
        {(request) => <Body request={request} model={row.model} />}
      </Answer>
    </div>
  );
}

const usage = ({ tokens }: RequestRow): string => {
  const parts = [
    tokens.input !== null && `${say.compact(tokens.input)} in`,
    tokens.cacheRead !== null && `${say.compact(tokens.cacheRead)} from the cache`,
    tokens.cacheWrite !== null && `${say.compact(tokens.cacheWrite)} into the cache`,
    tokens.output !== null && `${say.compact(tokens.output)} out`,
  ].filter((part) => part !== false);
  return parts.length ? `${parts.join(', ')} (as the provider counted)` : 'usage not recorded';
};

function Body({ request, model }: { request: Request; model: string | null }) {
  const body = useMemo(() => shownBody(request), [request]);
  const [words, setWords] = useState('');
  const wanted = words.trim().toLowerCase();
  const holds = (part: Part): boolean => wanted === '' || `${part.title}\n${part.text}`.toLowerCase().includes(wanted);
  const messages = body.messages
    .map((message, at) => ({ message, at, parts: message.parts.filter(holds) }))
    .filter(({ parts }) => parts.length > 0 || wanted === '');
  const { tokens } = body;
  const isUnknown = (part: 'system' | 'tools'): boolean => body[part].length === 0 && isMissing(part, request.missing);
  const recorded = (part: 'system' | 'tools') => (isUnknown(part) ? null : tokens[part]);
  const none = (part: 'system' | 'tools') => (isUnknown(part) ? 'not recorded' : 'none');
  return (
    <>
      <Shares
        shares={[
          ['System prompt', recorded('system'), 'system'],
          ['Tools', recorded('tools'), 'tool'],
          ['Messages', tokens.messages, 'user'],
        ]}
      />
      <div className="request-tools">
        <input
          className="field grow"
          type="search"
          aria-label="Search in this request"
          placeholder="Search in this request"
          value={words}
          onChange={(event) => setWords(event.target.value)}
        />
        <Button icon={Braces} onClick={() => void copy(JSON.stringify(request.body, null, 2), 'Copied the body')}>
          Copy JSON
        </Button>
        <Button
          icon={Terminal}
          title="Names an environment variable for the key"
          onClick={() => void copy(curlOf({ ...request, model }), 'Copied the command')}
        >
          Copy as curl
        </Button>
      </div>
      {request.missing.length > 0 && (
        <p className="muted request-missing">
          Not recorded, so not shown: <span className="mono">{request.missing.join(', ')}</span>
        </p>
      )}
      {request.recordedDigest && (
        <p className="muted request-missing">
          Digest <span className="mono">{request.recordedDigest.slice(0, 16)}…</span>{' '}
          {request.digest === request.recordedDigest ? 'recorded and rebuilt alike' : 'recorded; the rebuilt one differs'}
        </p>
      )}
      <Section
        name="System prompt"
        tokens={tokens.system}
        parts={body.system.filter(holds)}
        kind="system"
        open={wanted !== ''}
        none={
          wanted !== ''
            ? undefined
            : body.leading > 0
              ? `in the first ${body.leading === 1 ? 'message' : `${body.leading} messages`}`
              : none('system')
        }
      />
      <Section
        name={isUnknown('tools') ? 'Tools' : `Tools (${body.tools.length})`}
        tokens={tokens.tools}
        parts={body.tools.filter(holds)}
        kind="tool"
        open={wanted !== ''}
        none={wanted === '' ? none('tools') : undefined}
      />
      <section aria-label="Messages">
        <h3 className="request-title">
          Messages ({body.messages.length}){' '}
          <span className="muted">{say.tokens(body.messages.reduce((total, message) => total + message.tokens, 0))}</span>
        </h3>
        <Messages rows={messages} />
      </section>
      <section aria-label="Parameters">
        <h3 className="request-title">Parameters</h3>
        <dl className="facts">
          {body.parameters.map(([name, value]) => (
            <div key={name}>
              <dt className="mono">{name}</dt>
              <dd>
                <pre className="verbatim">{value}</pre>
              </dd>
            </div>
          ))}
        </dl>
      </section>
    </>
  );
}

/** How many messages are drawn at first: the newest are what one looks for. */
const drawnAtFirst = 60;

function Messages({ rows }: { rows: readonly { message: ShownMessage; at: number; parts: readonly Part[] }[] }) {
  const [drawn, setDrawn] = useState(drawnAtFirst);
  const from = Math.max(0, rows.length - drawn);
  return (
    <>
      {from > 0 && (
        <Button small onClick={() => setDrawn(drawn * 4)}>
          Show {say.exact(from)} earlier
        </Button>
      )}
      <ol className="wire">
        {rows.slice(from).map(({ message, at, parts }) => (
          <li key={at} className={`wire-message role-${message.role}`}>
            <header>
              <span className="muted wire-number">{at + 1}</span> <b>{message.role}</b>
              <span className="grow" />
              <span className="muted">{say.tokens(message.tokens)}</span>
            </header>
            {parts.map((part, n) => (
              // biome-ignore lint/suspicious/noArrayIndexKey: blocks of a message that does not change
              <PartView key={n} part={part} />
            ))}
          </li>
        ))}
      </ol>
    </>
  );
}

const hueOf = { text: '', thinking: 'thinking', call: 'tool', result: 'tool', image: 'user', reminder: 'system', other: 'system' } as const;

function PartView({ part }: { part: Part }) {
  const hue = hueOf[part.kind];
  return (
    <div className={`wire-part${hue ? ` kind-${hue}` : ''}`} data-kind={part.kind}>
      {part.kind !== 'text' && <span className="wire-kind">{part.title}</span>}
      {part.cached && (
        <span className="badge" title="The provider was asked to keep everything up to here">
          cache mark
        </span>
      )}
      <Fold text={part.text} lines={part.kind === 'result' || part.kind === 'reminder' ? 6 : 20}>
        {(shown) => <pre className="verbatim">{shown}</pre>}
      </Fold>
    </div>
  );
}

function Section(props: { name: string; tokens: number; parts: readonly Part[]; kind: string; open: boolean; none: string | undefined }) {
  const { name, tokens, parts, kind, open, none } = props;
  return (
    <section aria-label={name}>
      <h3 className="request-title">
        {name} <span className="muted">{parts.length ? say.tokens(tokens) : none}</span>
      </h3>
      {parts.map((part) => (
        <details key={part.title} className={`request-part kind-${kind}`} open={open}>
          <summary>
            <span className="ellipsis grow">{part.title}</span>
            {part.cached && <span className="badge">cache mark</span>}
            <span className="muted">{say.tokens(part.tokens)}</span>
          </summary>
          <pre className="verbatim">{part.text}</pre>
        </details>
      ))}
    </section>
  );
}

/** Where the tokens of the request went, as a bar and in words; null is "not recorded". */
function Shares({ shares }: { shares: readonly (readonly [name: string, tokens: number | null, hue: string])[] }) {
  const total = shares.reduce((sum, [, tokens]) => sum + (tokens ?? 0), 0);
  const words = (tokens: number | null) => (tokens === null ? 'not recorded' : tokens === 0 ? 'none' : say.tokens(tokens));
  return (
    <div className="shares" role="img" aria-label={shares.map(([name, tokens]) => `${name} ${words(tokens)}`).join(', ')}>
      <div className="shares-bar" aria-hidden>
        {shares.map(
          ([name, tokens, hue]) =>
            total > 0 && tokens !== null && tokens > 0 && <i key={name} className={`kind-${hue}`} style={{ width: `${(tokens / total) * 100}%` }} />,
        )}
      </div>
      <p className="shares-words" aria-hidden>
        {shares.map(([name, tokens, hue]) => (
          <span key={name} className={tokens === null ? 'faint' : `kind-${hue}`}>
            <i className="dot" /> {name} {words(tokens)}
          </span>
        ))}
      </p>
    </div>
  );
}

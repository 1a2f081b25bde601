import { Braces, Terminal } from 'lucide-react';
import { useMemo, useState } from 'react';
import type { Request } from '../../../core/contract/index.js';
import { Button, Estimate, FoldedText, SearchField, say } from '../../parts';
import { copy } from '../../state';
import { type BodyPart, curlOf, isMissing, type ShownBody, type ShownMessage, shownBody } from './body';

/** A request in full: shares of tokens, system prompt, tools, messages and parameters, with a search. */
export function CallBody({ request, model }: { request: Request; model: string | null }) {
  const body = useMemo(() => shownBody(request), [request]);
  const [search, setSearch] = useState('');
  const wanted = search.trim().toLowerCase();
  const matches = (part: BodyPart): boolean => wanted === '' || `${part.title}\n${part.text}`.toLowerCase().includes(wanted);
  const messages = body.messages
    .map((message, at) => ({ message, at, parts: message.parts.filter(matches) }))
    .filter(({ parts }) => parts.length > 0 || wanted === '');
  const { tokens } = body;
  const isUnknown = (part: 'system' | 'tools'): boolean => body[part].length === 0 && isMissing(part, request.missing);
  const recorded = (part: 'system' | 'tools') => (isUnknown(part) ? null : tokens[part]);
  const noneText = (part: 'system' | 'tools') => (isUnknown(part) ? 'not recorded' : 'none');
  return (
    <>
      <Shares
        shares={[
          ['System prompt', recorded('system'), 'system'],
          ['Tools', recorded('tools'), 'tool'],
          ['Messages', tokens.messages, 'user'],
        ]}
      />
      <div className="request-tools row">
        <SearchField className="grow" label="Search in this request" value={search} onChange={setSearch} />
        <Button icon={Braces} label="Copy JSON" onClick={() => void copy(JSON.stringify(request.body, null, 2), 'Copied the body')} />
        <Button
          icon={Terminal}
          label="Copy as curl"
          title="The command reads the key from an environment variable"
          onClick={() => void copy(curlOf({ ...request, model }), 'Copied the command')}
        />
      </div>
      {request.missing.length > 0 && (
        <p className="muted request-missing">
          Not recorded: <span className="mono">{request.missing.join(', ')}</span>
        </p>
      )}
      {request.recordedDigest && (
        <p className="muted request-missing">
          Digest <span className="mono">{request.recordedDigest.slice(0, 16)}…</span>:{' '}
          {request.digest === request.recordedDigest ? 'matches the reconstructed request' : 'does not match the reconstructed request'}
        </p>
      )}
      {(['system', 'tools'] as const).map((part) => (
        <Section
          key={part}
          name={part === 'system' ? 'System prompt' : isUnknown('tools') ? 'Tools' : `Tools (${body.tools.length})`}
          tokens={tokens[part]}
          parts={body[part].filter(matches)}
          kind={part === 'system' ? 'system' : 'tool'}
          open={wanted !== ''}
          none={wanted === '' ? (part === 'system' && leadingText(body)) || noneText(part) : undefined}
        />
      ))}
      <section aria-label="Messages">
        <h3 className="request-title">
          Messages ({body.messages.length}) <Estimate className="muted" of={body.messages.reduce((total, message) => total + message.tokens, 0)} />
        </h3>
        <Messages rows={messages} />
      </section>
      <Parameters parameters={body.parameters} />
    </>
  );
}

/** The position of the system prompt, if the provider has no separate field for it. */
const leadingText = ({ leading }: ShownBody): string | undefined =>
  leading === 0 ? undefined : `in the first ${leading === 1 ? 'message' : `${leading} messages`}`;

const Parameters = ({ parameters }: Pick<ShownBody, 'parameters'>) => (
  <section aria-label="Parameters">
    <h3 className="request-title">Parameters</h3>
    <dl className="facts">
      {parameters.map(([name, value]) => (
        <div key={name}>
          <dt className="mono">{name}</dt>
          <dd>
            <pre className="verbatim">{value}</pre>
          </dd>
        </div>
      ))}
    </dl>
  </section>
);

function Section(props: { name: string; tokens: number; parts: readonly BodyPart[]; kind: string; open: boolean; none: string | undefined }) {
  const { name, tokens, parts, kind, open, none } = props;
  return (
    <section aria-label={name}>
      <h3 className="request-title">
        {name} <span className="muted">{parts.length ? <Estimate of={tokens} /> : none}</span>
      </h3>
      {parts.map((part) => (
        <PartDetails key={part.title} {...part} kind={kind} open={open} />
      ))}
    </section>
  );
}

interface PartDetailsProps extends Pick<BodyPart, 'title' | 'text' | 'tokens'> {
  readonly kind: string;
  readonly open: boolean;
  readonly cached?: boolean;
}

/** A part of a system prompt, or a tool, folded. */
export const PartDetails = ({ title, text, tokens, kind, open, cached = false }: PartDetailsProps) => (
  <details className={`request-part kind-${kind}`} open={open}>
    <summary className="row">
      <span className="ellipsis grow">{title}</span>
      {cached && <span className="badge">cache breakpoint</span>}
      <Estimate className="muted" of={tokens} />
    </summary>
    <pre className="verbatim">{text}</pre>
  </details>
);

const drawnAtFirst = 60;

/** The messages of a request, in order. A button loads the earlier ones. */
function Messages({ rows }: { rows: readonly { message: ShownMessage; at: number; parts: readonly BodyPart[] }[] }) {
  const [drawn, setDrawn] = useState(drawnAtFirst);
  const from = Math.max(0, rows.length - drawn);
  return (
    <>
      {from > 0 && <Button small label={`Show ${say.plural(from, 'earlier message')}`} onClick={() => setDrawn(drawn * 4)} />}
      <ol className="wire">
        {rows.slice(from).map(({ message, at, parts }) => (
          <li key={at} className={`wire-message role-${message.role}`}>
            <header className="row small">
              <span className="muted wire-number">{at + 1}</span> <b>{message.role}</b>
              <span className="grow" />
              <Estimate className="muted" of={message.tokens} />
            </header>
            {parts.map((part, n) => (
              // biome-ignore lint/suspicious/noArrayIndexKey: the message does not change
              <PartView key={n} part={part} />
            ))}
          </li>
        ))}
      </ol>
    </>
  );
}

const hueOf = { text: '', thinking: 'thinking', call: 'tool', result: 'tool', image: 'user', reminder: 'system', other: 'system' } as const;

function PartView({ part }: { part: BodyPart }) {
  const hue = hueOf[part.kind];
  return (
    <div className={`wire-part${hue ? ` kind-${hue}` : ''}`} data-kind={part.kind}>
      {part.kind !== 'text' && <span className="wire-kind">{part.title}</span>}
      {part.cached && (
        <span className="badge" title="The request asks the provider to cache everything up to here">
          cache breakpoint
        </span>
      )}
      <FoldedText text={part.text} lines={part.kind === 'result' || part.kind === 'reminder' ? 6 : 20} />
    </div>
  );
}

/** How the tokens of a request are distributed, as a bar and as text; null means not recorded. */
export function Shares({ shares }: { shares: readonly (readonly [name: string, tokens: number | null, hue: string])[] }) {
  const total = shares.reduce((sum, [, tokens]) => sum + (tokens ?? 0), 0);
  const tokensOrNone = (tokens: number | null) => (tokens === null ? 'not recorded' : tokens === 0 ? 'none' : say.tokens(tokens));
  return (
    <div className="shares" role="img" aria-label={shares.map(([name, tokens]) => `${name} ${tokensOrNone(tokens)}`).join(', ')}>
      <div className="shares-bar" aria-hidden>
        {shares.map(
          ([name, tokens, hue]) =>
            total > 0 && tokens !== null && tokens > 0 && <i key={name} className={`kind-${hue}`} style={{ width: `${(tokens / total) * 100}%` }} />,
        )}
      </div>
      <p className="shares-words wrap small" aria-hidden>
        {shares.map(([name, tokens, hue]) => (
          <span key={name} className={tokens === null ? 'faint' : `kind-${hue}`} title={tokens === null ? 'Not recorded in the request' : undefined}>
            <i className="dot" /> {name} {tokens ? <Estimate of={tokens} /> : tokensOrNone(tokens)}
          </span>
        ))}
      </p>
    </div>
  );
}

import { ChevronRight, CircleAlert } from 'lucide-react';
import { memo, type ReactNode, useEffect, useMemo, useState } from 'react';
import type { ArtifactRef, Entry, ToolClass } from '../../core/contract/index.js';
import { api } from '../client';
import { bytesIn, useQuery } from '../state';
import { Ansi, commandOf } from './Ansi';
import { Button } from './buttons';
import { Code } from './Code';
import { When } from './controls';
import { basis } from './Estimate';
import { Fold, FoldedText, useIsSought } from './Fold';
import { languageOfPath } from './highlight';
import { familyIcons, kindFamily, kindIcons, markHints, namedMarks, speaker } from './kinds';
import { Markdown } from './Markdown';
import { bytes, compact, exact, firstLine } from './numbers';
import { describeProblem } from './problem';
import { type EditedText, editsOf, isRecord, jsonInLines, leadOf, pathIn, showValue } from './tools';

/** The header of an entry: speaker, time, tokens. `actions` appear at its end on hover. */
function Head(props: { entry: Entry; name: ReactNode; lead?: string | undefined; actions?: ReactNode; error?: boolean }) {
  const { entry, name, lead, actions, error } = props;
  const Glyph = error ? CircleAlert : (kindIcons[entry.kind] ?? familyIcons[kindFamily(entry)]);
  return (
    <header className="entry-head row small">
      <Glyph size={13} aria-hidden />
      <span className="entry-name">{name}</span>
      {lead && <span className="mono ellipsis">{lead}</span>}
      <span className="grow" />
      {namedMarks(entry.marks).map(
        ({ mark, name: words }) =>
          mark !== entry.toolName && (
            <span key={mark} className="entry-mark" title={markHints[mark]}>
              {words}
            </span>
          ),
      )}
      {error && <span className="badge error-badge">failed</span>}
      <span className="entry-actions">{actions}</span>
      {entry.at && <When at={entry.at} className="entry-time" />}
      <span className="entry-tokens" title={`${basis.estimated}: about ${exact(entry.tokens)} tokens`}>
        ≈ {compact(entry.tokens)}
      </span>
    </header>
  );
}

/** An entry: text, thinking, an image, a summary, an event, or a tool result without its call. */
export const EntryView = memo(function EntryView({ entry, actions }: { entry: Entry; actions?: ReactNode }) {
  const family = kindFamily(entry);
  const error = entry.isError ?? false;
  const command = entry.role === 'user' && entry.kind === 'text' ? commandOf(entry.text ?? '') : undefined;
  const body = () => {
    switch (entry.kind) {
      case 'thinking':
        return <Thinking entry={entry} />;
      case 'image':
        return entry.media ? (
          <Picture artifact={entry.media.artifactRef} mediaType={entry.media.mediaType} />
        ) : (
          <p className="muted">The image was not recorded.</p>
        );
      case 'tool_call':
        return <ToolInput tool={entry.toolClass} input={entry.arguments} />;
      case 'tool_result':
        return <Output entry={entry} />;
      case 'event':
        return <Event entry={entry} />;
      case 'summary':
        return <Fold text={entry.text ?? ''}>{(shown) => <Markdown text={shown} />}</Fold>;
      case 'text':
        return command?.kind === 'command' ? (
          <p className="command">
            <code>{command.text}</code>
          </p>
        ) : command ? (
          command.text === '' ? (
            <p className="muted">The command printed nothing.</p>
          ) : (
            <Printed text={command.text} />
          )
        ) : isWrapping(entry) ? (
          <FoldedText text={entry.text ?? ''} lines={8} />
        ) : (
          <Markdown text={entry.text ?? ''} />
        );
    }
  };
  const name = nameOf(entry);
  return (
    <article
      className={`entry kind-${family} entry-${entry.kind} role-${entry.role}${error ? ' failed' : ''}`}
      aria-label={`${name}, about ${exact(entry.tokens)} tokens`}
    >
      <Head entry={entry} name={name} actions={actions} error={error} />
      <div className="entry-body">{body()}</div>
    </article>
  );
});

interface ToolViewProps {
  readonly call: Entry;
  /** Undefined while it loads, null if the context has no result. */
  readonly result: Entry | null | undefined;
  readonly noResult?: string;
  readonly actions?: ReactNode;
}

/** A tool call and its result, as one block. */
export const ToolView = memo(function ToolView({ call, result, noResult, actions }: ToolViewProps) {
  const error = result?.isError ?? false;
  const tool = call.toolName ?? 'Tool';
  const lead = leadOf(call.toolClass, call.arguments);
  return (
    <article
      className={`entry kind-tool entry-tool${error ? ' failed' : ''}`}
      aria-label={`${tool} call${error ? ', failed' : ''}, about ${exact(call.tokens + (result?.tokens ?? 0))} tokens`}
    >
      <Head entry={{ ...call, tokens: call.tokens + (result?.tokens ?? 0) }} name={tool} lead={lead} actions={actions} error={error} />
      <div className="entry-body">
        <ToolInput tool={call.toolClass} input={call.arguments} lead={lead} />
        {result === undefined ? (
          <div className="output-frame" />
        ) : result === null ? (
          <p className="no-result">{noResult ?? 'No result: the conversation ends before the tool answered.'}</p>
        ) : (
          <Output entry={result} />
        )}
      </div>
    </article>
  );
});

function nameOf(entry: Entry): string {
  const { kind, toolName } = entry;
  if (kind === 'event' && toolName) return eventName(toolName);
  if (kind === 'tool_call') return toolName ?? 'Tool';
  return kind === 'tool_result' ? `Result${toolName ? ` of ${toolName}` : ''}` : speaker(entry);
}

/** Turns `api_error` into "API error". */
const eventName = (name: string): string => (name.slice(0, 1).toUpperCase() + name.slice(1).replaceAll(/[_-]/g, ' ')).replace(/^Api\b/, 'API');

/** An event of the runtime: its text, if it differs from its name, and its recorded data. */
function Event({ entry }: { entry: Entry }) {
  const words = entry.text === entry.toolName ? '' : (entry.text ?? '');
  const facts = entry.result === undefined ? '' : showValue(entry.result);
  const text = [words, facts].filter(Boolean).join('\n');
  return text === '' ? null : <FoldedText text={text} />;
}

const Printed = ({ text }: { text: string }) => (
  <Fold text={text}>
    {(shown) => (
      <pre className="output">
        <Ansi text={shown} />
      </pre>
    )}
  </Fold>
);

/** Text added by the agent, or a tagged command. It is not prose, so it is shown as plain text. */
const isWrapping = ({ marks = [], role }: Entry): boolean => role === 'system' || marks.includes('meta') || marks.includes('command');

function Thinking({ entry }: { entry: Entry }) {
  const [unfolded, setOpen] = useState(false);
  const open = useIsSought(entry.text ?? '') || unfolded;
  if (!entry.text) {
    return (
      <p className="muted">
        {entry.marks?.includes('redacted') ? 'Encrypted thinking. Only the provider can read it.' : 'The text of this thinking was not recorded.'}
      </p>
    );
  }
  return (
    <>
      <button type="button" className="thinking-toggle row muted" aria-expanded={open} onClick={() => setOpen(!open)}>
        <ChevronRight size={13} aria-hidden className={open ? 'turned' : undefined} />
        {open ? 'Hide' : <span className="ellipsis">{firstLine(entry.text)}</span>}
      </button>
      {open && <Markdown text={entry.text} />}
    </>
  );
}

/** A tool result, folded after 20 lines. JSON on one line can be shown formatted or as sent. */
function Output({ entry }: { entry: Entry }) {
  const [asSent, setAsSent] = useState(false);
  const text = entry.text ?? (entry.result === undefined ? '' : showValue(entry.result));
  const set = useMemo(() => jsonInLines(text), [text]);
  if (entry.media) return <Picture artifact={entry.media.artifactRef} mediaType={entry.media.mediaType} />;
  if (text.trim() === '') return <p className="muted output-empty">The tool answered without text.</p>;
  return (
    <>
      <Printed text={set === undefined || asSent ? text : set} />
      {set !== undefined && (
        <button type="button" className="fold inline-row muted small" aria-pressed={asSent} onClick={() => setAsSent(!asSent)}>
          {asSent ? 'Format JSON' : 'Show as sent'}
        </button>
      )}
    </>
  );
}

/** The input of a call: as a diff, a script, a file, or field by field. */
function ToolInput({ tool, input, lead }: { tool: ToolClass | undefined; input: unknown; lead?: string | undefined }) {
  const edits = editsOf(tool, input);
  if (edits) return edits.map((edit) => <EditView key={`${edit.removed.join('\n')}\n→\n${edit.added.join('\n')}`} edit={edit} />);
  if (!isRecord(input))
    return input === undefined || input === null ? null : <Fold text={showValue(input)}>{(shown) => <Code text={shown} language="json" />}</Fold>;
  if (tool === 'shell' && typeof input.command === 'string') {
    const { command, description } = input;
    const told = command === lead;
    return (
      <>
        {typeof description === 'string' && <p className="muted">{description}</p>}
        {!told && <Fold text={command}>{(shown) => <Code text={shown} language="bash" />}</Fold>}
      </>
    );
  }
  if (tool === 'write' && typeof input.content === 'string') {
    return <Fold text={input.content}>{(shown) => <Code text={shown} language={languageOfPath(pathIn(input) ?? '')} />}</Fold>;
  }
  const rest = Object.entries(input).filter(([, value]) => value !== lead);
  if (rest.length === 0) return null;
  return (
    <dl className="fields">
      {rest.map(([name, value]) => (
        <div key={name}>
          <dt className="mono">{name}</dt>
          <dd>
            <FoldedText text={showValue(value)} lines={8} />
          </dd>
        </div>
      ))}
    </dl>
  );
}

function EditView({ edit }: { edit: EditedText }) {
  const lines = [
    ...edit.before.slice(-2).map((text) => ({ sign: ' ', text })),
    ...edit.removed.map((text) => ({ sign: '-', text })),
    ...edit.added.map((text) => ({ sign: '+', text })),
    ...edit.after.slice(0, 2).map((text) => ({ sign: ' ', text })),
  ];
  return (
    <Fold text={lines.map(({ sign, text }) => sign + text).join('\n')}>
      {(shown) => (
        <pre className="edit">
          {shown.split('\n').map((line, n) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: the lines never change
            <span key={n} className={line[0] === '+' ? 'added' : line[0] === '-' ? 'removed' : undefined}>
              {line}
              {'\n'}
            </span>
          ))}
        </pre>
      )}
    </Fold>
  );
}

/** Image types that a browser draws without running code. Other media are named but not shown. */
const drawable = new Set(['image/png', 'image/jpeg', 'image/gif', 'image/webp']);

/** An image from the store, loaded as a blob. It makes no network request. */
function Picture({ artifact, mediaType }: { artifact: ArtifactRef; mediaType: string }) {
  const shown = drawable.has(mediaType);
  const query = useQuery(shown ? artifact : null, () => api.artifact.get({ ref: artifact }));
  const [url, setUrl] = useState<string>();
  const [large, setLarge] = useState(false);
  const data = query.status === 'done' ? query.data.data : undefined;
  useEffect(() => {
    if (data === undefined) return;
    const made = URL.createObjectURL(new Blob([bytesIn(data)], { type: mediaType }));
    setUrl(made);
    return () => URL.revokeObjectURL(made);
  }, [data, mediaType]);

  if (!shown) return <p className="muted">An attachment of type {mediaType}, which this window does not draw.</p>;
  switch (query.status) {
    case 'failed':
      return (
        <p className="muted">
          Cannot show the image: {describeProblem(query.error).message} <Button small label="Try again" onClick={query.retry} />
        </p>
      );
    case 'done':
      return (
        <figure className="picture">
          <button type="button" aria-label={large ? 'Show the image smaller' : 'Show the image at full width'} onClick={() => setLarge(!large)}>
            {url && <img src={url} alt={`Out of the conversation, ${mediaType}`} className={large ? 'large' : undefined} />}
          </button>
          <figcaption className="muted">
            {mediaType} · {bytes(query.data.size)}
          </figcaption>
        </figure>
      );
    default:
      return <div className="picture-frame" />;
  }
}

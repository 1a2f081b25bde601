import { ChevronRight, CircleAlert } from 'lucide-react';
import { memo, type ReactNode, useMemo, useState } from 'react';
import type { Entry } from '../../core/contract/index.js';
import { Code } from './Code';
import { Fold, useIsSought } from './Fold';
import { languageOfPath } from './highlight';
import { Picture } from './Image';
import { familyIcons, familyOf, kindIcons, markNames, speaker } from './kinds';
import { Markdown } from './Markdown';
import { compact, exact, instant, when } from './numbers';
import { type EditedText, editsOf, isRecord, jsonInLines, leadOf, textOf } from './tools';

/** The line over an entry: who, since when, how much. `actions` stand at its end while it is pointed at. */
function Head({
  entry,
  name,
  lead,
  actions,
  error,
}: {
  entry: Entry;
  name: ReactNode;
  lead?: string | undefined;
  actions?: ReactNode;
  error?: boolean;
}) {
  const Glyph = error ? CircleAlert : (kindIcons[entry.kind] ?? familyIcons[familyOf(entry)]);
  return (
    <header className="entry-head">
      <Glyph size={13} aria-hidden />
      <span className="entry-name">{name}</span>
      {lead && <span className="entry-lead mono ellipsis">{lead}</span>}
      <span className="grow" />
      {entry.marks?.map(
        (mark) =>
          mark !== entry.toolName && (
            <span key={mark} className="entry-mark">
              {markNames[mark] ?? mark}
            </span>
          ),
      )}
      {error && <span className="badge error-badge">failed</span>}
      <span className="entry-actions">{actions}</span>
      {entry.at && (
        <time className="entry-time" dateTime={entry.at} title={instant(entry.at)}>
          {when(entry.at)}
        </time>
      )}
      <span className="entry-tokens" title={`about ${exact(entry.tokens)} tokens`}>
        ≈ {compact(entry.tokens)}
      </span>
    </header>
  );
}

/** One entry: a text, thinking, a picture, a summary, an event, or a tool's result whose call is elsewhere. */
export const EntryView = memo(function EntryView({ entry, actions }: { entry: Entry; actions?: ReactNode }) {
  const family = familyOf(entry);
  const error = entry.isError ?? false;
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
        return <ToolInput tool={entry.toolName ?? ''} input={entry.arguments} />;
      case 'tool_result':
        return <Output entry={entry} />;
      case 'event':
        return <Event entry={entry} />;
      case 'summary':
        return <Fold text={entry.text ?? ''}>{(shown) => <Markdown text={shown} />}</Fold>;
      case 'text':
        return isWrapping(entry) ? (
          <Fold text={entry.text ?? ''} lines={8}>
            {(shown) => <pre className="verbatim">{shown}</pre>}
          </Fold>
        ) : (
          <Markdown text={entry.text ?? ''} />
        );
    }
  };
  const name =
    entry.kind === 'event' && entry.toolName
      ? eventName(entry.toolName)
      : entry.kind === 'tool_call'
        ? (entry.toolName ?? 'Tool')
        : entry.kind === 'tool_result'
          ? `Result${entry.toolName ? ` of ${entry.toolName}` : ''}`
          : speaker(entry);
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
  /** Missing while it loads, null where there is none. */
  readonly result: Entry | null | undefined;
  /** What is said where there is none. */
  readonly noResult?: string;
  readonly actions?: ReactNode;
}

/** A tool call and what came of it, as one block. */
export const ToolView = memo(function ToolView({ call, result, noResult, actions }: ToolViewProps) {
  const error = result?.isError ?? false;
  const tool = call.toolName ?? 'Tool';
  const lead = leadOf(tool, call.arguments);
  return (
    <article
      className={`entry kind-tool entry-tool${error ? ' failed' : ''}`}
      aria-label={`${tool} call${error ? ', failed' : ''}, about ${exact(call.tokens + (result?.tokens ?? 0))} tokens`}
    >
      <Head entry={{ ...call, tokens: call.tokens + (result?.tokens ?? 0) }} name={tool} lead={lead} actions={actions} error={error} />
      <div className="entry-body">
        <ToolInput tool={tool} input={call.arguments} lead={lead} />
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

/** `compact_boundary` and `api_error` as words. */
const eventName = (name: string): string => (name.slice(0, 1).toUpperCase() + name.slice(1).replaceAll(/[_-]/g, ' ')).replace(/^Api\b/, 'API');

/** What the runtime noted: its words, where it had some beside its name, and what it recorded with them. */
function Event({ entry }: { entry: Entry }) {
  const words = entry.text === entry.toolName ? '' : (entry.text ?? '');
  const facts = entry.result === undefined ? '' : textOf(entry.result);
  const text = [words, facts].filter(Boolean).join('\n');
  return text === '' ? null : <Fold text={text}>{(shown) => <pre className="verbatim">{shown}</pre>}</Fold>;
}

/** What the agent put in by itself, or a command that it wrapped in tags: not prose, and shown as it is. */
const isWrapping = ({ marks = [], role }: Entry): boolean => role === 'system' || marks.includes('meta') || marks.includes('command');

function Thinking({ entry }: { entry: Entry }) {
  const [unfolded, setOpen] = useState(false);
  const open = useIsSought(entry.text ?? '') || unfolded;
  if (!entry.text) {
    return (
      <p className="muted">
        {entry.marks?.includes('redacted') ? 'Thinking that only the provider can read.' : 'The text of this thinking was not recorded.'}
      </p>
    );
  }
  return (
    <>
      <button type="button" className="thinking-toggle" aria-expanded={open} onClick={() => setOpen(!open)}>
        <ChevronRight size={13} aria-hidden className={open ? 'turned' : undefined} />
        {open ? 'Hide' : <span className="ellipsis">{entry.text.trim().split('\n', 1)[0]?.slice(0, 240)}</span>}
      </button>
      {open && <Markdown text={entry.text} />}
    </>
  );
}

/** What a tool gave back, folded past 20 lines. JSON in one long line is set in lines, and can be seen as it was sent. */
function Output({ entry }: { entry: Entry }) {
  const [asSent, setAsSent] = useState(false);
  const text = entry.text ?? (entry.result === undefined ? '' : textOf(entry.result));
  const set = useMemo(() => jsonInLines(text), [text]);
  if (entry.media) return <Picture artifact={entry.media.artifactRef} mediaType={entry.media.mediaType} />;
  if (text.trim() === '') return <p className="muted output-empty">The tool answered without text.</p>;
  return (
    <>
      <Fold text={set === undefined || asSent ? text : set}>{(shown) => <pre className="output">{shown}</pre>}</Fold>
      {set !== undefined && (
        <button type="button" className="fold" aria-pressed={asSent} onClick={() => setAsSent(!asSent)}>
          {asSent ? 'Set in lines' : 'As it was sent'}
        </button>
      )}
    </>
  );
}

/** A call's input: as a diff, as a script, as a file, or field by field. */
function ToolInput({ tool, input, lead }: { tool: string; input: unknown; lead?: string | undefined }) {
  const edits = editsOf(tool, input);
  if (edits) return edits.map((edit) => <EditView key={`${edit.removed.join('\n')}\n→\n${edit.added.join('\n')}`} edit={edit} />);
  if (!isRecord(input))
    return input === undefined || input === null ? null : <Fold text={textOf(input)}>{(shown) => <Code text={shown} language="json" />}</Fold>;
  if (tool === 'Bash' && typeof input.command === 'string') {
    const { command, description } = input;
    const told = command === lead;
    return (
      <>
        {typeof description === 'string' && <p className="muted">{description}</p>}
        {!told && <Fold text={command}>{(shown) => <Code text={shown} language="bash" />}</Fold>}
      </>
    );
  }
  if (tool === 'Write' && typeof input.content === 'string') {
    return (
      <Fold text={input.content}>
        {(shown) => <Code text={shown} language={typeof input.file_path === 'string' ? languageOfPath(input.file_path) : undefined} />}
      </Fold>
    );
  }
  const rest = Object.entries(input).filter(([, value]) => value !== lead);
  if (rest.length === 0) return null;
  return (
    <dl className="fields">
      {rest.map(([name, value]) => (
        <div key={name}>
          <dt className="mono">{name}</dt>
          <dd>
            <Fold text={textOf(value)} lines={8}>
              {(shown) => <pre className="verbatim">{shown}</pre>}
            </Fold>
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
            // biome-ignore lint/suspicious/noArrayIndexKey: lines of a text that does not change
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

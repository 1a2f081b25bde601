import { ClipboardCopy, Download, FileOutput, FolderSearch, Send } from 'lucide-react';
import { useState } from 'react';
import type { ContextId, ExportFormat, ExportUse, RedactionKind, Stop } from '../../../core/contract/index.js';
import { api } from '../../client';
import { Answer, Button, Checkbox, Copyable, describeProblem, Input, ProblemLine, Sheet, Switch, say, sending } from '../../parts';
import { bytesIn, choosePaths, copy, dismiss, download, isDesktop, type Query, type TaskState } from '../../state';
import { type ExportResult, spanFormat, useExport } from './useExport';

const tierNames = {
  native: 'as recorded',
  translated: 'translated from another format',
  rendered: 'rendered for reading',
  raw: 'raw bytes',
} as const;

type Exporting = ReturnType<typeof useExport>;

/** The sheet that exports a context: for people, for an agent, or for a program. */
export function ExportSheet({ commit, stop }: { commit: ContextId; stop: Stop }) {
  const [path, setPath] = useState('');
  const exporting = useExport(commit, stop);
  const { choice, choose, formats, format, state, blocked } = exporting;
  const fileName = `${say.shortId(commit)}.${format?.extension ?? 'html'}`;
  return (
    <Sheet
      title={`Export ${say.shortId(commit)}`}
      onClose={dismiss}
      footer={<Actions exporting={exporting} fileName={fileName} isMain={path.trim() === ''} />}
    >
      <div className="export stack">
        <Switch
          label="Range"
          value={choice.stop}
          onChange={(value) => choose({ stop: value })}
          options={{ compaction: 'As the model had it', root: 'Full history' }}
        />
        <Answer query={formats} what="Cannot list the formats for this context" loading="Checking what each format can hold" lines={6}>
          {(all) => <Formats formats={all} chosen={format?.format} onChoose={(next) => choose({ format: next })} />}
        </Answer>
        <RedactionChoice exporting={exporting} />
        <form className="path-form gap-6" onSubmit={sending(() => exporting.writeFile(path.trim()))}>
          <Input className="grow mono" placeholder={`/path/to/${fileName}`} label="Path of the new file" value={path} onChange={setPath} />
          {isDesktop && (
            <Button icon={FolderSearch} onClick={() => void chooseFile(fileName).then((chosen) => chosen !== undefined && setPath(chosen))}>
              Choose…
            </Button>
          )}
          <Button type="submit" icon={FileOutput} disabled={blocked !== undefined || !path.trim()} aria-describedby="export-blocked">
            Write file
          </Button>
        </form>
        <p className="muted">An existing file is never overwritten.</p>
        {format?.format === spanFormat && <Collector exporting={exporting} />}
        <Outcome state={state} format={format} />
      </div>
    </Sheet>
  );
}

/** Sends the spans to a collector and remembers its address. */
function Collector({ exporting: { blocked, send } }: { exporting: Exporting }) {
  const [address, setAddress] = useState(() => localStorage.getItem(collectorKey) ?? '');
  return (
    <form
      className="path-form gap-6"
      onSubmit={sending(() => {
        localStorage.setItem(collectorKey, address.trim());
        void send(address.trim());
      })}
    >
      <Input
        className="grow mono"
        placeholder="http://127.0.0.1:4318/v1/traces"
        label="Address of the collector"
        value={address}
        onChange={setAddress}
      />
      <Button type="submit" icon={Send} disabled={blocked !== undefined || !address.trim()} aria-describedby="export-blocked">
        Send to collector
      </Button>
    </form>
  );
}

const collectorKey = 'stemma.collector';

/** Asks for the new file in the native dialog. A path that a person chose there is confirmed. */
async function chooseFile(name: string): Promise<string | undefined> {
  const [path] = await choosePaths('save', name);
  if (path !== undefined) await api.library.allowWrite({ path });
  return path;
}

function Actions({ exporting, fileName, isMain }: { exporting: Exporting; fileName: string; isMain: boolean }) {
  const { blocked, format, take } = exporting;
  const isText = format !== undefined && /json|^text\//.test(format.contentType);
  return (
    <>
      <span id="export-blocked" className="muted grow" role="status">
        {blocked}
      </span>
      <Button
        icon={ClipboardCopy}
        label="Copy"
        disabled={blocked !== undefined || !isText}
        aria-describedby="export-blocked"
        title={format && !isText ? 'This format is not text. Download it instead.' : undefined}
        onClick={() => void take(({ text = '' }) => copy(text, 'Copied the export'))}
      />
      <Button
        {...(isMain && { look: 'primary' })}
        icon={Download}
        label="Download"
        disabled={blocked !== undefined}
        aria-describedby="export-blocked"
        onClick={() => void take((written) => download(decodeContent(written), fileName, format?.contentType ?? 'text/plain'))}
      />
    </>
  );
}

function Outcome({ state, format }: { state: TaskState<ExportResult>; format: ExportFormat | undefined }) {
  if (state.state === 'failed')
    return (
      <p className="notice-line error" role="alert" ref={intoView}>
        Nothing was exported: {describeProblem(state.error).message}
      </p>
    );
  if (state.state !== 'done') return null;
  const { result: written } = state;
  return (
    <div role="status" className="stack gap-8" ref={intoView}>
      <p>
        {say.bytes(written.bytes)} of {format?.name ?? written.format}, {tierNames[written.tier]}
        {written.redactions?.length ? ', with the replacements listed above' : ''}.
      </p>
      {written.lossCounts.length > 0 && <p className="muted">Left out: {lossText(written.lossCounts)}.</p>}
      {written.path && <Copyable text={written.path} label="Path" />}
      {written.sentTo && <p>Sent to {written.sentTo}.</p>}
    </div>
  );
}

/** Scrolls to the result, which is below a list that may be long. */
const intoView = (element: HTMLElement | null): void => element?.scrollIntoView({ block: 'nearest' });

const decodeContent = ({ text, data }: ExportResult): string | Uint8Array<ArrayBuffer> => text ?? bytesIn(data ?? '');

const uses: Record<ExportUse, string> = { people: 'For people', agents: 'For agents', programs: 'For programs' };

/** Losses as text, for example `thinking (12), signature (3)`. */
export const lossText = (counts: ExportFormat['lossCounts']): string =>
  counts.map(({ what, count }) => `${what} (${count.toLocaleString('en-US')})`).join(', ');

/** The formats that a context can be exported to, each with its losses. */
export function Formats(props: { formats: readonly ExportFormat[]; chosen: string | undefined; onChoose: (format: string) => void }) {
  const { formats, chosen, onChoose } = props;
  return (Object.keys(uses) as ExportUse[]).map((use) => {
    const group = formats.filter((one) => one.use === use);
    return (
      group.length > 0 && (
        <fieldset key={use}>
          <legend className="muted">{uses[use]}</legend>
          {group.map((one) => (
            <label key={one.format} className="export-format row baseline">
              <input type="radio" name="format" value={one.format} checked={one.format === chosen} onChange={() => onChoose(one.format)} />
              <span className="export-format-text row baseline wrap grow">
                <b>{one.name}</b> <span className="mono muted">{one.format}</span>
                {one.format !== chosen && <span className="export-lost">{shortLossText(one)}</span>}
                {one.format === chosen && (
                  <>
                    <span className="muted whole-line">{one.what}</span>
                    <span className={one.lossCounts.length > 0 ? 'export-lost whole-line told' : 'export-lost whole-line'}>{longLossText(one)}</span>
                  </>
                )}
              </span>
            </label>
          ))}
        </fieldset>
      )
    );
  });
}

const shortLossText = ({ lossCounts }: ExportFormat): string =>
  lossCounts.length === 0 ? 'complete' : `leaves out ${lossCounts.length === 1 ? '1 kind of content' : `${lossCounts.length} kinds of content`}`;

const longLossText = ({ tier, lossCounts }: ExportFormat): string =>
  lossCounts.length > 0
    ? `Leaves out: ${lossText(lossCounts)}.`
    : tier === 'native'
      ? 'Exactly as recorded, nothing is left out.'
      : 'Nothing is left out.';

const kindNames: Record<RedactionKind, string> = { secret: 'secret', path: 'home folder', email: 'e-mail address', ip: 'IP address' };

interface Redaction {
  readonly placeholder: string;
  readonly kind: RedactionKind;
  readonly count: number;
}

/** The choice of what to redact, and the list of replacements. */
function RedactionChoice({ exporting }: { exporting: ReturnType<typeof useExport> }) {
  const { choice, choose, format, redact, found } = exporting;
  const cannot = format !== undefined && !format.redacts;
  return (
    <>
      <Checkbox className="row gap-6" checked={redact} disabled={cannot} onChange={(on) => choose({ redact: on })}>
        Replace known patterns of secrets, home folders and e-mail addresses
      </Checkbox>
      {redact && (
        <Checkbox className="row gap-6 export-more" checked={choice.redactIps} onChange={(on) => choose({ redactIps: on })}>
          Replace IP addresses too
        </Checkbox>
      )}
      {cannot && <p className="muted">{format.name} cannot be redacted: it is not text, JSON or CBOR.</p>}
      {redact && <Redactions found={found} />}
    </>
  );
}

/** The replacements, shown before anything is written. Only placeholders are shown, never the secrets. */
function Redactions({ found }: { found: Query<readonly Redaction[]> }) {
  if (found.status === 'idle') return null;
  const button = (name: string, act: () => void) => <Button small label={name} onClick={act} />;
  if (found.status === 'loading')
    return (
      <p role="status" className="row">
        Searching for secrets… {button('Cancel', found.cancel)}
      </p>
    );
  if (found.status === 'canceled') return <p className="row">The search was stopped. {button('Search again', found.retry)}</p>;
  if (found.status === 'failed')
    return (
      <ProblemLine>
        <span className="grow">The search for secrets failed: {describeProblem(found.error).message}</span>
        {button('Try again', found.retry)}
      </ProblemLine>
    );
  if (found.data.length === 0) return <p className="muted">No known pattern was found. Read the export before you share it. {limits}</p>;
  return (
    <>
      <ul className="export-redactions" aria-label="Replacements">
        {found.data.map(({ placeholder, kind, count }) => (
          <li key={placeholder}>
            <span className="mono">{placeholder}</span>{' '}
            <span className="muted">
              {kindNames[kind]}, {count === 1 ? 'once' : `${count} times`}
            </span>
          </li>
        ))}
      </ul>
      <p className="muted">Only known patterns are found: read the export before you share it. Thinking that changes loses its signature. {limits}</p>
    </>
  );
}

const limits = 'Images and other encoded data are not searched.';

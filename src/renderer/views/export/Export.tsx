import { ClipboardCopy, Download, FileOutput } from 'lucide-react';
import { useState } from 'react';
// Types only: the contract's schemas stay out of the window's bundle.
import type { ContextId, ExportFormat, Stop } from '../../../core/contract/index.js';
import { api } from '../../client';
import { Answer, Button, Copyable, problemOf, Sheet, Switch, say } from '../../parts';
import { copy, dismiss, download, type Query, useQuery } from '../../state';
import { Formats, lossesInWords } from './Formats';
import { Redactions } from './Redactions';

const tierNames = {
  native: 'as it was recorded',
  translated: 'translated from another format',
  rendered: 'rendered for reading',
  raw: 'raw bytes',
} as const;

type Written = Awaited<ReturnType<typeof api.export.context>>;
type State =
  | { readonly phase: 'asking' | 'writing' }
  | { readonly phase: 'done'; readonly written: Written }
  | { readonly phase: 'failed'; readonly error: unknown };

/** A context as a file: for people, for an agent, or for a program. */
export function ExportSheet({ commit, stop: given }: { commit: ContextId; stop: Stop }) {
  const [stop, setStop] = useState<'compaction' | 'root'>(given === 'root' ? 'root' : 'compaction');
  const [chosen, setChosen] = useState<string>();
  const [path, setPath] = useState('');
  const [wantsRedaction, setRedact] = useState(false);
  const [state, setState] = useState<State>({ phase: 'asking' });
  const formats = useQuery(`${commit} ${stop}`, () => api.export.formats({ id: commit, stop }));
  const format = formats.status === 'done' ? formats.data.find((one) => one.format === (chosen ?? firstChoice(formats.data))) : undefined;
  const redact = wantsRedaction && format?.redacts === true;
  const ask = (more: { path?: string; dryRun?: boolean } = {}) => {
    if (!format) throw new Error('no format is chosen yet');
    return api.export.context({ id: commit, stop, format: format.format, ...(redact && { redact }), ...more });
  };
  const found = useQuery(redact && format ? `${commit} ${stop} ${format.format}` : null, async () => (await ask({ dryRun: true })).redactions ?? []);
  const act = async (work: () => Promise<Written>) => {
    setState({ phase: 'writing' });
    try {
      setState({ phase: 'done', written: await work() });
    } catch (error) {
      setState({ phase: 'failed', error });
    }
  };
  const take = (use: (written: Written) => void | Promise<void>) =>
    act(async () => {
      const written = await ask();
      await use(written);
      return written;
    });
  const choose = (next: Partial<{ format: string; stop: 'compaction' | 'root'; redact: boolean }>) => {
    if (next.format !== undefined) setChosen(next.format);
    if (next.stop !== undefined) setStop(next.stop);
    if (next.redact !== undefined) setRedact(next.redact);
    setState({ phase: 'asking' });
  };
  const blocked = reasonToWait(formats, found, state);
  const fileName = `${say.shortId(commit)}.${format?.extension ?? 'html'}`;
  const isText = format !== undefined && /json|^text\//.test(format.contentType);
  return (
    <Sheet
      title={`Export ${say.shortId(commit)}`}
      onClose={dismiss}
      footer={
        <>
          <span id="export-blocked" className="muted grow" role="status">
            {blocked}
          </span>
          <Button
            icon={ClipboardCopy}
            disabled={blocked !== undefined || !isText}
            aria-describedby="export-blocked"
            title={format && !isText ? 'This format is no text: download it' : undefined}
            onClick={() => void take(({ text = '' }) => copy(text, 'Copied the export'))}
          >
            Copy
          </Button>
          <Button
            {...(path.trim() ? {} : { look: 'primary' })}
            icon={Download}
            disabled={blocked !== undefined}
            aria-describedby="export-blocked"
            onClick={() => void take((written) => download(contentOf(written), fileName, format?.contentType ?? 'text/plain'))}
          >
            Download
          </Button>
        </>
      }
    >
      <div className="export">
        <Switch
          label="How far back"
          value={stop}
          onChange={(value) => choose({ stop: value })}
          options={[
            { value: 'compaction', name: 'As the model had it' },
            { value: 'root', name: 'Full history' },
          ]}
        />
        <Answer query={formats} what="What this context can leave as could not be found out" loading="Looking what each format can hold" lines={6}>
          {(all) => <Formats formats={all} chosen={format?.format} onChoose={(next) => choose({ format: next })} />}
        </Answer>
        <label className="export-check">
          <input
            type="checkbox"
            checked={redact}
            disabled={format !== undefined && !format.redacts}
            onChange={(event) => choose({ redact: event.target.checked })}
          />
          Take out secrets, home folders and e-mail addresses
        </label>
        {format && !format.redacts && <p className="muted">In {format.name} nothing can be taken out: it is neither text nor CBOR.</p>}
        {redact && <Redactions found={found} />}
        <form
          className="path-form"
          onSubmit={(event) => {
            event.preventDefault();
            void act(() => ask({ path: path.trim() }));
          }}
        >
          <input
            className="field grow mono"
            placeholder={`/path/to/${fileName}`}
            aria-label="Path of the new file"
            value={path}
            onChange={(event) => setPath(event.target.value)}
          />
          <Button type="submit" icon={FileOutput} disabled={blocked !== undefined || !path.trim()} aria-describedby="export-blocked">
            Write the file
          </Button>
        </form>
        <p className="muted">A file that is there already is never overwritten.</p>
        {state.phase === 'failed' && (
          <p className="notice-line error" role="alert" ref={intoView}>
            Nothing was written: {problemOf(state.error).message}
          </p>
        )}
        {state.phase === 'done' && (
          <div role="status" className="export-done" ref={intoView}>
            <p>
              {say.bytes(state.written.bytes)} of {format?.name ?? state.written.format}, {tierNames[state.written.tier]}
              {state.written.redactions?.length ? ', but for what was taken out' : ''}.
            </p>
            {state.written.lossCounts.length > 0 && <p className="muted">Left out: {lossesInWords(state.written.lossCounts)}.</p>}
            {state.written.path && <Copyable text={state.written.path} label="Path" />}
          </div>
        )}
      </div>
    </Sheet>
  );
}

/** What came of it is seen, however long the list above it is. */
const intoView = (element: HTMLElement | null): void => element?.scrollIntoView({ block: 'nearest' });

/** The form in which nothing is lost, else the first of all. */
const firstChoice = (formats: readonly ExportFormat[]): string | undefined => (formats.find(({ tier }) => tier === 'native') ?? formats[0])?.format;

/** Why nothing can be written yet: what is taken out is seen before it is. */
function reasonToWait(formats: Query<unknown>, found: Query<unknown>, state: State): string | undefined {
  if (state.phase === 'writing') return 'Writing…';
  if (formats.status === 'failed') return 'The formats could not be listed';
  if (formats.status !== 'done') return 'Looking what each format can hold…';
  if (found.status === 'loading') return 'Still looking for secrets…';
  if (found.status === 'failed') return 'Secrets could not be looked for';
  return found.status === 'canceled' ? 'The search for secrets was stopped' : undefined;
}

const contentOf = ({ text, data }: Written): string | Uint8Array<ArrayBuffer> =>
  text ?? Uint8Array.from(atob(data ?? ''), (letter) => letter.charCodeAt(0));

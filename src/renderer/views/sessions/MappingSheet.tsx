import { Eye, Import } from 'lucide-react';
import { useState } from 'react';
import type { Mapping, MappingPreview } from '../../../core/contract/index.js';
import { api } from '../../client';
import { Button, describeProblem, Input, ProblemLine, Sheet, say, sending, TextArea } from '../../parts';
import { dismiss, useQuery } from '../../state';
import { importPaths } from './act';
import { lineNumbers } from './skips';

/** The initial mapping: one text of each record, by its role. */
const first: Mapping = {
  stemmaMapping: 1,
  name: 'my-tool',
  records: '$[*]',
  entries: [
    { when: "@.role == 'user'", kind: 'text', role: 'user', text: '$.content' },
    { when: "@.role == 'assistant'", kind: 'text', text: '$.content' },
  ],
};

/** Imports a file of an unknown tool by a mapping, after a preview of the resulting entries. */
export function MappingSheet() {
  const [path, setPath] = useState('');
  const [text, setText] = useState(() => JSON.stringify(first, null, 2));
  const [preview, setPreview] = useState<MappingPreview>();
  const [problem, setProblem] = useState<string>();
  const withMapping = async (act: (mapping: Mapping) => Promise<void>): Promise<void> => {
    setProblem(undefined);
    try {
      await act(JSON.parse(text) as Mapping);
    } catch (error) {
      setPreview(undefined);
      setProblem(error instanceof SyntaxError ? `The mapping is not JSON: ${error.message}` : describeProblem(error).message);
    }
  };
  /** The preview must match the import, so a change of the mapping discards it. */
  const change = (act: () => void): void => {
    act();
    setPreview(undefined);
    setProblem(undefined);
  };
  const look = (): Promise<void> => withMapping(async (mapping) => setPreview(await api.import.preview({ path: path.trim(), mapping })));
  const take = (): Promise<void> =>
    withMapping(async (mapping) => {
      dismiss();
      await importPaths([path.trim()], true, mapping);
    });
  return (
    <Sheet
      title="Import with a mapping"
      onClose={dismiss}
      footer={<Button icon={Eye} label="Preview" disabled={!path.trim()} onClick={() => void look()} />}
      action={{
        label: 'Import',
        icon: Import,
        disabled: !preview || preview.problem !== undefined,
        title: preview ? undefined : 'Preview the file first',
        onClick: () => void take(),
      }}
    >
      <p className="muted">
        A mapping says by JSONPath which records and fields of a JSON or JSONL file are messages. Preview shows what it makes of the file.
      </p>
      <form className="mapping-form wrap gap-8" onSubmit={sending(() => look())}>
        <Input
          className="grow mono"
          placeholder="/path/to/history.jsonl"
          label="File to import"
          value={path}
          onChange={(text) => change(() => setPath(text))}
        />
        <Patterns onPattern={(pattern) => change(() => setText(JSON.stringify(pattern, null, 2)))} />
        <TextArea className="mono" label="Mapping" spellCheck={false} rows={14} value={text} onChange={(text) => change(() => setText(text))} />
        <button type="submit" hidden />
      </form>
      {problem && <ProblemLine>{problem}</ProblemLine>}
      {preview && <Preview {...preview} />}
    </Sheet>
  );
}

function Patterns({ onPattern }: { onPattern: (pattern: Mapping) => void }) {
  const { data: patterns = [] } = useQuery('mappings', () => api.import.mappings({}));
  return (
    <select
      className="field"
      aria-label="Begin with the mapping of"
      value=""
      onChange={({ target }) => {
        const pattern = patterns[Number(target.value)];
        if (pattern) onPattern(pattern);
      }}
    >
      <option value="">Begin with…</option>
      {patterns.map(({ name, testedOn, experimental }, at) => (
        <option key={`${name} ${testedOn ?? ''}`} value={at} title={testedOn === undefined ? 'Experimental' : `Tested on ${testedOn}`}>
          {testedOn === undefined || experimental ? `${name} (experimental)` : name}
        </option>
      ))}
    </select>
  );
}

const shownContent = ({ text, arguments: input }: MappingPreview['entries'][number]): string =>
  (text ?? (input === undefined ? '' : JSON.stringify(input))).slice(0, 200);

const maxShown = 50;

function Preview({ sessions, entries, unread, broken, problem }: MappingPreview) {
  if (problem) return <ProblemLine>Cannot import the file: {problem}.</ProblemLine>;
  return (
    <section aria-label="Preview">
      <p>
        {sessions.map(({ id, title, records, entries: count }) => (
          <span key={id} className="mapping-session">
            {title ?? id}: {say.plural(records, 'record')}, {say.plural(count, 'entry', 'entries')}
          </span>
        ))}
        {unread > 0 && <span className="muted"> {say.plural(unread, 'record')} without an entry, kept with the file.</span>}
        {broken.length > 0 && <span className="tone-warn"> Not JSON, and left out: {lineNumbers(broken)}.</span>}
      </p>
      <table className="mapping-entries">
        <tbody>
          {entries.slice(0, maxShown).map((entry, at) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: entries of a preview have no other key
            <tr key={at}>
              <td>{entry.role}</td>
              <td>{entry.kind.replace('_', ' ')}</td>
              <td className="mono">{entry.toolName}</td>
              <td className="ellipsis">
                {entry.isError && <span className="badge error-badge">error</span>} {shownContent(entry)}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}

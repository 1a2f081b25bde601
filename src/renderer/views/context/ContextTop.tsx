import { ClipboardCopy, Download, Eye, EyeOff, GitFork, Pencil, Search } from 'lucide-react';
import type { Entry } from '../../../core/contract/index.js';
import { api } from '../../client';
import { attempt, Button, IconButton, MenuButton, Switch, say, TokenBar, TokenLegend, Window } from '../../parts';
import { type ContextOutline, copy, jumpTo, keepForkDraft, move, show, shownUsage, useForkDraft, useUsageOf } from '../../state';
import { shownWords } from './BlockView';
import type { ContextReader, ReaderContext } from './useReader';

interface ContextTopProps {
  readonly shown: ReaderContext;
  readonly reader: ContextReader;
  readonly finding: boolean;
  readonly onFind: () => void;
}

const noRows: ContextOutline['rows'] = [];

/** The tools of a context, and the bar with its tokens. */
export function ContextTop({ shown, reader, finding, onFind }: ContextTopProps) {
  const { project, commit, stop, unsent, outline } = shown;
  const usage = useUsageOf(project, stop === 'root' ? null : commit);
  const counted = stop === 'root' ? undefined : shownUsage(usage);
  const draft = useForkDraft(project, commit);
  const openDraft = () => {
    if (!draft) return;
    keepForkDraft(project, commit, { ...draft, open: true });
    const place = rows.findIndex((row) => row.key === draft.key);
    if (place >= 0) jumpTo(place);
  };
  const { rows, seams, from, to, selectedEntry, entries } = reader;
  // No bar for a part, because its shares say nothing about the whole context.
  const drawn = outline.isPart ? noRows : rows;
  return (
    <div className="context-top stack gap-8">
      <div className="row wrap">
        <Switch
          label="How far back"
          value={stop === 'root' ? 'root' : 'compaction'}
          onChange={(value) => move({ stop: value === 'root' ? 'root' : undefined })}
          options={{
            compaction: ['As the model had it', 'From the last compaction on: what was sent to the model'],
            root: ['Full history', 'From the first prompt on, across every compaction'],
          }}
        />
        <span className="grow" />
        {draft && !draft.open && <Button small icon={Pencil} label="Continue the draft" onClick={openDraft} title="Go on with the edited prompt" />}
        <IconButton
          icon={unsent ? Eye : EyeOff}
          label={unsent ? 'Hide what was never sent' : 'Show what was never sent to the model'}
          aria-pressed={unsent}
          onClick={() => move({ unsent: unsent ? undefined : 'yes' })}
        />
        <IconButton icon={Search} label="Find in context" keys="/" onClick={onFind} aria-pressed={finding} />
        <CopyMenu shown={shown} entry={selectedEntry >= 0 ? entries.at(selectedEntry) : undefined} />
        <Button small icon={GitFork} label="Fork" onClick={() => reader.fork()} title="Fork from the selected entry (f)" />
        <Button small icon={Download} label="Export" onClick={() => show({ kind: 'export', commit, stop })} title="Export this context (e)" />
      </div>
      <p className="context-size">
        {outline.isPart ? (
          <span className="muted">Loading the earlier entries of a long context</span>
        ) : (
          <>
            <Window usage={counted} estimate={outline.tokens} big />
            <span className="muted"> · {say.plural(outline.total, 'entry', 'entries')}</span>
          </>
        )}
      </p>
      <TokenBar rows={drawn} from={from} to={to} seams={seams} usage={counted} onJump={jumpTo} />
      <TokenLegend rows={drawn} usage={counted} />
    </div>
  );
}

/** Copies the context or the selected entry, as text or JSON. */
function CopyMenu({ shown: { commit, stop, outline }, entry }: { shown: ReaderContext; entry: Entry | undefined }) {
  const copyMarkdown = async () => {
    const { text } = await api.export.context({ id: commit, stop, format: 'markdown' });
    await copy(text ?? '', 'Copied the context as Markdown');
  };
  const copyJson = async () => {
    const all: Entry[] = [];
    for (let offset = 0; offset < outline.total; offset += 2_000)
      all.push(...(await api.context.entries({ id: commit, stop, offset, limit: 2_000 })).entries);
    await copy(JSON.stringify(all, null, 2), 'Copied the context as JSON');
  };
  return (
    <MenuButton
      label="Copy"
      button={<IconButton icon={ClipboardCopy} label="Copy" />}
      items={[
        { name: 'Context as Markdown', act: attempt(copyMarkdown) },
        { name: 'Context as JSON', act: attempt(copyJson) },
        'line',
        { name: 'Selected entry as text', disabled: !entry, act: () => entry && void copy(shownWords(entry), 'Copied the entry') },
        {
          name: 'Selected entry as JSON',
          disabled: !entry,
          act: () => entry && void copy(JSON.stringify(entry, null, 2), 'Copied the entry as JSON'),
        },
      ]}
    />
  );
}

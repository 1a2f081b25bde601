import { Bot, ClipboardCopy, GitFork, Pencil } from 'lucide-react';
import type { ContextId, Entry, Stop } from '../../../core/contract/index.js';
import { api } from '../../client';
import { Button, type EntryBlock, EntryView, IconButton, LinkButton, ToolView } from '../../parts';
import { copy, go, type Ranges, useQuery } from '../../state';
import { CompactionLoss } from '../CompactionLoss';

interface BlockViewProps {
  readonly block: EntryBlock;
  readonly entries: Ranges<Entry>;
  readonly height: number;
  /** The last commit of the subagent that this call started. */
  readonly subagent: ContextId | undefined;
  readonly onFork: () => void;
  /** Opens the entry as an editor. */
  readonly onEdit: (entry: Entry) => void;
}

/** An entry, or a tool call with its result. Until it is loaded, an empty frame of its estimated height. */
export function BlockView({ block, entries, height, subagent, onFork, onEdit }: BlockViewProps) {
  const entry = entries.at(block.first);
  if (!entry) return <div className="block-frame" style={{ height: Math.min(height, 320) }} />;
  const actions = (
    <>
      <IconButton small icon={ClipboardCopy} label="Copy this entry" onClick={() => void copy(shownWords(entry), 'Copied the entry')} />
      {isEditable(entry) && <Button small icon={Pencil} label="Edit &amp; fork" onClick={() => onEdit(entry)} />}
      <IconButton small icon={GitFork} label="Fork from here" keys="f" onClick={onFork} />
    </>
  );
  if (block.result === undefined) return <EntryView entry={entry} actions={actions} />;
  return (
    <>
      <ToolView call={entry} result={block.result === null ? null : entries.at(block.result)} actions={actions} />
      {subagent && (
        <div className="subagent">
          <Button small icon={Bot} label="Open the subagent’s context" onClick={() => go({ commit: subagent, entry: undefined, stop: undefined })} />
        </div>
      )}
    </>
  );
}

/** Whether an entry is a message that a person typed, and neither a command nor added by the agent. */
const isEditable = ({ role, kind, marks = [] }: Entry): boolean =>
  role === 'user' && kind === 'text' && !marks.includes('meta') && !marks.includes('command') && !marks.includes('hidden');

/** The line above the summary of a compaction. */
export function Seam({ project, commit, stop }: { project: string; commit: ContextId; stop: Stop }) {
  const query = useQuery(commit, () => api.context.show({ id: commit }));
  const parent = query.data?.parent;
  return (
    <div className="seam wrap small">
      <span>{stop === 'root' ? 'Compaction: the model continued from this summary' : 'This summary replaced everything before it'}</span>
      {parent && <LinkButton label="Show what it replaced" onClick={() => go({ commit: parent, entry: undefined, stop: undefined })} />}
      {query.data?.type === 'compaction' && <CompactionLoss project={project} commit={commit} />}
    </div>
  );
}

/** An entry as text for the clipboard. */
export const shownWords = (entry: Entry): string => entry.text ?? JSON.stringify(entry.arguments ?? entry.result ?? entry, null, 2);

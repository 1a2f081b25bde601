import { Bot, ClipboardCopy, GitFork } from 'lucide-react';
import type { ContextId, Entry, Stop } from '../../../core/contract/index.js';
import { api } from '../../client';
import { type Block, Button, EntryView, IconButton, ToolView } from '../../parts';
import { copy, go, type Ranges, useQuery } from '../../state';

interface BlockViewProps {
  readonly block: Block;
  readonly entries: Ranges<Entry>;
  readonly height: number;
  /** The end of the chain that this call started. */
  readonly subagent: ContextId | undefined;
  readonly onFork: () => void;
}

/** An entry, or a call with its result; a frame of its height until it is there. */
export function BlockView({ block, entries, height, subagent, onFork }: BlockViewProps) {
  const entry = entries.at(block.first);
  if (!entry) return <div className="block-frame" style={{ height: Math.min(height, 320) }} />;
  const actions = (
    <>
      <IconButton small icon={ClipboardCopy} label="Copy this entry" onClick={() => void copy(wordsOf(entry), 'Copied the entry')} />
      <IconButton small icon={GitFork} label="Fork from here" keys="f" onClick={onFork} />
    </>
  );
  if (block.result === undefined) return <EntryView entry={entry} actions={actions} />;
  return (
    <>
      <ToolView call={entry} result={block.result === null ? null : entries.at(block.result)} actions={actions} />
      {subagent && (
        <div className="subagent">
          <Button small icon={Bot} onClick={() => go({ commit: subagent, entry: undefined, stop: undefined })}>
            Open what the subagent saw
          </Button>
        </div>
      )}
    </>
  );
}

/** Where a compaction replaced what came before. */
export function Seam({ commit, stop }: { commit: ContextId; stop: Stop }) {
  const query = useQuery(commit, () => api.context.show({ id: commit }));
  const parent = query.status === 'done' ? query.data.parent : undefined;
  return (
    <div className="seam">
      <span>{stop === 'root' ? 'Compaction: the model went on from this summary' : 'This summary replaced what came before'}</span>
      {parent && (
        <button type="button" className="link-button" onClick={() => go({ commit: parent, entry: undefined, stop: undefined })}>
          Show what it replaced
        </button>
      )}
    </div>
  );
}

/** An entry as a person pastes it elsewhere. */
export const wordsOf = (entry: Entry): string => entry.text ?? JSON.stringify(entry.arguments ?? entry.result ?? entry, null, 2);

import type { RequestRow } from '../../../core/contract/index.js';
import { type EntryBlock, Sought } from '../../parts';
import { draftOf, keepForkDraft, useForkDraft } from '../../state';
import { BlockView, Seam } from './BlockView';
import { CallSeam } from './CallSeam';
import { EditPrompt } from './EditPrompt';
import type { ContextReader, ReaderContext } from './useReader';

interface BlocksProps {
  readonly shown: ReaderContext;
  readonly reader: ContextReader;
  /** The model calls of the context, by the first entry of each reply. */
  readonly calls: ReadonlyMap<string, RequestRow>;
  /** The searched text. Folded text that contains it unfolds. */
  readonly sought: string;
}

/** The visible blocks of a context. */
export function Blocks({ shown: { project, commit, stop }, reader, calls, sought }: BlocksProps) {
  const { list, items, blocks, rows, entries, facts, room, selectedBlock, select, fork } = reader;
  const kept = useForkDraft(project, commit);
  const draft = kept?.open ? kept : undefined;
  const editedAt = draft ? blocks.findIndex((block) => rows[block.first]?.key === draft.key) : -1;
  return (
    <div className="context-length" style={{ height: list.getTotalSize() + room }}>
      <div style={{ transform: `translateY(${items[0]?.start ?? 0}px)` }}>
        <Sought value={sought}>
          {items.map((item) => {
            const block = blocks[item.index] as EntryBlock;
            const row = rows[block.first];
            const call = row && calls.get(row.key);
            const isSelected = item.index === selectedBlock;
            const isLeaving = editedAt >= 0 && item.index > editedAt;
            return (
              // biome-ignore lint/a11y/useKeyWithClickEvents: the list handles the keys
              // biome-ignore lint/a11y/noStaticElementInteractions: selection by pointer; the list handles the keys
              <div
                key={item.key}
                data-index={item.index}
                data-entry={row?.key}
                ref={list.measureElement}
                className={`block${isSelected ? ' chosen' : ''}${row?.hidden ? ' unsent' : ''}${isLeaving ? ' leaving' : ''}`}
                aria-current={isSelected || undefined}
                onClick={() => select(item.index)}
              >
                {row?.kind === 'summary' && <Seam project={project} commit={block.commit} stop={stop} />}
                {call && <CallSeam call={call} />}
                {draft && item.index === editedAt ? (
                  <EditPrompt project={project} draft={draft} below={rows.slice(block.first + 1).filter((below) => !below.hidden).length} />
                ) : (
                  <BlockView
                    block={block}
                    entries={entries}
                    height={item.size}
                    subagent={facts.subagentOfCall.get(row?.kind === 'tool_call' ? (row.toolCallId ?? '') : '')}
                    onFork={() => fork(block.first)}
                    onEdit={(entry) => keepForkDraft(project, commit, draftOf(commit, entry, kept))}
                  />
                )}
                {/* Below the last block of a turn, not above the prompt: a prompt starts exactly where its block does. */}
                {blocks[item.index + 1]?.opens && <div className="turn-line" />}
              </div>
            );
          })}
        </Sought>
      </div>
    </div>
  );
}

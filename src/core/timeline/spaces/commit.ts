import type { ContextId } from '../../base/index.js';
import { textOf, timestampOf } from '../../base/index.js';
import { checkpoint, commitOf, type ReadChain, type WriteChain } from '../../chain/index.js';
import { formatOf, type WritableEntry } from '../../formats/index.js';
import { timelineMessages } from '../render/timeline.js';
import { runTimeline } from './input.js';
import { type MessageRow, type RunRow, runOf, selectMessage, triggerOf } from './rows.js';

/** The stored format of a run: messages with roles, made of its timeline. */
const runFormat = 'openai-chat-v1';
/** The stored format of a run that a performer continues call by call. */
const openFormat = 'claude-code-v1';

/**
 * Commits the context and the actions of a run as a snapshot. Each run has a new context, so its parent commit precedes it in time
 * but is not a part of its content. Returns the sequence number of the commit.
 */
export function commitRun(chain: WriteChain, run: RunRow, output: string | undefined): number {
  const entries = timelineEntries(chain, run);
  entries.push(...sentBy(chain, run).flatMap(callEntries));
  if (output !== undefined && output.trim() !== '') entries.push({ role: 'assistant', kind: 'text', text: output });
  return commitOf(chain, commitEntries(chain, run, entries, { format: runFormat })).seq;
}

/**
 * Commits the context of a run as a snapshot that ends with a message, before the run's agent is called. The parent is `after`, or else the
 * last run of the agent. The performer of the run continues the snapshot.
 */
export function commitTimeline(chain: WriteChain, runId: string, after: ContextId | undefined): ContextId {
  const run = runOf(chain, runId);
  const entries = timelineEntries(chain, run);
  const trigger = triggerOf(run);
  // Only a run that a message started has a history.
  if (entries.every(({ role }) => role === 'system'))
    entries.push({ role: 'user', kind: 'text', text: trigger.type === 'plan' ? (trigger.instruction ?? reasonOf(run)) : reasonOf(run) });
  // This format allows a tool call without a result between two commits.
  return commitEntries(chain, run, entries, { format: openFormat, after });
}

const timelineEntries = (chain: WriteChain, run: RunRow): WritableEntry[] =>
  timelineMessages(runTimeline(chain, run.runId).input).map(({ role, content }) => ({ role, kind: 'text', text: content }));

function commitEntries(
  chain: WriteChain,
  run: RunRow,
  entries: readonly WritableEntry[],
  { format: id, after }: { readonly format: string; readonly after?: ContextId | undefined },
): ContextId {
  const format = formatOf(id);
  const before = chain.db.one<{ id: ContextId }>(
    'SELECT c.id FROM run r JOIN context c ON c.seq = r.context WHERE r.entity = ? ORDER BY r.endedAt DESC, r.no DESC LIMIT 1',
    run.entity,
  );
  return checkpoint(chain, {
    parent: after ?? before?.id ?? null,
    type: 'snapshot',
    format: id,
    text: textOf(format.write(entries, { newId: chain.newId, now: timestampOf(chain.clock()) })),
    template: run.entityName,
    principal: run.entityId,
    sessionId: run.entityId,
    ...(run.activeSpaceId === null ? {} : { threadId: run.activeSpaceId }),
    checkpoint: 'turn_boundary',
    summary: `${run.runId}: ${reasonOf(run)}`.slice(0, 400),
  }).id;
}

const sentBy = (chain: ReadChain, run: RunRow): MessageRow[] => chain.db.all<MessageRow>(`${selectMessage} WHERE m.run = ? ORDER BY m.no`, run.no);

function callEntries(row: MessageRow): WritableEntry[] {
  const toolCallId = `send-${row.messageId}`;
  const call = { space: row.spaceId, text: row.text, ...(row.replyTo === null ? {} : { messageId: row.replyTo }), wait: row.expectsReply === 1 };
  return [
    { role: 'assistant', kind: 'tool_call', toolName: 'send_message', toolCallId, arguments: call },
    { role: 'tool', kind: 'tool_result', toolName: 'send_message', toolCallId, text: JSON.stringify({ messageId: row.messageId }) },
  ];
}

function reasonOf(run: RunRow): string {
  const trigger = triggerOf(run);
  if (trigger.type === 'space_message') return `${trigger.sender.name ?? 'Unknown'}: ${trigger.message ?? ''}`;
  return trigger.type === 'plan' ? `plan ${trigger.plan.name ?? trigger.plan.id}` : `service ${trigger.service}`;
}

import type { ContextId } from '../../base/index.js';
import { decodeText, toTimestamp } from '../../base/index.js';
import { checkpoint, findCommit, personOf, type ReadChain, type WriteChain } from '../../chain/index.js';
import type { RoleMessage } from '../../contract/index.js';
import { requireFormat, type WritableEntry } from '../../formats/index.js';
import { timelineMessages } from '../render/timeline.js';
import { invokeRun, type RunTimeline, runMessage, runTimeline, type TimelineChoices } from './input.js';
import { type MessageRow, parseTrigger, type RunRow, requireRun, selectMessage } from './rows.js';

/** The stored format of a run: messages with roles, made of its timeline. */
const runFormat = 'openai-chat-v1';
/** The stored format of a run that a performer continues call by call. */
const openFormat = 'claude-code-v1';

/** Commits the context and actions of a run as a snapshot. Its parent precedes it in time only. Returns the number of the commit. */
export function commitRun(chain: WriteChain, run: RunRow, output: string | undefined): number {
  const entries = callEntriesOf(chain, run.runId, { isLast: true });
  // What it sent before its agent was called stands in the history.
  const sent = chain.db.all<MessageRow>(`${selectMessage} WHERE m.run = ? AND m.at >= ? ORDER BY m.no`, run.no, run.invokedAt);
  entries.push(...sent.flatMap(callEntries));
  const said = output?.trim() ? output : undefined;
  if (said !== undefined) entries.push({ role: 'assistant', kind: 'text', text: said });
  // A run that nobody performed is not what its agent understood (B-35). It belongs to the person who ended it.
  const isPerformed = sent.length > 0 || said !== undefined;
  return findCommit(chain, commitEntries(chain, run, entries, { format: runFormat, ...(!isPerformed && { principal: personOf(chain) }) })).seq;
}

/** Commits the context of a run as a snapshot, before its agent is called and continues it. The parent is `after`, or else its last run. */
export function commitTimeline(chain: WriteChain, runId: string, { after, ...shown }: RunShown & { after?: ContextId | undefined } = {}): ContextId {
  invokeRun(chain, runId);
  // This format allows a tool call without a result between two commits.
  return commitEntries(chain, requireRun(chain, runId), callEntriesOf(chain, runId, shown), { format: openFormat, after });
}

/** How the context of a run is sent. `asRoles`: its history as messages with roles, as a profile can choose. */
export interface RunShown extends TimelineChoices {
  readonly asRoles?: boolean | undefined;
}

/** The first messages of a call of a run: the blocks as a system message, and what started or resumed the run. */
export const runMessages = (chain: ReadChain, runId: string, { asRoles, ...shown }: RunShown = {}): RoleMessage[] =>
  callMessages(runTimeline(chain, runId, shown), runMessage(chain, runId), asRoles);

/** A context as the first messages of a call. `message` is the user message: what started or resumed the run. */
export function callMessages({ input, rendered }: RunTimeline, message: string, asRoles?: boolean): RoleMessage[] {
  const asTimeline: RoleMessage[] = [
    { role: 'system', content: rendered.system },
    { role: 'user', content: message },
  ];
  if (!asRoles) return asTimeline;
  const converted = timelineMessages(input);
  return converted.length > 1 ? converted : [...converted, ...asTimeline.slice(1)];
}

const callEntriesOf = (chain: ReadChain, runId: string, shown: RunShown = {}): WritableEntry[] =>
  runMessages(chain, runId, shown).map(({ role, content }) => ({ role, kind: 'text', text: content }));

/** The commit of an agent's run that ended last. */
export const lastRunCommit = (chain: ReadChain, entityId: string): ContextId | undefined =>
  chain.db.value<ContextId>(
    `SELECT c.id FROM run r JOIN commits c ON c.seq = r.context JOIN entity e ON e.no = r.entity
      WHERE e.project = ? AND e.entityId = ? ORDER BY r.endedAt DESC, r.no DESC LIMIT 1`,
    [chain.project, entityId],
  );

function commitEntries(
  chain: WriteChain,
  run: RunRow,
  entries: readonly WritableEntry[],
  { format: id, after, principal }: { readonly format: string; readonly after?: ContextId | undefined; readonly principal?: string },
): ContextId {
  const format = requireFormat(id);
  return checkpoint(chain, {
    parent: after ?? lastRunCommit(chain, run.entityId) ?? null,
    type: 'snapshot',
    format: id,
    text: decodeText(format.write(entries, { newId: chain.newId, now: toTimestamp(chain.clock()) })),
    template: run.entityName,
    principal: principal ?? run.entityId,
    sessionId: run.entityId,
    ...(run.activeSpaceId === null ? {} : { threadId: run.activeSpaceId }),
    checkpoint: 'turn_boundary',
    summary: `${run.runId}: ${reasonOf(run)}`.slice(0, 400),
  }).id;
}

function callEntries(row: MessageRow): WritableEntry[] {
  const toolCallId = `send-${row.messageId}`;
  const call = { space: row.spaceId, text: row.text, ...(row.replyTo === null ? {} : { messageId: row.replyTo }), wait: row.expectsReply === 1 };
  return [
    { role: 'assistant', kind: 'tool_call', toolName: 'send_message', toolCallId, arguments: call },
    { role: 'tool', kind: 'tool_result', toolName: 'send_message', toolCallId, text: JSON.stringify({ messageId: row.messageId }) },
  ];
}

function reasonOf(run: RunRow): string {
  const trigger = parseTrigger(run);
  if (trigger.type === 'space_message') return `${trigger.sender.name ?? 'Unknown'}: ${trigger.message ?? ''}`;
  return trigger.type === 'plan' ? `plan ${trigger.plan.name ?? trigger.plan.id}` : `service ${trigger.service}`;
}

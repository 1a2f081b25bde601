import { type CommitSeq, type ContextId, type EntryKey, isObject, type JsonObject, notFound, parseJson, textOf, timestampOf } from '../base/index.js';
import { type Chain, type ContextRow, commitAt, commitOf, contextEntries, type OutlineEntry, outlineOf, walk } from '../chain/index.js';
import type { Request, RequestRow } from '../contract/index.js';
import { formatOf, type ParsedEntry, type WritableEntry } from '../formats/index.js';
import { type Usage, usageOf } from './claude-code.js';

/**
 * Calls of histories whose runtime recorded none: each answer in the chain was one. What was sent is put together from
 * the entries before it by the runtime's rules, and is called no more than that.
 */

/** An answer in a commit's own delta, and how many messages were before it. */
interface Answer {
  readonly key: EntryKey;
  readonly messagesBefore: number;
}

/** Where counting messages stands at the end of a context. */
interface Count {
  readonly messages: number;
  readonly lastRole: 'user' | 'assistant' | undefined;
  readonly lastAnswer: string | undefined;
}

const idPrefix = 'rebuilt:';
const idOf = (commit: ContextId, key: EntryKey): string => `${idPrefix}${commit}:${key}`;

/** The commit and the answer that a rebuilt call's id names; undefined for ids of other kinds. */
export function parseRebuiltId(requestId: string): { readonly commit: ContextId; readonly key: EntryKey } | undefined {
  const found = /^rebuilt:(ctx-[0-9a-f]+):(.+)$/.exec(requestId);
  return found ? { commit: found[1] as ContextId, key: found[2] as EntryKey } : undefined;
}

/** Calls that answers of these commits stand for. `isRecorded` says of an answer that its call is known better. */
export function rebuiltRows(chain: Chain, commits: readonly CommitSeq[], isRecorded: (record: string) => boolean): RequestRow[] {
  const counts = new Map<CommitSeq, Count>();
  return commits.flatMap((seq) => {
    const row = commitAt(chain, seq);
    const { answers, end } = answersOf(chain, row, counts);
    counts.set(seq, end);
    // What a person put together by forking was never sent.
    const unrecorded = answers.filter(({ key }) => !isRecorded(recordOf(key)));
    if (row.type !== 'delta' || row.forked || !unrecorded.length) return [];
    const own = new Map(contextEntries(chain, { id: row.id, stop: row.id }).map(({ key, entry }) => [key, entry]));
    return unrecorded.flatMap(({ key, messagesBefore }): RequestRow[] => {
      const entry = own.get(key);
      if (!entry || entry.author === synthetic) return [];
      return [
        {
          requestId: idOf(row.id, key),
          at: entry.at ?? timestampOf(row.createdAt),
          commit: row.id,
          replyKey: key,
          ...(row.sessionId !== null && { sessionId: row.sessionId }),
          source: 'entries',
          model: entry.author ?? null,
          messageCount: messagesBefore,
          tokens: recordedUsage(chain, row, [...own.values()], entry),
          proof: 'rebuilt',
        },
      ];
    });
  });
}

/** The model of messages that the runtime wrote in an answer's place. */
const synthetic = '<synthetic>';
const recordOf = (key: EntryKey): string => key.replace(/\.\d+$/, '');
const answerOf = (entry: Pick<OutlineEntry, 'key' | 'messageId'>): string => entry.messageId ?? recordOf(entry.key);

function answersOf(chain: Chain, row: ContextRow, counts: ReadonlyMap<CommitSeq, Count>): { answers: Answer[]; end: Count } {
  const answers: Answer[] = [];
  const before = row.type === 'delta' && row.parent !== null ? (counts.get(row.parent) ?? countTo(chain, row)) : nothing;
  let { messages, lastRole, lastAnswer } = before;
  for (const entry of outlineOf(chain, row.artifact, row.format).entries) {
    if (entry.hidden || entry.role === 'system') continue;
    if (entry.role === 'assistant') {
      // Blocks of one answer are one message, even where results stand between them.
      if (answerOf(entry) === lastAnswer) continue;
      if (entry.kind !== 'summary') answers.push({ key: entry.key, messagesBefore: messages });
      lastAnswer = answerOf(entry);
      if (lastRole !== 'assistant') messages += 1;
      lastRole = 'assistant';
    } else {
      if (lastRole !== 'user') messages += 1;
      lastRole = 'user';
    }
  }
  return { answers, end: { messages, lastRole, lastAnswer } };
}

const nothing: Count = { messages: 0, lastRole: undefined, lastAnswer: undefined };

/** The count at the commit before this one, from the beginning of its context on. */
function countTo(chain: Chain, row: ContextRow): Count {
  const counts = new Map<CommitSeq, Count>();
  let count = nothing;
  for (const step of walk(chain, commitAt(chain, row.parent as CommitSeq)).contributing) {
    const at = commitAt(chain, step.seq);
    if (at.parent !== null) counts.set(at.parent, count);
    count = answersOf(chain, at, counts).end;
  }
  return count;
}

/** Usage as the answer's own record has it: its last line, since lines of one answer repeat it. */
function recordedUsage(chain: Chain, row: ContextRow, own: readonly ParsedEntry[], answer: ParsedEntry): Usage {
  const last = own.findLast((entry) => entry.role === 'assistant' && entry.messageId === answer.messageId) ?? answer;
  if (row.format !== 'claude-code-v1' || !last.raw) return usageOf(undefined);
  const line = parseJson(textOf(chain.artifacts.read(row.artifact).subarray(last.raw.start, last.raw.end)));
  const message = isObject(line) ? line.message : undefined;
  return usageOf(isObject(message) ? message.usage : undefined);
}

const providerOf = (format: string): { provider: Request['provider']; format: string } =>
  format.startsWith('openai') ? { provider: 'openai', format: 'openai-chat-v1' } : { provider: 'anthropic', format: 'anthropic-messages-v1' };

/** One call, put together from the entries before its answer. @throws NOT_FOUND. */
export function getRebuilt(chain: Chain, requestId: string, commit: ContextId, key: EntryKey): Request {
  const row = commitOf(chain, commit, 'requestId');
  const all = contextEntries(chain, { id: row.id });
  const at = all.findIndex((each) => each.key === key);
  const answer = all[at];
  if (answer?.entry.role !== 'assistant') throw notFound(requestId, `${row.id} has no answer ${key}`);
  const { provider, format } = providerOf(row.format);
  const before: WritableEntry[] = all.slice(0, at).map(({ entry: { tokens: _, raw: __, ...entry } }) => entry);
  const written = parseJson(textOf(formatOf(format).write(before, { newId: () => '', now: timestampOf(row.createdAt) })));
  const parts: JsonObject = isObject(written) ? written : {};
  const { author } = answer.entry;
  return {
    requestId,
    provider,
    body: { ...(author !== undefined && { model: author }), ...parts },
    headers: {},
    digest: null,
    recordedDigest: null,
    proof: 'rebuilt',
    missing: [...(author === undefined ? ['model'] : []), ...(parts.system === undefined ? ['system'] : []), 'tools', 'parameters'],
  };
}

import { badRequest, type CommitSeq, type ContextId, isObject, type Json, notFound, timestampOf } from '../base/index.js';
import { type Chain, type ContextRow, commitOf, entries, outlineRows, resolve } from '../chain/index.js';
import { type Entry, kinds, type ReplayStep, type Turn, type TurnCall, type TurnRow } from '../contract/index.js';
import { getRequest, listRequests, type OwnRun, ownRun } from '../requests/index.js';
import { type RecordedTurn, recordingOf } from './recording.js';

/** The turns of a chain from its beginning to a commit, or to the newest commit of an agent. @throws NOT_FOUND */
export function listTurns(chain: Chain, query: { id?: ContextId | undefined; agentId?: string | undefined }): TurnRow[] {
  const { turns, steps } = recordingOf(chain, tipOf(chain, query));
  const names = namesOf(
    chain,
    turns.map((turn) => turn.seq),
  );
  return turns.map((turn, at) => rowOf(turn, at + 1, turn.count ? steps[turn.first] : undefined, names.get(turn.seq)));
}

function tipOf(chain: Chain, { id, agentId }: { id?: ContextId | undefined; agentId?: string | undefined }): ContextRow {
  if (id !== undefined) return commitOf(chain, id);
  if (agentId === undefined) throw badRequest('id', 'turns are those of a commit or of an agent: give id or agentId');
  const newest = resolve(chain, agentId, timestampOf(8.64e15)).id;
  if (newest === null) throw notFound(agentId, `no commit of an agent ${agentId} is in this project`);
  return commitOf(chain, newest);
}

/** What may change of a commit, and so is in no recording: whose it is called and what it is called. */
interface Named {
  readonly seq: CommitSeq;
  readonly agentId: string;
  readonly summary: string | null;
}

const namesOf = (chain: Chain, seqs: readonly CommitSeq[]): ReadonlyMap<CommitSeq, Named> =>
  new Map(
    chain.db
      .all<Named>(
        'SELECT seq, COALESCE(principal, template) AS agentId, summary FROM context WHERE seq IN (SELECT value FROM json_each(?))',
        JSON.stringify(seqs),
      )
      .map((row) => [row.seq, row] as const),
  );

function rowOf(turn: RecordedTurn, number: number, first: ReplayStep | undefined, named: Named | undefined): TurnRow {
  const { turnId, count: entryCount, tokens, errors, startedAt, endedAt } = turn;
  const isPrompt = first?.role === 'user' && first.kind !== 'summary';
  const kind = turn.type === 'compaction' ? 'compaction' : isPrompt ? 'prompt' : 'continuation';
  return {
    turnId,
    agentId: named?.agentId ?? '',
    number,
    trigger: {
      kind,
      key: kind === 'continuation' ? null : (first?.key ?? null),
      text: kind === 'continuation' ? null : (named?.summary ?? first?.head ?? null),
    },
    entries: entryCount,
    tokens,
    errors,
    first: turn.first,
    startedAt,
    endedAt,
  };
}

/** The entries of the commit itself, as its context shows them. */
export const deltaEntries = (chain: Chain, row: ContextRow): Entry[] => entries(chain, { id: row.id, stop: row.id }).entries;

/** A turn whole: what went in, what came out, how its tools went, and what it cost, as far as that is known. */
export function turnOf(chain: Chain, turnId: ContextId): Turn {
  const row = commitOf(chain, turnId, 'turnId');
  const listed = listTurns(chain, { id: row.id }).at(-1);
  if (listed?.turnId !== row.id) throw badRequest('turnId', `${row.id} is a snapshot: it repeats turns and is none`);
  const own = deltaEntries(chain, row);
  const given = ownInput(own);
  const before = row.parentId === null ? undefined : outlineRows(chain, { id: row.parentId });
  const requests = listRequests(chain, { turnId: row.id });
  const ran = ownRun(chain, row.id);
  const input = [...(row.type === 'compaction' ? [] : (before?.rows ?? [])), ...given];
  const last = requests.at(-1);
  return {
    ...listed,
    input: {
      parent: row.parentId,
      entries: input.length,
      tokens: input.reduce((sum, entry) => sum + entry.tokens, 0),
      byKind: tokensByKind(input),
      keys: given.map((entry) => entry.key),
      requests: requests.map(({ requestId, proof }) => ({ requestId, proof })),
    },
    output: own.slice(given.length),
    calls: callsOf(own),
    model: last?.model ?? null,
    settings: last ? settingsOf(getRequest(chain, last.requestId).body) : null,
    usage: usageOf(requests),
    cost: ran ? sumOf(ran.calls.map((call) => call.cost)) : null,
    ...(ran && timesOf(ran)),
  };
}

/** What began the turn: everything before the model's first words. */
export function ownInput(own: readonly Entry[]): Entry[] {
  const reply = own.findIndex((entry) => entry.role === 'assistant');
  return own.slice(0, reply < 0 ? own.length : reply);
}

export const tokensByKind = (list: readonly Pick<Entry, 'kind' | 'tokens'>[]): Turn['input']['byKind'] =>
  kinds.flatMap((kind) => {
    const tokens = list.reduce((sum, entry) => sum + (entry.kind === kind ? entry.tokens : 0), 0);
    return tokens ? [{ kind, tokens }] : [];
  });

/** Calls with their results, timed by when the runtime wrote the two down. */
export function callsOf(own: readonly Entry[]): TurnCall[] {
  const results = new Map(
    own.flatMap((entry) => (entry.kind === 'tool_result' && entry.toolCallId !== undefined ? [[entry.toolCallId, entry] as const] : [])),
  );
  return own.flatMap((entry): TurnCall[] => {
    if (entry.kind !== 'tool_call' || entry.toolCallId === undefined) return [];
    const result = results.get(entry.toolCallId);
    const ms = entry.at && result?.at ? Date.parse(result.at) - Date.parse(entry.at) : null;
    return [
      {
        toolCallId: entry.toolCallId,
        toolName: entry.toolName ?? null,
        key: entry.key,
        resultKey: result?.key ?? null,
        startedAt: entry.at ?? null,
        endedAt: result?.at ?? null,
        ms: ms !== null && ms >= 0 ? ms : null,
        isError: result?.isError ?? false,
      },
    ];
  });
}

const bulky = new Set(['messages', 'system', 'tools', 'input', 'contents', 'instructions', 'systemInstruction']);

export const settingsOf = (body: unknown): Record<string, Json> | null =>
  isObject(body) ? Object.fromEntries(Object.entries(body).filter(([key]) => !bulky.has(key))) : null;

/** When Stemma asked, and when it was answered: the entries of a reply that it got have no times of their own. */
function timesOf({ calls }: OwnRun): Pick<Turn, 'startedAt' | 'endedAt'> {
  const [first, last] = [calls[0], calls.at(-1)];
  return { startedAt: first ? timestampOf(first.at) : null, endedAt: last ? timestampOf(last.at + last.ms) : null };
}

const sumOf = (numbers: readonly (number | null)[]): number | null => {
  const known = numbers.flatMap((each) => each ?? []);
  return known.length ? known.reduce((total, each) => total + each, 0) : null;
};

/** Sums over the calls of a turn; what no call recorded stays null. */
function usageOf(requests: readonly { tokens: NonNullable<Turn['usage']> }[]): Turn['usage'] {
  if (!requests.length) return null;
  const sum = (part: keyof NonNullable<Turn['usage']>): number | null => sumOf(requests.map(({ tokens }) => tokens[part]));
  return { input: sum('input'), output: sum('output'), cacheRead: sum('cacheRead'), cacheWrite: sum('cacheWrite') };
}

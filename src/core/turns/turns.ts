import { badRequest, type ContextId, isObject, type Json, notFound, type Timestamp, timestampOf } from '../base/index.js';
import { type Chain, type ContextRow, commitAt, commitOf, entries, lineage, outlineOf, outlineRows, resolve, type Step } from '../chain/index.js';
import { type Entry, kinds, type Turn, type TurnCall, type TurnRow } from '../contract/index.js';
import { getRequest, recordedRequests } from '../requests/index.js';

/** The turns of a chain from its beginning to a commit, or to the newest commit of an agent. @throws NOT_FOUND */
export function listTurns(chain: Chain, query: { id?: ContextId | undefined; agentId?: string | undefined }): TurnRow[] {
  const tip = tipOf(chain, query);
  return lineage(chain, tip)
    .filter(isTurn)
    .map((step, at) => rowOf(chain, commitAt(chain, step.seq), at + 1));
}

function tipOf(chain: Chain, { id, agentId }: { id?: ContextId | undefined; agentId?: string | undefined }): ContextRow {
  if (id !== undefined) return commitOf(chain, id);
  if (agentId === undefined) throw badRequest('id', 'turns are those of a commit or of an agent: give id or agentId');
  const newest = resolve(chain, agentId, timestampOf(8.64e15)).id;
  if (newest === null) throw notFound(agentId, `no commit of an agent ${agentId} is in this project`);
  return commitOf(chain, newest);
}

/** A snapshot repeats turns, it is none. */
const isTurn = (step: Pick<Step, 'type' | 'parent'>): boolean => step.type !== 'snapshot' || step.parent === null;

const agentOf = (row: ContextRow): string => row.principal ?? row.template;

function rowOf(chain: Chain, row: ContextRow, number: number): TurnRow {
  const { entries: all } = outlineOf(chain, row.artifact, row.format);
  const seen = all.filter((entry) => !entry.hidden);
  const [first] = seen;
  const isPrompt = first?.role === 'user' && first.kind !== 'summary';
  const kind = row.type === 'compaction' ? 'compaction' : isPrompt ? 'prompt' : 'continuation';
  const times = timesOf(chain, row);
  return {
    turnId: row.id,
    agentId: agentOf(row),
    number,
    trigger: {
      kind,
      key: kind === 'continuation' ? null : (first?.key ?? null),
      text: kind === 'continuation' ? null : (row.summary ?? first?.head ?? null),
    },
    entries: seen.length,
    tokens: row.tokenCount,
    errors: row.errors,
    startedAt: times.startedAt,
    endedAt: times.endedAt,
  };
}

/** The first and the last time that the runtime wrote down within the turn. */
function timesOf(chain: Chain, row: ContextRow): { startedAt: Timestamp | null; endedAt: Timestamp | null } {
  const times = deltaEntries(chain, row).flatMap((entry) => entry.at ?? []);
  return { startedAt: times[0] ?? null, endedAt: times.at(-1) ?? null };
}

/** The entries of the commit itself, as its context shows them. */
export const deltaEntries = (chain: Chain, row: ContextRow): Entry[] => entries(chain, { id: row.id, stop: row.id }).entries;

/** A turn whole: what went in, what came out, how its tools went, and what it cost, as far as that is known. */
export function turnOf(chain: Chain, turnId: ContextId): Turn {
  const row = commitOf(chain, turnId, 'turnId');
  const number = lineage(chain, row).filter(isTurn).length;
  const own = deltaEntries(chain, row);
  const given = ownInput(own);
  const before = row.parentId === null ? undefined : outlineRows(chain, { id: row.parentId });
  const requests = recordedRequests(chain, { turnId: row.id });
  const input = [...(row.type === 'compaction' ? [] : (before?.rows ?? [])), ...given];
  const last = requests.at(-1);
  return {
    ...rowOf(chain, row, number),
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
    cost: null,
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

/** Sums over the calls of a turn; what no call recorded stays null. */
function usageOf(requests: readonly { tokens: NonNullable<Turn['usage']> }[]): Turn['usage'] {
  if (!requests.length) return null;
  const sum = (part: keyof NonNullable<Turn['usage']>): number | null => {
    const known = requests.flatMap(({ tokens }) => tokens[part] ?? []);
    return known.length ? known.reduce((total, each) => total + each, 0) : null;
  };
  return { input: sum('input'), output: sum('output'), cacheRead: sum('cacheRead'), cacheWrite: sum('cacheWrite') };
}

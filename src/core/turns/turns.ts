import { badRequest, type CommitSeq, type ContextId, isObject, type Json, notFound, toTimestamp } from '../base/index.js';
import { type ContextRow, commitAt, contextSize, deltaEntries, findCommit, type ReadChain, resolve, type Step, turnPartsAt } from '../chain/index.js';
import { type Entry, kinds, type Turn, type TurnCall, type TurnRow } from '../contract/index.js';
import { type OutlineEntry, promptAt } from '../formats/index.js';
import { agentNamed, type AgentTurnRow as CardTurn, newestCommitOf, turnNamed, turnsOfCommits } from '../handover/index.js';
import { callsOfCommit, type OwnRun, ownRun, settingsBody } from '../requests/index.js';
import { costsAt } from '../usage/index.js';
import { resultsIn } from './reply.js';
import { lastTurn, type TimedTurn, timed, turnsIn, turnsTo, visibleIn } from './turns-along.js';

/**
 * A turn of a chain and its commits. Several commits are one turn if they are the input and the output of an agent's card turn, or a prompt that was
 * edited here and its answer.
 */
interface Grouped<One> {
  readonly commits: readonly [One, ...One[]];
  readonly cardTurn: CardTurn | undefined;
}
type Group = Grouped<TimedTurn>;

/** The turns of a chain up to a commit, or of an agent up to its newest one. The commits of a card turn are one turn (H20). @throws NOT_FOUND */
export function listTurns(chain: ReadChain, query: { id?: ContextId | undefined; agentId?: string | undefined }): TurnRow[] {
  const tip = tipOf(chain, query);
  const turns = tip ? turnsTo(chain, tip) : [];
  const names = readNames(chain, turns);
  const groups = tip ? groupTurns(chain, tip, timed(chain, turns)) : [];
  const rows = groups.map((group, at) => makeRow(chain, group, at + 1, names));
  const isCardAgent = query.id === undefined && agentNamed(chain, query.agentId ?? '') !== undefined;
  return isCardAgent ? rows.filter((row) => row.agentId === query.agentId) : rows;
}

/** The turns of a chain, with each commit as its own turn. */
export const listCommitTurns = (chain: ReadChain, tip: ContextRow): TurnRow[] => eachTurn(chain, turnsTo(chain, tip), 0);

/** Each commit as a turn of its own, after so many turns. */
function eachTurn(chain: ReadChain, turns: Parameters<typeof timed>[1], before: number): TurnRow[] {
  const names = readNames(chain, turns);
  return timed(chain, turns).map((turn, at) => makeRow(chain, { commits: [turn], cardTurn: undefined }, before + at + 1, names));
}

/** The last turns of a chain, after so many turns and steps. Undefined if several commits can be one turn. */
export const listLastTurns = (
  chain: ReadChain,
  tip: ContextRow,
  commits: readonly Step[],
  before: { readonly turns: number; readonly steps: number },
): TurnRow[] | undefined => (isEachTurn(chain, tip) ? eachTurn(chain, turnsIn(chain, commits, before.steps), before.turns) : undefined);

/** The last turn. Only its own content is read; the others are counted. */
function lastListed(chain: ReadChain, tip: ContextRow): { readonly row: TurnRow; readonly group: Group } | undefined {
  if (isEachTurn(chain, tip)) {
    const last = lastTurn(chain, tip);
    if (!last) return undefined;
    const [turn] = timed(chain, [last.turn]);
    const group: Group = { commits: [turn as TimedTurn], cardTurn: undefined };
    return { group, row: makeRow(chain, group, last.number, readNames(chain, group.commits)) };
  }
  const turns = turnsTo(chain, tip);
  const groups = groupTurns(chain, tip, turns);
  const last = groups.at(-1);
  if (!last) return undefined;
  const [head, ...rest] = timed(chain, last.commits);
  const group: Group = { ...last, commits: [head as TimedTurn, ...rest] };
  return { group, row: makeRow(chain, group, groups.length, readNames(chain, group.commits)) };
}

/** Whether every commit up to this one is a turn of its own: no card turn, and no prompt that was edited here, has several. */
const isEachTurn = (chain: ReadChain, tip: ContextRow): boolean =>
  chain.db.one('SELECT 1 FROM agent WHERE project = ? LIMIT 1', chain.project) === undefined && turnPartsAt(chain, tip).partOf.size === 0;

function groupTurns<One extends Pick<TimedTurn, 'step'>>(chain: ReadChain, tip: ContextRow, turns: readonly One[]): Grouped<One>[] {
  const cardTurns = turnsOfCommits(
    chain,
    turns.map(({ step }) => step.seq),
  );
  const groups: { commits: [One, ...One[]]; cardTurn: CardTurn | undefined }[] = [];
  const { partOf } = turnPartsAt(chain, tip);
  for (const turn of turns) {
    const cardTurn = cardTurns.get(turn.step.seq);
    const last = groups.at(-1);
    const fork = partOf.get(turn.step.seq);
    if (cardTurn ? last?.cardTurn?.no === cardTurn.no : fork !== undefined && last?.commits[0].step.seq === fork) last?.commits.push(turn);
    else groups.push({ commits: [turn], cardTurn });
  }
  return groups;
}

function tipOf(chain: ReadChain, { id, agentId }: { id?: ContextId | undefined; agentId?: string | undefined }): ContextRow | undefined {
  if (id !== undefined) return findCommit(chain, id);
  if (agentId === undefined) throw badRequest('id', 'Give id or agentId.');
  const agent = agentNamed(chain, agentId);
  if (agent) return agent.tipId === null ? undefined : findCommit(chain, agent.tipId);
  const newest = resolve(chain, agentId, toTimestamp(8.64e15)).id;
  if (newest === null) throw notFound(agentId, `This project has no commit of the agent ${agentId}.`);
  return findCommit(chain, newest);
}

/** The commit that names a turn: the commit itself, or the newest commit of an agent turn. @throws NOT_FOUND */
export function commitOfTurn(chain: ReadChain, turnId: ContextId | string): ContextRow {
  if (!turnId.startsWith('turn_')) return findCommit(chain, turnId as ContextId, 'turnId');
  const newest = newestCommitOf(turnNamed(chain, turnId));
  if (newest === null) throw notFound(turnId, `The turn ${turnId} is queued and has no commit yet.`);
  return findCommit(chain, newest);
}

/** Metadata that can change, which is why recordings do not contain it. */
interface Named {
  readonly seq: CommitSeq;
  readonly agentId: string;
  readonly summary: string | null;
}

const readNames = (chain: ReadChain, turns: readonly Pick<TimedTurn, 'step'>[]): ReadonlyMap<CommitSeq, Named> =>
  new Map(
    chain.db
      .all<Named>(
        'SELECT seq, COALESCE(principal, template) AS agentId, summary FROM commits WHERE seq IN (SELECT value FROM json_each(?))',
        JSON.stringify(turns.map(({ step }) => step.seq)),
      )
      .map((row) => [row.seq, row] as const),
  );

function makeRow(chain: ReadChain, { commits, cardTurn }: Group, number: number, names: ReadonlyMap<CommitSeq, Named>): TurnRow {
  const [head] = commits;
  const last = commits.at(-1) ?? head;
  // An edited prompt keeps the time of the original, so the turn of a fork begins with its answer.
  const worked = cardTurn || commits.length === 1 ? commits : commits.slice(1);
  const startedAt = worked.find((turn) => turn.startedAt !== null)?.startedAt ?? null;
  const endedAt = worked.findLast((turn) => turn.endedAt !== null)?.endedAt ?? null;
  const sum = (of: (turn: TimedTurn) => number): number => commits.reduce((total, turn) => total + of(turn), 0);
  return {
    turnId: last.step.id,
    ...(cardTurn && { agentTurnId: cardTurn.agentTurnId }),
    agentId: names.get(last.step.seq)?.agentId ?? '',
    number,
    trigger: cardTurn ? cardTrigger(commits.flatMap(({ step }) => visibleIn(chain, step))) : findTrigger(head, names),
    entries: sum(({ said }) => said.entries),
    tokens: sum(({ step }) => step.tokenCount),
    errors: sum(({ said }) => said.errors),
    first: head.first,
    startedAt,
    endedAt,
    // The commits of a card turn are its input and its output; between them, its model worked.
    ms: cardTurn ? timeBetween(startedAt, endedAt) : sumOf(worked.map(({ ms }) => ms)),
  };
}

function timeBetween(start: string | null, end: string | null): number | null {
  const ms = start && end ? Date.parse(end) - Date.parse(start) : -1;
  return ms > 0 ? ms : null;
}

function findTrigger({ step: { type, seq }, said: { first, prompt } }: TimedTurn, names: ReadonlyMap<CommitSeq, Named>): TurnRow['trigger'] {
  const kind = type === 'compaction' ? 'compaction' : prompt ? 'prompt' : 'continuation';
  if (kind === 'continuation') return { kind, key: null, text: null };
  const shown = kind === 'prompt' ? prompt : first;
  return { kind, key: shown?.key ?? null, text: names.get(seq)?.summary ?? shown?.head ?? null };
}

/** The instruction of a card turn: its first card with the role of the user. Key and text are of this card. */
function cardTrigger(steps: readonly OutlineEntry[]): TurnRow['trigger'] {
  const asked = steps.find(({ role, kind }) => role === 'user' && kind === 'text');
  return asked ? { kind: 'prompt', key: asked.key, text: asked.head ?? null } : { kind: 'continuation', key: null, text: null };
}

/**
 * A turn with its input, output, tool calls, usage and cost. Unrecorded values are null. `turnId` is a commit or an agent turn.
 * @throws NOT_FOUND; BAD_REQUEST for a snapshot that is no input of a card turn.
 */
export function turnOf(chain: ReadChain, turnId: ContextId | string): Turn {
  const row = commitOfTurn(chain, turnId);
  const { row: found, group } = lastListed(chain, row) ?? {};
  const cardTurn = turnsOfCommits(chain, [row.seq]).get(row.seq);
  const isOf = cardTurn ? group?.cardTurn?.no === cardTurn.no : found?.turnId === row.id;
  if (!found || !group || !isOf) throw badRequest('turnId', `${row.id} is a snapshot, not a turn.`);
  const { own, given, input, parent } = group.cardTurn ? cardEntries(chain, group, group.cardTurn) : commitEntries(chain, group, row);
  const requests = group.commits.flatMap(({ step }) => callsOfCommit(chain, step.id));
  const ran = ownRun(chain, row.id);
  const price = costsAt(chain, [row.id]).get(row.id);
  /** What the provider said that its calls cost. */
  const billed = ran ? sumOf(ran.calls.map((call) => call.cost)) : null;
  const last = requests.at(-1);
  return {
    ...found,
    input: {
      parent,
      entries: input.entries,
      tokens: input.byKind.reduce((sum, { tokens }) => sum + tokens, 0),
      byKind: [...input.byKind],
      keys: given.map((entry) => entry.key),
      requests: requests.map(({ requestId, proof }) => ({ requestId, proof })),
    },
    output: own.slice(given.length),
    calls: row.forked ? joinCalls(own).map(untimed) : joinCalls(own),
    model: last?.model ?? null,
    settings: last ? settingsOf(settingsBody(chain, last.requestId)) : null,
    usage: sumUsage(requests),
    cost: billed ?? price?.amount ?? null,
    ...(billed === null && price?.atLeast && { costAtLeast: true }),
    ...(ran && runTimes(ran)),
  };
}

interface TurnEntries {
  /** The entries of the turn's own commits, and the entries among them that are input. */
  readonly own: Entry[];
  readonly given: Entry[];
  readonly input: Pick<Turn['input'], 'entries' | 'byKind'>;
  readonly parent: ContextId | null;
}

function commitEntries(chain: ReadChain, { commits }: Group, row: ContextRow): TurnEntries {
  const own = commits.flatMap(({ step }) => deltaEntries(chain, commitAt(chain, step.seq)));
  const given = ownInput(own);
  const { parentId } = commitAt(chain, commits[0].step.seq);
  const before = parentId === null || row.type === 'compaction' ? undefined : contextSize(chain, parentId);
  const byKind = tokensByKind([...(before?.byKind ?? []), ...given]);
  return { own, given, input: { entries: (before?.total ?? 0) + given.length, byKind }, parent: parentId };
}

/** The model of a card turn saw only the content of its start commit, and nothing of the chain before it. */
function cardEntries(chain: ReadChain, { commits }: Group, { startId }: CardTurn): TurnEntries {
  const start = startId === null ? undefined : findCommit(chain, startId);
  const rows = commits.map(({ step }) => commitAt(chain, step.seq));
  const isGiven = ({ seq }: ContextRow): boolean => start !== undefined && seq <= start.seq;
  const entriesOf = (some: readonly ContextRow[]): Entry[] => some.flatMap((row) => deltaEntries(chain, row));
  const [given, output] = [entriesOf(rows.filter(isGiven)), entriesOf(rows.filter((row) => !isGiven(row)))];
  const size = start && contextSize(chain, start.id);
  return {
    own: [...given, ...output],
    given,
    input: size ? { entries: size.total, byKind: size.byKind } : { entries: given.length, byKind: tokensByKind(given) },
    parent: rows[0]?.parentId ?? null,
  };
}

/**
 * The input of a turn: its entries before the reply to its last prompt. A turn that a command interrupted and that was resumed contains an answer
 * generated by the agent itself (`<synthetic>`) before the prompt. The prompt is then part of the input too.
 */
export function ownInput(own: readonly Entry[]): Entry[] {
  const isReply = (entry: Entry): boolean => entry.role === 'assistant';
  const spoken = own.findIndex((entry) => isReply(entry) && entry.author !== syntheticAuthor);
  const before = own.slice(0, spoken < 0 ? own.length : spoken);
  const prompt = before.findLastIndex((entry, at) => promptAt([{ ...entry, head: entry.text }]) === 0 && at > before.findIndex(isReply));
  const reply = own.findIndex((entry, at) => isReply(entry) && at > prompt);
  return own.slice(0, reply < 0 ? own.length : reply);
}

/** The author name of answers that Claude Code generated itself. */
const syntheticAuthor = '<synthetic>';

/** Sums tokens by entry kind. */
export const tokensByKind = (list: readonly Pick<Entry, 'kind' | 'tokens'>[]): Turn['input']['byKind'] =>
  kinds.flatMap((kind) => {
    const tokens = list.reduce((sum, entry) => sum + (entry.kind === kind ? entry.tokens : 0), 0);
    return tokens ? [{ kind, tokens }] : [];
  });

/** Calls with their results, with the times that the agent recorded. */
export function joinCalls(own: readonly Entry[]): TurnCall[] {
  const results = resultsIn(own);
  return own.flatMap((entry): TurnCall[] => {
    if (entry.kind !== 'tool_call' || entry.toolCallId === undefined) return [];
    const result = results.get(entry.toolCallId);
    const ms = entry.at && result?.at ? Date.parse(result.at) - Date.parse(entry.at) : null;
    const { key, toolCallId, toolName = null, at: startedAt = null } = entry;
    const { key: resultKey = null, at: endedAt = null, isError = false } = result ?? {};
    return [{ toolCallId, toolName, key, resultKey, startedAt, endedAt, ms: ms !== null && ms >= 0 ? ms : null, isError }];
  });
}

/** Stemma stores all calls of a reply together with the time of storage, which is not the time of the calls. */
const untimed = (call: TurnCall): TurnCall => (call.ms === 0 ? { ...call, startedAt: null, endedAt: null, ms: null } : call);

const bulky = new Set(['messages', 'system', 'tools', 'input', 'contents', 'instructions', 'systemInstruction']);

/** The settings of a request body: everything but messages, system prompt and tools. */
const settingsOf = (body: unknown): Record<string, Json> | null =>
  isObject(body) ? Object.fromEntries(Object.entries(body).filter(([key]) => !bulky.has(key))) : null;

/** Start and end of Stemma's own calls, which its entries do not have. A recorded reply has no end, because Stemma did not wait for it. */
function runTimes({ calls, provider }: OwnRun): Pick<Turn, 'startedAt' | 'endedAt' | 'ms'> {
  const [first, last] = [calls[0], provider === 'recorded' ? undefined : calls.at(-1)];
  return {
    startedAt: first ? toTimestamp(first.at) : null,
    endedAt: last ? toTimestamp(last.at + last.ms) : null,
    ms: first && last ? last.at + last.ms - first.at : null,
  };
}

/** The sum of the known numbers; null if all are unknown. */
export const sumOf = (numbers: readonly (number | null)[]): number | null => {
  const known = numbers.flatMap((each) => each ?? []);
  return known.length ? known.reduce((total, each) => total + each, 0) : null;
};

/** Token sums over the calls of a turn; null if no call recorded the value. */
function sumUsage(requests: readonly { tokens: NonNullable<Turn['usage']> }[]): Turn['usage'] {
  if (!requests.length) return null;
  const sum = (part: keyof NonNullable<Turn['usage']>): number | null => sumOf(requests.map(({ tokens }) => tokens[part]));
  return { input: sum('input'), output: sum('output'), cacheRead: sum('cacheRead'), cacheWrite: sum('cacheWrite') };
}

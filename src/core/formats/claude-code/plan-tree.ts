import { isObject, type JsonObject, stringAt } from '../../base/index.js';
import type { Problem } from '../format.js';
import { chooseById } from '../shared/plans.js';
import { append, branchFor, noBranches, startBranch } from './plan-branches.js';
import type { TranscriptLine } from './plan-lines.js';
import { type Branch, boundaryBefore, type Chained, isChainedLine, isNode, type RecordNode, type Tree } from './plan-nodes.js';
import { firstTextOf, readContent } from './schema.js';

/** The facts that the tree needs from outside the file. */
export interface Surroundings {
  /** The id by which the project knows the record. `isParentStored`: true if the project also contains the parent. */
  readonly storedAs: (line: Chained, isParentStored: boolean) => string | undefined;
  /** Whether an earlier import of this file stored the record. */
  readonly isImported: (line: TranscriptLine) => boolean;
  /** Whether the project knows the record from another file. */
  readonly isKnown: (uuid: string) => boolean;
  readonly recordOf: (line: TranscriptLine) => JsonObject;
  readonly wholeIsSidechain: boolean;
  /** The record of another file after which the conversation of the file begins. */
  readonly begunAfter: string | undefined;
}

const newGrowth = (around: Surroundings, { chosen, repeated, skipped }: ReturnType<typeof chooseById<Chained>>) => ({
  around,
  chosen,
  repeated: repeated as Set<TranscriptLine>,
  skipped,
  placements: new Map<TranscriptLine, RecordNode>(),
  nodes: [] as RecordNode[],
  branches: noBranches(),
  /** The parents of torn lines, by the torn line's id. */
  ghosts: new Map<string, string | null>(),
  kept: new Map<RecordNode, RecordNode[]>(),
  /** The compaction of each kept message. Records that follow the message continue the compaction's summary. */
  keptBy: new Map<string, { readonly boundary: RecordNode; readonly keeps: number }>(),
  summaries: new Map<RecordNode, RecordNode>(),
  /** The call that sent each prompt to a subagent. */
  calls: new Map<string, string>(),
  /** Records whose parent comes later in the file, by the parent's id. */
  waiting: new Map<string, Chained[]>(),
  notes: [] as Problem[],
  /** The last record of the main conversation in file order, as far as it has been read. */
  previous: undefined as RecordNode | undefined,
});
type Growth = ReturnType<typeof newGrowth>;

interface Place {
  readonly parent: Branch['from'];
  readonly keeps?: number;
}

/**
 * Places records in their tree, in file order. A record whose parent comes later in the file waits for it. Gaps in the links are resolved as the
 * agent does it (2.1.329, run on made-up files): a record without a known parent follows the previous record, and of two records with the same id,
 * the last is read.
 */
export function growTree(lines: readonly TranscriptLine[], around: Surroundings): Tree {
  const growth = newGrowth(
    around,
    chooseById(lines.filter(isChainedLine), ({ uuid }) => uuid, around.isImported),
  );
  const { repeated, skipped } = growth;
  for (const line of shownAgain(lines)) repeated.add(line);
  for (const line of lines) {
    const ghost = line.more?.ghost;
    if (ghost && !nodeOf(growth, ghost.uuid)) growth.ghosts.set(ghost.uuid, parentThroughGhosts(growth, ghost.parentUuid));
    if (isChainedLine(line) && !repeated.has(line) && !isLoose(growth, line)) settle(growth, line, false);
  }
  if (growth.waiting.size > 0) settleCycles(growth, lines);
  const { branches, nodes, placements, kept, notes } = growth;
  return { branches: branches.list, nodes, placements, repeated, kept, skipped, notes };
}

/** Lines of the queue with a prompt that an attachment shows too, and copies of such lines. */
function shownAgain(lines: readonly TranscriptLine[]): readonly TranscriptLine[] {
  const queued = lines.filter(({ more }) => more?.queued);
  const attached = new Map<string, number>();
  for (const { more } of queued) if (more?.queued?.isAttached) attached.set(more.queued.text, (attached.get(more.queued.text) ?? 0) + 1);
  const seen = new Set<string>();
  return queued.filter(({ more, timestamp = '' }) => {
    const { text = '', isAttached } = more?.queued ?? {};
    if (isAttached) return false;
    const isCopy = seen.has(`${timestamp} ${text}`);
    seen.add(`${timestamp} ${text}`);
    const left = attached.get(text) ?? 0;
    if (isCopy || left === 0) return isCopy;
    attached.set(text, left - 1);
    return true;
  });
}

function nodeOf({ chosen, placements }: Growth, uuid: string | undefined): RecordNode | undefined {
  const line = uuid === undefined ? undefined : chosen.get(uuid);
  return line && placements.get(line);
}

/** Bookkeeping that is its own parent has no connection to the conversation. */
function isLoose({ repeated, skipped }: Growth, line: Chained): boolean {
  if (line.parent !== line.uuid || line.isMessage) return false;
  repeated.add(line);
  skipped.push({ line: line.line, reason: 'The record names itself as its parent and is not a message.' });
  return true;
}

/** Places the record and all records that wait for it, or makes it wait. */
function settle(growth: Growth, first: Chained, byPosition: boolean): void {
  const { placements, waiting, around } = growth;
  const queue = [first];
  for (let line = queue.pop(); line; line = queue.pop()) {
    if (placements.has(line)) continue;
    const sidechain = !around.wholeIsSidechain && line.sidechain;
    const place = findPlace(growth, line, sidechain, byPosition && line === first);
    if ('waitFor' in place) {
      const others = waiting.get(place.waitFor);
      if (others) others.push(line);
      else waiting.set(place.waitFor, [line]);
      continue;
    }
    addNode(growth, line, sidechain, place);
    const waited = waiting.size > 0 ? waiting.get(line.uuid) : undefined;
    if (!waited) continue;
    for (const one of waited.reverse()) queue.push(one);
    waiting.delete(line.uuid);
  }
}

/** Records that wait for each other follow the previous record, one after the other. */
function settleCycles(growth: Growth, lines: readonly TranscriptLine[]): void {
  growth.previous = undefined;
  for (const line of lines) {
    if (!isChainedLine(line) || growth.repeated.has(line)) continue;
    if (!growth.placements.has(line)) settle(growth, line, true);
    const node = growth.placements.get(line);
    if (node && (growth.around.wholeIsSidechain || !node.branch.sidechain)) growth.previous = node;
  }
}

function findPlace(growth: Growth, line: Chained, sidechain: boolean, byPosition: boolean): Place | { readonly waitFor: string } {
  const { previous, chosen, around, keptBy, summaries } = growth;
  const isBoundary = line.part === 'boundary';
  const parent = isBoundary ? (line.more?.logicalParent ?? line.parent) : line.parent;
  const follow = (why: string): Place => followPrevious(growth, line, sidechain, why);
  if (parent === undefined && isBoundary && previous) return follow('the compaction names no parent');
  if (parent === undefined) return { parent: beginning(growth) };
  if (parent === line.uuid) return follow('the record names itself as its parent');
  const found = nodeThroughGhosts(growth, parent);
  if (found) {
    if (sidechain && !found.branch.sidechain) return { parent: null };
    const compaction = isBoundary ? undefined : keptBy.get(found.line.uuid);
    const summary = compaction && summaries.get(compaction.boundary);
    return compaction && summary ? { parent: summary, keeps: compaction.keeps } : { parent: found };
  }
  const isLater = chosen.has(parent);
  // The file of a fork begins with the compaction that it continues; the compaction's parent comes later, as a kept message.
  if (isLater && isBoundary) return previous ? follow(`the parent ${parent} comes later in the file`) : { parent: null };
  if (isLater && !byPosition) return { waitFor: parent };
  if (isLater) return follow(`the parent ${parent} is a descendant of the record`);
  if (around.isKnown(parent)) return { parent: { record: parent } };
  return follow(`the parent ${parent} does not exist`);
}

/** The first record of a forked subagent follows the context from which it was forked. */
const beginning = ({ around: { begunAfter }, nodes }: Growth): Place['parent'] =>
  begunAfter !== undefined && nodes.length === 0 ? { record: begunAfter } : null;

function followPrevious({ previous, notes }: Growth, line: Chained, sidechain: boolean, why: string): Place {
  const before = sidechain ? undefined : previous;
  notes.push({ line: line.line, reason: `${why}: read as ${before ? 'a child of the record before it' : 'a root'}` });
  return { parent: before ?? null };
}

/** The record with this id. For a torn line, the record that it follows. */
function nodeThroughGhosts(growth: Growth, uuid: string): RecordNode | undefined {
  const { ghosts } = growth;
  return nodeOf(growth, uuid) ?? (ghosts.size > 0 ? nodeOf(growth, ghosts.get(uuid) ?? undefined) : undefined);
}

/** A torn line whose parent is torn follows the parent's parent. */
function parentThroughGhosts(growth: Growth, uuid: string | null): string | null {
  return uuid !== null && !nodeOf(growth, uuid) ? (growth.ghosts.get(uuid) ?? uuid) : uuid;
}

function addNode(growth: Growth, line: Chained, sidechain: boolean, place: Place): void {
  const { around, calls, summaries } = growth;
  const stored = around.storedAs(line, !isNode(place.parent) || place.parent.stored !== undefined);
  const branch = branchAt(growth, line, place, sidechain);
  const node: RecordNode = { line, branch, index: branch.nodes.length, stored };
  append(node);
  growth.placements.set(line, node);
  growth.nodes.push(node);
  if (line.part === 'boundary') keepMessages(growth, node);
  const boundary = line.part === 'summary' ? boundaryBefore(node) : undefined;
  if (boundary) summaries.set(boundary, node);
  for (const call of line.more?.agents ?? []) if (call.prompt !== undefined) calls.set(call.prompt, call.id);
  if (!sidechain && !(growth.previous && growth.previous.line.start > line.start)) growth.previous = node;
}

function branchAt(growth: Growth, line: Chained, { parent, keeps }: Place, sidechain: boolean): Branch {
  const { branches, kept } = growth;
  if (!isNode(parent)) {
    const startedBy = sidechain ? findStartingCall(growth, line) : undefined;
    return startBranch(branches, { from: parent, sidechain, ...(startedBy !== undefined && { startedBy }) });
  }
  const isPartial = keeps !== undefined && keeps < (kept.get(boundaryBefore(parent) ?? parent)?.length ?? 0);
  if (isPartial || parent.branch.sidechain !== sidechain) return startBranch(branches, { from: parent, sidechain, ...(isPartial && { keeps }) });
  return branchFor(branches, line, parent);
}

function keepMessages(growth: Growth, boundary: RecordNode): void {
  const { preservedMessages: preserved, preservedSegment } = boundary.line.more?.metadata ?? {};
  const uuids = isObject(preserved) && Array.isArray(preserved.uuids) ? preserved.uuids : segmentOf(growth, preservedSegment);
  const found = uuids.flatMap((uuid) => (typeof uuid === 'string' ? (nodeOf(growth, uuid) ?? []) : []));
  if (found.length === 0) return;
  growth.kept.set(boundary, found);
  for (const [index, { line }] of found.entries()) growth.keptBy.set(line.uuid, { boundary, keeps: index + 1 });
}

/** Older versions name only the first and the last kept message. */
function segmentOf(growth: Growth, segment: unknown): readonly string[] {
  const head = nodeOf(growth, stringAt(segment, 'headUuid'));
  const tail = nodeOf(growth, stringAt(segment, 'tailUuid'));
  if (!head || !tail || head.branch !== tail.branch) return [];
  return tail.branch.nodes.slice(head.index, tail.index + 1).map(({ line }) => line.uuid);
}

/** The call that started a subagent whose messages are in this file. */
function findStartingCall(growth: Growth, line: Chained): string | undefined {
  const record = growth.around.recordOf(line);
  const named = stringAt(record, 'parentToolUseID');
  if (named !== undefined) return named;
  const started = nodeOf(growth, stringAt(record, 'sourceToolAssistantUUID') ?? line.parent)?.line.more?.agents ?? [];
  return started.length === 1 ? started[0]?.id : growth.calls.get(firstTextOf(readContent(record)));
}

import { type ByteRange, defined, isObject, stringAt, type Timestamp } from '../../base/index.js';
import type { PlannedCommit } from '../format.js';
import { clip } from '../shared/headline.js';
import { addRange, joinRanges } from '../shared/jsonl.js';
import { callNamed } from '../shared/keys.js';
import { madeBy } from '../shared/plans.js';
import type { TranscriptLine } from './plan-lines.js';
import { type Branch, isNode, nodeBefore, type RecordNode, type Tree } from './plan-nodes.js';
import type { LineReader } from './plan-reader.js';
import { isStored, type Segment, type Segments } from './plan-segments.js';
import { linkName, readBlocks, readTime, writeHeadline } from './schema.js';

export interface SessionCommitFacts extends Pick<PlannedCommit, 'template' | 'principal' | 'sessionId'> {
  readonly startedBy?: string | undefined;
}

export const mainTemplate = 'claude-code';

/** The inputs for the commits of one file, and the commits made so far. */
const newCommitting = (segments: Segments, tree: Tree, facts: SessionCommitFacts, reader: LineReader, isKnown: (record: string) => boolean) => ({
  segments,
  tree,
  facts,
  reader,
  isKnown,
  agentTypes: agentTypesIn(tree),
  copies: copiesIn(tree),
  commits: [] as PlannedCommit[],
  /** Bookkeeping that the project has from another copy of the file. */
  repeated: [] as ByteRange[],
  /** The number of the commit that a segment became. */
  numbers: new Map<Segment, number>(),
});
type Committing = ReturnType<typeof newCommitting>;

/** Makes a commit of each new segment, parents before children. */
export function commitSegments(
  segments: Segments,
  tree: Tree,
  facts: SessionCommitFacts,
  reader: LineReader,
  isKnown: (record: string) => boolean,
): Pick<Committing, 'commits' | 'repeated' | 'numbers'> {
  const made = newCommitting(segments, tree, facts, reader, isKnown);
  for (const segment of made.segments.list) {
    if (isStored(segment) || (segment.lines.length === 0 && segment.nodes.length === 0)) continue;
    const found = segment.after ? referTo(made, segment.after) : findParent(made, segment);
    const [parent, next] = found && 'record' in found ? afterBookkeeping(isKnown, found.record) : [found];
    const names = segment.after && next !== undefined ? [next, nameByContent(segment.after, segment.lines, reader)] : [];
    if (names.some(isKnown)) {
      for (const line of segment.lines) addRange(made.repeated, line);
      continue;
    }
    made.numbers.set(segment, made.commits.length);
    made.commits.push(planCommit(made, segment, parent, names));
  }
  return made;
}

/**
 * The last delta of bookkeeping that was stored after a record, else the record, and the name of the next such delta. It has no record, and would be a
 * branch of its own if what comes later followed the record.
 */
export function afterBookkeeping(isKnown: (record: string) => boolean, record: string): [last: { readonly record: string }, next: string] {
  const name = (number: number): string => (number === 0 ? record : `${record} +${number}`);
  let number = 0;
  while (number < mostInARow && isKnown(name(number + 1))) number++;
  return [{ record: name(number) }, name(number + 1)];
}

/** The name of a delta of bookkeeping by all lines since its record, by which it is known in another copy of the file. */
const nameByContent = ({ line, stored }: RecordNode, lines: readonly TranscriptLine[], reader: LineReader): string =>
  `${stored} +${reader.digest({ start: line.end, end: lines.at(-1)?.end ?? line.end })}`;

/** More deltas of bookkeeping in a row than any file has. */
const mostInARow = 1_000;

function referTo(made: Committing, node: RecordNode | undefined): PlannedCommit['parent'] {
  if (!node) return null;
  if (node.stored !== undefined) return storedParent(made, node);
  const segment = made.segments.of.get(node);
  const plan = segment && made.numbers.get(segment);
  return plan === undefined ? null : { plan };
}

/** The nearest record that the project knows, because bookkeeping without successors was stored without its own record. */
function storedParent({ isKnown }: Committing, node: RecordNode): PlannedCommit['parent'] {
  for (let at: RecordNode | undefined = node; at; ) {
    if (at.stored !== undefined && isKnown(at.stored)) return { record: at.stored };
    const before = nodeBefore(at);
    const { from }: Branch = at.branch;
    if (!before && !isNode(from)) return from;
    at = before ?? (from as RecordNode);
  }
  return null;
}

function findParent(made: Committing, { branch: { from, keeps }, before }: Segment): PlannedCommit['parent'] {
  if (before) return referTo(made, before.nodes.at(-1));
  if (from === null) return null;
  if (!isNode(from)) return { record: from.record };
  return keeps === undefined ? referTo(made, from) : { plan: addShorterCompaction(made, from, keeps) };
}

/** A rewind to an earlier kept message repeats the compaction with the messages kept up to that message. */
function addShorterCompaction(made: Committing, summary: RecordNode, keeps: number): number {
  const { segments, tree, commits, reader } = made;
  const segment = segments.of.get(summary) as Segment;
  const boundary = boundaryOf(segment) as RecordNode;
  const nodes = [...segment.nodes, ...(tree.kept.get(boundary) ?? []).slice(0, keeps)];
  const lines = nodes.map(({ line }) => line);
  const facts = gatherFacts(made, segment);
  const parent = findParent(made, segment);
  commits.push(withContent({ ...facts, parent, ranges: [], kept: joinRanges(lines), records: [] }, lines, reader));
  return commits.length - 1;
}

const boundaryOf = ({ nodes }: Segment): RecordNode | undefined => nodes.find(({ line }) => line.part === 'boundary');

function planCommit(made: Committing, segment: Segment, parent: PlannedCommit['parent'], names: readonly string[]): PlannedCommit {
  const { tree, copies, reader } = made;
  const boundary = segment.type === 'compaction' ? boundaryOf(segment) : undefined;
  const kept = ((boundary && tree.kept.get(boundary)) ?? segment.nodes.flatMap((node) => copies.get(node) ?? [])).map(({ line }) => line);
  const planned = {
    ...gatherFacts(made, segment),
    parent,
    ranges: joinRanges(segment.lines),
    ...(kept.length > 0 && { kept: joinRanges(kept) }),
    records: [
      ...nameRecords(segment.nodes),
      ...names,
      ...segment.lines.flatMap(({ more }) => (more?.link ? linkName(more.link, made.facts.sessionId) : [])),
    ],
  };
  return withContent(planned, kept.length > 0 ? [...segment.lines, ...kept] : segment.lines, reader);
}

function gatherFacts({ facts, agentTypes, reader }: Committing, segment: Segment): Omit<Planned, 'parent' | 'ranges' | 'records'> {
  const { branch, type, checkpoint, before } = segment;
  const summary = writeSummary(segment, reader);
  const createdAt = writtenAt(segment);
  const startedBy = !before && !isNode(branch.from) ? (branch.startedBy ?? facts.startedBy) : undefined;
  return {
    type,
    checkpoint,
    template: branch.sidechain ? madeBy(mainTemplate, { role: agentTypes.get(branch.startedBy ?? '') || 'agent' }).template : facts.template,
    ...defined({ principal: facts.principal, sessionId: facts.sessionId, summary, createdAt }),
    ...(startedBy !== undefined && { startedBy: { toolCallId: startedBy } }),
  };
}

/** The records of a commit, and the calls in them that may start subagents. */
const nameRecords = (nodes: readonly RecordNode[]): readonly string[] =>
  nodes.flatMap(({ line }) => [line.uuid, ...(line.more?.agents ?? []).map(({ id }) => callNamed(id))]);

type Planned = Omit<PlannedCommit, 'entries' | 'elisions' | 'outline'>;

/** A commit whose content is read from the file on demand. */
function withContent(planned: Planned, lines: readonly TranscriptLine[], { read, outline }: LineReader): PlannedCommit {
  return {
    ...planned,
    get entries() {
      return read(lines).entries;
    },
    get elisions() {
      return read(lines).elisions;
    },
    get outline() {
      return outline(lines);
    },
  };
}

/** Earlier copies of the last answer of each branch: older versions copied histories, and the agent gathers and sends all copies. */
function copiesIn(tree: Tree): ReadonlyMap<RecordNode, readonly RecordNode[]> {
  if (tree.branches.length < 2) return new Map();
  const answers = tree.nodes.filter(({ line: { part, message } }) => part === 'assistant' && message !== undefined);
  const copies = new Map<RecordNode, readonly RecordNode[]>();
  for (const nodes of Map.groupBy(answers, ({ line }) => line.message).values()) {
    if (nodes.at(-1)?.branch === nodes[0]?.branch || nodes.length > maxCopies) continue;
    // Only copies that existed when the record was written count, so that the time of the import does not matter.
    nodes.forEach((last, at) => {
      if (nodes.slice(at + 1).some((node) => comesBefore(last, node))) return;
      const elsewhere = nodes.slice(0, at).filter((node) => node.branch !== last.branch && !node.line.calls && !comesBefore(node, last));
      if (elsewhere.length > 0) copies.set(last, elsewhere);
    });
  }
  return copies;
}

/** Whether the first node is on the path from the root to the second node. */
function comesBefore(first: RecordNode, second: RecordNode): boolean {
  for (let at: Branch['from'] = second; isNode(at); at = at.branch.from) if (at.branch === first.branch) return first.index <= at.index;
  return false;
}
const maxCopies = 64;

function writeSummary({ nodes, type }: Segment, { record }: LineReader): string | undefined {
  if (type === 'compaction') {
    const trigger = stringAt(nodes.find(({ line }) => line.part === 'boundary')?.line.more?.metadata, 'trigger');
    return trigger === undefined ? 'Compaction' : `Compaction (${trigger})`;
  }
  const prompts = nodes.filter(({ line }) => line.part === 'prompt');
  const asked = prompts.length > 0 ? prompts : nodes.filter(({ line }) => line.part === 'command');
  const headlines = asked.flatMap(({ line }) => line.headline ?? []);
  if (headlines.length > 0) return headlines.find((headline) => headline !== '[image]') ?? headlines[0];
  // A segment without a prompt is rare, so its answers are read again.
  const tools = new Set<string>();
  for (const { line } of nodes) {
    if (line.part !== 'assistant') continue;
    const answer = record(line);
    const text = writeHeadline(answer);
    if (text !== undefined) return text;
    for (const block of readBlocks(answer)) {
      const name = isObject(block) && block.type === 'tool_use' ? stringAt(block, 'name') : undefined;
      if (name !== undefined) tools.add(name);
    }
  }
  return clip([...tools].join(', '));
}

function writtenAt({ nodes, branch, after }: Segment): Timestamp | undefined {
  const last = nodes.at(-1) ?? after;
  for (let at = last?.index ?? -1; at >= 0; at--) {
    const timestamp = branch.nodes[at]?.line.timestamp;
    const time = timestamp === undefined ? undefined : readTime({ timestamp });
    if (time !== undefined) return time;
  }
  return undefined;
}

function agentTypesIn(tree: Tree): ReadonlyMap<string, string> {
  const types = new Map<string, string>();
  for (const { line } of tree.nodes) for (const { id, type } of line.more?.agents ?? []) if (type !== undefined) types.set(id, type);
  return types;
}

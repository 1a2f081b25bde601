import type { ByteRange, JsonObject, Timestamp } from '../../base/index.js';
import { isObject, stringAt } from '../../base/index.js';
import type { Checkpoint } from '../../contract/index.js';
import type { Elision, FileBytes, ImportPlan, ParsedEntry, PlanContext, PlannedCommit, Problem } from '../format.js';
import { clip } from '../headline.js';
import { addRange, firstNewLine } from '../jsonl.js';
import { keeper } from './brief.js';
import { elisionsOf, entriesOf } from './entries.js';
import { type Piece, recordAt, type Scan, scanLines } from './lines.js';
import { agentCallsOf, blocksOf, contentOf, firstTextOf, headlineOf, isChained, messageIdOf, partOf, syntheticModel, timeOf } from './record.js';
import { placedAt, tailOf } from './tail.js';
import { titleIn } from './title.js';
import { growTree, type Node, type Strand, type Tree } from './tree.js';

export const formatId = 'claude-code-v1';

/** A run of a strand that becomes one commit. */
interface Segment {
  readonly strand: Strand;
  readonly nodes: Node[];
  readonly type: 'delta' | 'compaction';
  readonly checkpoint: Checkpoint;
  readonly pieces: Piece[];
  /** For a run without records: the one that it follows. */
  readonly after?: Node;
}

/** How a file is read that need not fit into memory, in bytes. */
export interface ReadingLimits {
  /** Records up to here are kept as they are: reading most files once is enough. What stands behind is read again for its entries. */
  readonly whole: number;
  /** So much is looked at together; a longer line is taken whole. */
  readonly part: number;
}

const usualLimits: ReadingLimits = { whole: 12 * 1024 * 1024, part: 4 * 1024 * 1024 };

/** Plans the import of a file: a pure function of its bytes, its name and what the project knows; the same whatever the limits. */
export function planImport(file: FileBytes, context: PlanContext, limits: ReadingLimits = usualLimits): ImportPlan {
  const tail = tailOf(file, context);
  const plan = tail && planFile(tail, { ...context, resumeAt: 0 }, limits);
  // A problem is told by its line in the file, which only a reader of all of it knows.
  return plan && plan.skipped.length + plan.notes.length === 0 ? placedAt(context.resumeAt, plan) : planFile(file, context, limits);
}

function planFile(file: FileBytes, context: PlanContext, { whole, part }: ReadingLimits): ImportPlan {
  const scan = withoutOpenCompaction(scanLines(file, { mayGrow: true, keep: keeper(whole), part }));
  const chained = scan.pieces.flatMap(({ record, sort }) => (record && sort === 'record' && isChained(record) ? [record] : []));
  const first = chained[0];
  const wholeIsSidechain = first !== undefined && chained.every((record) => record.isSidechain === true);
  const storedAs = (piece: Piece, record: JsonObject, parentStored: boolean): string | undefined => {
    const uuid = record.uuid as string;
    if (piece.range.start < context.resumeAt) return uuid;
    if (!parentStored) return undefined;
    if (context.known.has(uuid)) return uuid;
    const origin = stringAt(record.forkedFrom, 'messageUuid');
    return origin !== undefined && context.known.has(origin) ? origin : undefined;
  };
  const tree = growTree(scan.pieces, {
    storedAs,
    isTakenIn: (piece) => piece.range.start < context.resumeAt,
    isKnown: (uuid) => context.known.has(uuid),
    wholeIsSidechain,
  });
  const runs = cutStrands(tree, context.granularity);
  const side = placePieces(scan.pieces, tree, runs, context.resumeAt);
  const sessionId = sessionIdOf(context.path, first, wholeIsSidechain);
  const cwd = context.before?.cwd ?? firstText(chained, 'cwd');
  const about: About = {
    template: wholeIsSidechain ? subagentTemplate(stringAt(context.meta, 'agentType')) : mainTemplate,
    ...(cwd === undefined ? {} : { principal: `${mainTemplate}@${cwd}`.slice(0, longestName) }),
    ...(sessionId === undefined ? {} : { sessionId }),
    ...(wholeIsSidechain && stringAt(context.meta, 'toolUseId') !== undefined ? { startedBy: stringAt(context.meta, 'toolUseId') } : {}),
  };
  const { commits, numbers } = commitsOf(runs, tree, about, { read: reader(file), isKnown: (record) => context.known.has(record) });
  const freshFrom = firstNewLine(scan.pieces, context.resumeAt);
  const fresh = (problems: readonly Problem[]): Problem[] => problems.filter(({ line }) => line >= freshFrom).sort((a, b) => a.line - b.line);
  const title = titleIn(scan.pieces.flatMap(({ record }) => (record ? [record] : [])));
  return {
    format: formatId,
    ...(sessionId === undefined ? {} : { sessionId }),
    ...(title === undefined ? {} : { title }),
    ...(cwd === undefined ? {} : { cwd }),
    commits,
    side,
    skipped: fresh([...scan.skipped, ...tree.skipped]),
    notes: fresh([...scan.notes, ...tree.notes]),
    tips: tipsOf(runs, tree, numbers),
    end: scan.end,
  };
}

/** A compaction at the end of a file whose summary is not written yet is left for the next import, like half a line. */
function withoutOpenCompaction(scan: Scan): Scan {
  const at = scan.pieces.findLastIndex(
    ({ record, sort }) => sort === 'record' && record !== undefined && isChained(record) && partOf(record) !== 'quiet',
  );
  const boundary = scan.pieces[at];
  if (!boundary?.record || partOf(boundary.record) !== 'boundary') return scan;
  return {
    ...scan,
    pieces: scan.pieces.map((piece, place) => (place < at ? piece : { line: piece.line, range: piece.range, sort: 'half' })),
    skipped: [
      ...scan.skipped.filter(({ line }) => line < boundary.line),
      { line: boundary.line, reason: 'a compaction without its summary: left for the next import' },
    ],
    notes: scan.notes.filter(({ line }) => line < boundary.line),
    end: boundary.range.start,
  };
}

interface Runs {
  readonly segments: Segment[];
  readonly home: ReadonlyMap<Node, Segment>;
}

interface About {
  readonly template: string;
  readonly principal?: string;
  readonly sessionId?: string;
  readonly startedBy?: string | undefined;
}

const mainTemplate = 'claude-code';
const longestName = 400;
const subagentTemplate = (type: string | undefined): string =>
  `${mainTemplate}/${type === undefined || type === '' ? 'agent' : type}`.slice(0, longestName);

/** Cuts strands into runs: at turns, at branch points, around compactions, and where the store's part ends. */
function cutStrands(tree: Tree, granularity: PlanContext['granularity']): Runs {
  const branchedAt = new Set<Node>();
  for (const { from } of tree.strands) if (from && 'piece' in from) branchedAt.add(from);
  const segments: Segment[] = [];
  const home = new Map<Node, Segment>();
  for (const strand of tree.strands) {
    if (isStub(strand, branchedAt, tree)) continue;
    let begin = 0;
    let inCompaction = false;
    /** The turn has a prompt or an answer: what comes next may begin another one. */
    let filled = false;
    let commanded = false;
    const close = (end: number, checkpoint: Checkpoint): void => {
      if (end <= begin) return;
      const nodes = strand.nodes.slice(begin, end);
      const before = segments.at(-1);
      if (end < strand.nodes.length && !filled && !inCompaction && before && takesIn(before, nodes, branchedAt)) {
        before.nodes.push(...nodes);
        for (const node of nodes) home.set(node, before);
        begin = end;
        commanded = false;
        return;
      }
      const segment: Segment = {
        strand,
        nodes,
        type: inCompaction ? 'compaction' : 'delta',
        checkpoint: inCompaction ? 'compaction' : checkpoint,
        pieces: [],
      };
      segments.push(segment);
      for (const node of nodes) home.set(node, segment);
      begin = end;
      inCompaction = false;
      filled = false;
      commanded = false;
    };
    strand.nodes.forEach((node, index) => {
      const before = strand.nodes[index - 1];
      if (before && (before.stored === undefined) !== (node.stored === undefined)) close(index, 'turn_boundary');
      if (before && branchedAt.has(before)) close(index, 'turn_boundary');
      if (node.part === 'boundary') {
        close(index, before && isOpen(before) ? 'compaction' : 'turn_boundary');
        inCompaction = true;
        return;
      }
      if (inCompaction) {
        if (node.part === 'summary') close(index + 1, 'compaction');
        else if (node.part !== 'quiet') close(index, 'compaction');
        else return;
        if (node.part === 'summary') return;
      }
      if ((node.part === 'prompt' || node.part === 'command') && filled && !isOnePrompt(before, node)) close(index, 'turn_boundary');
      else if (granularity === 'tool_call' && node.part === 'assistant' && before && answersCalls(strand, index)) close(index, 'tool_call');
      if (node.part === 'command') commanded = true;
      // What a slash command expands to is the turn's prompt; what the runtime says before any prompt belongs to the next.
      filled ||=
        node.part === 'prompt' ||
        (node.part === 'assistant' && !isClosingWord(node.record)) ||
        node.part === 'result' ||
        node.part === 'summary' ||
        (node.part === 'meta' && commanded);
    });
    close(strand.nodes.length, 'turn_boundary');
  }
  return { segments, home };
}

/** A command before which branches part is the end of the turn before it, not a turn; unless that turn is itself branched from. */
const takesIn = (before: Segment, [first]: readonly Node[], branchedAt: ReadonlySet<Node>): boolean =>
  before.strand === first?.strand &&
  before.type === 'delta' &&
  (before.nodes[0]?.stored === undefined) === (first.stored === undefined) &&
  !branchedAt.has(before.nodes.at(-1) as Node);

/** What the agent puts in place of an answer that nobody waits for any more. */
const isClosingWord = (record: JsonObject): boolean =>
  stringAt(record.message, 'model') === syntheticModel && firstTextOf(contentOf(record)) === 'No response requested.';

/** A prompt that is written as several records, one a block. */
const isOnePrompt = (before: Node | undefined, node: Node): boolean =>
  before?.part === 'prompt' && node.part === 'prompt' && node.record.timestamp !== undefined && before.record.timestamp === node.record.timestamp;

/** A run of records that say nothing and lead nowhere: bookkeeping, not a branch. */
const isStub = (strand: Strand, branchedAt: ReadonlySet<Node>, tree: Tree): boolean =>
  tree.strands.length > 1 && strand.nodes.every((node) => node.part === 'quiet' && !branchedAt.has(node));

/** The turn is not over: a call waits for its result, or a result for an answer. */
const isOpen = (node: Node): boolean =>
  node.part === 'result' || node.part === 'attachment' || (node.part === 'assistant' && stringAt(node.record.message, 'stop_reason') === 'tool_use');

/** Between the record at `index`, an assistant's, and the one before of that kind stand results: a round of tool calls is done. */
function answersCalls({ nodes }: Strand, index: number): boolean {
  const message = messageIdOf(nodes[index]?.record ?? {});
  for (let at = index - 1; at >= 0; at--) {
    const node = nodes[at] as Node;
    if (node.part === 'result')
      return !nodes
        .slice(Math.max(0, at - 8), at)
        .some((other) => other.part === 'assistant' && message !== undefined && messageIdOf(other.record) === message);
    if (node.part !== 'quiet' && node.part !== 'attachment' && node.part !== 'meta') return false;
  }
  return false;
}

/**
 * Gives each record of the file to one run or to the side, which it returns. Lines without a place in the tree go with the turn in
 * which they stand, so that the runs of a file that is one chain are the file.
 */
function placePieces(pieces: readonly Piece[], tree: Tree, { segments, home }: Runs, resumeAt: number): readonly ByteRange[] {
  const side: ByteRange[] = [];
  let current: Segment | undefined;
  let lastStored: Node | undefined;
  /** Lines before the first new turn: they open it, except where they stand among the repeated lines of a fork. */
  let waiting: Piece[] = [];
  const settle = (segment: Segment | undefined): void => {
    for (const piece of waiting) {
      if (segment) segment.pieces.push(piece);
      else addRange(side, piece.range);
    }
    waiting = [];
  };
  for (const piece of pieces) {
    const node = tree.nodes.get(piece);
    const segment = node && home.get(node);
    if (piece.range.start < resumeAt) {
      if (node && segment) lastStored = node;
      // The newline that the last import did not see, mostly: whoever joins the deltas puts it there again.
      if (piece.range.end > resumeAt) addRange(side, { start: resumeAt, end: piece.range.end });
      continue;
    }
    if (node && segment && node.stored !== undefined) {
      if (resumeAt === 0) settle(undefined);
      lastStored = node;
      current = undefined;
      addRange(side, piece.range);
    } else if (segment) {
      settle(resumeAt > 0 || lastStored === undefined ? segment : undefined);
      current = segment;
      segment.pieces.push(piece);
    } else if (piece.sort === 'request' || piece.sort === 'torn' || piece.sort === 'half' || tree.repeated.has(piece)) {
      addRange(side, piece.range);
    } else if (current) current.pieces.push(piece);
    else waiting.push(piece);
  }
  // Bookkeeping at the end of a file that has grown by nothing else is a delta of its own, without entries.
  if (waiting.length > 0 && resumeAt > 0 && lastStored) {
    const { strand } = lastStored;
    const segment: Segment = { strand, nodes: [], type: 'delta', checkpoint: 'session_end', pieces: [], after: lastStored };
    const last = segments.findLastIndex((other) => other.strand === strand);
    segments.splice(last + 1, 0, segment);
    settle(segment);
  } else settle(undefined);
  for (const segment of segments) inChainOrder(segment, tree);
  return side.sort((a, b) => a.start - b.start);
}

/** A record that was written before the one it hangs on comes after it in the delta, with the lines that stand behind it. */
function inChainOrder({ pieces, nodes }: Segment, tree: Tree): void {
  if (nodes.every((node, at) => at === 0 || (nodes[at - 1] as Node).piece.range.start < node.piece.range.start)) return;
  const groups: { index: number; pieces: Piece[] }[] = [{ index: -1, pieces: [] }];
  for (const piece of pieces) {
    const node = tree.nodes.get(piece);
    if (node) groups.push({ index: node.index, pieces: [piece] });
    else groups.at(-1)?.pieces.push(piece);
  }
  pieces.splice(0, pieces.length, ...groups.sort((a, b) => a.index - b.index).flatMap((group) => group.pieces));
}

function commitsOf(
  { segments, home }: Runs,
  tree: Tree,
  about: About,
  { read, isKnown }: { readonly read: Read; readonly isKnown: (record: string) => boolean },
): { commits: readonly PlannedCommit[]; numbers: ReadonlyMap<Segment, number> } {
  const commits: PlannedCommit[] = [];
  const planOf = new Map<Segment, number>();
  const types = agentTypesOf(tree);
  const copies = copiesOf(tree);
  segments.forEach((segment, place) => {
    if (isStored(segment) || (segment.pieces.length === 0 && segment.nodes.length === 0)) return;
    const { strand } = segment;
    const before = segments[place - 1]?.strand === strand ? segments[place - 1] : undefined;
    const parent = segment.after ? referTo(segment.after) : before ? referTo(before.nodes.at(-1)) : parentOf(strand);
    planOf.set(segment, commits.length);
    commits.push(commitOf(segment, parent, before === undefined));
  });
  return { commits, numbers: planOf };

  function referTo(node: Node | undefined): PlannedCommit['parent'] {
    if (!node) return null;
    if (node.stored !== undefined) return heldAt(node);
    const segment = home.get(node);
    const plan = segment && planOf.get(segment);
    return plan === undefined ? null : { plan };
  }

  /** The record under which the project holds what was taken in: bookkeeping that led nowhere then has none of its own. */
  function heldAt(node: Node): PlannedCommit['parent'] {
    for (let at: Node | undefined = node; at; ) {
      if (at.stored !== undefined && isKnown(at.stored)) return { record: at.stored };
      const before: Node | undefined = at.strand.nodes[at.index - 1];
      const from: Strand['from'] = at.strand.from;
      if (!before && (from === null || !('piece' in from))) return from;
      at = before ?? (from as Node);
    }
    return null;
  }

  function parentOf({ from, keeps }: Strand): PlannedCommit['parent'] {
    if (from === null) return null;
    if (!('piece' in from)) return { record: from.record };
    return keeps === undefined ? referTo(from) : { plan: shorterCompaction(from, keeps) };
  }

  /** A rewind to a kept message that is not the last: the compaction again, with what it keeps up to there. */
  function shorterCompaction(summary: Node, keeps: number): number {
    const segment = home.get(summary) as Segment;
    const boundary = segment.nodes.find((node) => node.part === 'boundary') as Node;
    const place = segments.indexOf(segment);
    const before = segments[place - 1]?.strand === segment.strand ? segments[place - 1] : undefined;
    const own = segment.nodes.map((node) => node.piece);
    const again = [...own, ...(tree.kept.get(boundary) ?? []).slice(0, keeps).map((node) => node.piece)];
    commits.push({
      ...headOf(segment, before === undefined),
      parent: before ? referTo(before.nodes.at(-1)) : parentOf(segment.strand),
      ranges: [],
      kept: rangesOf(again),
      records: [],
      get entries() {
        return read(again).entries;
      },
      get elisions() {
        return read(again).elisions;
      },
    });
    return commits.length - 1;
  }

  function commitOf(segment: Segment, parent: PlannedCommit['parent'], first: boolean): PlannedCommit {
    const boundary = segment.type === 'compaction' ? segment.nodes.find((node) => node.part === 'boundary') : undefined;
    const kept = ((boundary && tree.kept.get(boundary)) ?? segment.nodes.flatMap((node) => copies.get(node) ?? [])).map((node) => node.piece);
    const pieces = kept.length > 0 ? [...segment.pieces, ...kept] : segment.pieces;
    return {
      ...headOf(segment, first),
      parent,
      ranges: rangesOf(segment.pieces),
      ...(kept.length > 0 ? { kept: rangesOf(kept) } : {}),
      records: segment.nodes.flatMap((node) => [node.uuid, ...agentCallsOf(node.record).map(({ id }) => `call:${id}`)]),
      get entries() {
        return read(pieces).entries;
      },
      get elisions() {
        return read(pieces).elisions;
      },
    };
  }

  function headOf(segment: Segment, first: boolean): Omit<PlannedCommit, 'parent' | 'ranges' | 'records' | 'entries' | 'elisions'> {
    const { strand, type, checkpoint } = segment;
    const summary = summaryOf(segment);
    const createdAt = writtenAt(segment);
    const startedBy = first && strand.from === null ? (strand.startedBy ?? about.startedBy) : undefined;
    return {
      type,
      checkpoint,
      template: strand.sidechain ? subagentTemplate(types.get(strand.startedBy ?? '')) : about.template,
      ...(about.principal === undefined ? {} : { principal: about.principal }),
      ...(about.sessionId === undefined ? {} : { sessionId: about.sessionId }),
      ...(summary === undefined ? {} : { summary }),
      ...(createdAt === undefined ? {} : { createdAt }),
      ...(startedBy === undefined ? {} : { startedBy: { toolCallId: startedBy } }),
    };
  }
}

/**
 * For the last record of an answer, what an older version wrote of the same answer elsewhere in this file, when it copied that history
 * under new ids: the agent gathers the records of an answer from the whole file, and so sends both.
 */
function copiesOf(tree: Tree): ReadonlyMap<Node, readonly Node[]> {
  const answers = new Map<string, Node[]>();
  for (const node of tree.nodes.values()) {
    const id = node.part === 'assistant' ? messageIdOf(node.record) : undefined;
    if (id === undefined) continue;
    const others = answers.get(id);
    if (others) others.push(node);
    else answers.set(id, [node]);
  }
  const copies = new Map<Node, readonly Node[]>();
  for (const nodes of answers.values()) {
    const last = nodes.at(-1) as Node;
    if (last.strand === nodes[0]?.strand || nodes.length > mostCopies) continue;
    const elsewhere = nodes.filter((node) => node.strand !== last.strand && saysNoCall(node) && !comesBefore(node, last));
    if (elsewhere.length > 0) copies.set(last, elsewhere);
  }
  return copies;
}
const saysNoCall = ({ record }: Node): boolean => blocksOf(record).every((block) => isObject(block) && block.type !== 'tool_use');

/** The first is on the way from the root to the second. */
function comesBefore(first: Node, second: Node): boolean {
  for (let at: Node | Strand['from'] = second; at && 'piece' in at; at = at.strand.from)
    if (at.strand === first.strand) return first.index <= at.index;
  return false;
}
const mostCopies = 64;

const isStored = (segment: Segment): boolean => segment.nodes[0]?.stored !== undefined;

function rangesOf(pieces: readonly Piece[]): readonly ByteRange[] {
  const ranges: ByteRange[] = [];
  for (const piece of pieces) addRange(ranges, piece.range);
  return ranges;
}

interface Content {
  readonly entries: readonly ParsedEntry[];
  readonly elisions: readonly Elision[];
}

type Read = (pieces: readonly Piece[]) => Content;

/** What commits hold, read when it is asked for; one of them is remembered at a time. */
function reader(file: FileBytes): Read {
  let latest: { readonly pieces: readonly Piece[]; readonly content: Content } | undefined;
  return (pieces) => {
    if (latest?.pieces !== pieces) latest = { pieces, content: readPieces(pieces, file) };
    return latest.content;
  };
}

/** Entries and elisions of records that stand one after the other in a delta; `file` is where the pieces were found. */
export function readPieces(pieces: readonly Piece[], file: FileBytes): Content {
  const entries: ParsedEntry[] = [];
  const elisions: Elision[] = [];
  let at = 0;
  for (const { record: kept, brief, range, sort } of pieces) {
    const raw = { start: at, end: at + range.end - range.start };
    at = raw.end;
    if (!kept || sort !== 'record') continue;
    const record = brief ? recordAt(file, range) : kept;
    for (const entry of entriesOf(record, raw)) entries.push(entry);
    for (const elision of elisionsOf(record)) elisions.push(elision);
  }
  return { entries, elisions };
}

function summaryOf({ nodes, type }: Segment): string | undefined {
  if (type === 'compaction') {
    const metadata = nodes.find((node) => node.part === 'boundary')?.record.compactMetadata;
    const trigger = stringAt(metadata, 'trigger');
    return trigger === undefined ? 'Compaction' : `Compaction (${trigger})`;
  }
  const prompts = nodes.filter((node) => node.part === 'prompt');
  const asked = prompts.length > 0 ? prompts : nodes.filter((node) => node.part === 'command' && node.record.isMeta !== true);
  const headlines = asked.flatMap(({ record }) => headlineOf(record) ?? []);
  if (headlines.length > 0) return headlines.find((headline) => headline !== '[image]') ?? headlines[0];
  const answers = nodes.filter((node) => node.part === 'assistant');
  for (const { record } of answers) {
    const text = headlineOf(record);
    if (text !== undefined) return text;
  }
  const tools = new Set(
    answers.flatMap(({ record }) =>
      blocksOf(record).flatMap((block) => (isObject(block) && block.type === 'tool_use' ? (stringAt(block, 'name') ?? []) : [])),
    ),
  );
  return tools.size > 0 ? clip([...tools].join(', ')) : undefined;
}

/** The time of the last record that has one. */
function writtenAt({ nodes, strand, after }: Segment): Timestamp | undefined {
  const last = nodes.at(-1) ?? after;
  for (let at = last?.index ?? -1; at >= 0; at--) {
    const time = timeOf(strand.nodes[at]?.record ?? {});
    if (time !== undefined) return time;
  }
  return undefined;
}

/** Leaves by the place of their last record in the file, subagents first: the agent resumes the last of the others. */
function tipsOf({ segments }: Runs, tree: Tree, numbers: ReadonlyMap<Segment, number>): ImportPlan['tips'] {
  const goneOnFrom = new Set<Node>();
  for (const { from } of tree.strands) if (from && 'piece' in from) goneOnFrom.add(from);
  const last = new Map<Strand, Segment>();
  for (const segment of segments) if (isStored(segment) || numbers.has(segment)) last.set(segment.strand, segment);
  const leaves = [...last].filter(([strand]) => !goneOnFrom.has(strand.nodes.at(-1) as Node));
  const order = ([strand]: readonly [Strand, Segment]): number => (strand.sidechain ? -1e15 : 0) + (strand.nodes.at(-1)?.piece.range.start ?? 0);
  return leaves
    .sort((a, b) => order(a) - order(b))
    .flatMap(([, segment]): ImportPlan['tips'] => {
      const plan = numbers.get(segment);
      const stored = segment.nodes.at(-1)?.stored;
      return plan !== undefined ? [{ plan }] : stored !== undefined ? [{ record: stored }] : [];
    });
}

function agentTypesOf(tree: Tree): ReadonlyMap<string, string> {
  const types = new Map<string, string>();
  for (const { record } of tree.nodes.values()) for (const { id, type } of agentCallsOf(record)) if (type !== undefined) types.set(id, type);
  return types;
}

function firstText(records: readonly JsonObject[], key: string): string | undefined {
  for (const record of records) {
    const text = stringAt(record, key);
    if (text !== undefined && text !== '') return text;
  }
  return undefined;
}

const uuidPattern = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/i;
/** The file's name is the session's id; its lines may come from others. A subagent's lines name the session that started it. */
function sessionIdOf(path: string, first: JsonObject | undefined, subagent: boolean): string | undefined {
  const named = uuidPattern.exec(path.slice(Math.max(path.lastIndexOf('/'), path.lastIndexOf('\\')) + 1))?.[0];
  const said = stringAt(first, 'sessionId');
  const id = subagent ? (said ?? named) : (named ?? said);
  return id === undefined || id === '' ? undefined : id.slice(0, longestName);
}

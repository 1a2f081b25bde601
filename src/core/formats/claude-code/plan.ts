import type { ByteRange, JsonObject, Timestamp } from '../../base/index.js';
import { isObject, stringAt } from '../../base/index.js';
import type { Checkpoint } from '../../contract/index.js';
import type { Elision, FileBytes, ImportPlan, ParsedEntry, PlanContext, PlannedCommit, Problem } from '../format.js';
import { clip } from '../headline.js';
import { addRange } from '../jsonl.js';
import { type Outlined, outlineOfParts } from '../outline.js';
import { elisionsOf, entriesOf } from './entries.js';
import { type Line, type Lines, placeOnly, readLines, toldBy } from './line.js';
import { type Piece, recordAt } from './lines.js';
import { blocksOf, headlineOf, timeOf } from './record.js';
import { goesOnPlainly } from './tail.js';
import { bestTitle } from './title.js';
import { growTree, isNode, isPlaced, type Node, type Strand, type Tree } from './tree.js';

export const formatId = 'claude-code-v1';

/** A run of a strand that becomes one commit. */
export interface Segment {
  readonly strand: Strand;
  readonly nodes: Node[];
  readonly type: 'delta' | 'compaction';
  readonly checkpoint: Checkpoint;
  readonly lines: Line[];
  /** For a run without records: the one that it follows. */
  readonly after?: Node;
}

/** So much of a file that is not in memory is looked at together; a longer line is taken whole. */
const usualPart = 4 * 1024 * 1024;

/** Plans the import of a file: a pure function of its bytes, its name and what the project knows; the same whatever the part. */
export function planImport(file: FileBytes, context: PlanContext, part = usualPart): ImportPlan {
  const plan = goesOnPlainly(file, context) ? planFile(file, { ...context, resumeAt: 0 }, part, context.resumeAt) : undefined;
  // A problem is told by its line in the file, which only a reader of all of it knows.
  return plan && plan.skipped.length + plan.notes.length === 0 ? plan : planFile(file, context, part);
}

/** The plan of what stands behind `begin`, as if it were all. */
function planFile(file: FileBytes, context: PlanContext, part: number, begin = 0): ImportPlan {
  const { resumeAt, known } = context;
  const scan = withoutOpenCompaction(readLines(file, { part, begin, from: resumeAt }));
  const { lines } = scan;
  const first = lines.find(({ uuid }) => uuid !== undefined);
  const wholeIsSidechain = first !== undefined && lines.every(({ uuid, sidechain }) => uuid === undefined || sidechain);
  const storedAs = ({ uuid, start, more }: Line, parentStored: boolean): string | undefined => {
    if (uuid === undefined || start < resumeAt) return uuid;
    if (!parentStored) return undefined;
    if (known.has(uuid)) return uuid;
    const origin = more?.forkedFrom;
    return origin !== undefined && known.has(origin) ? origin : undefined;
  };
  const tree = growTree(lines, {
    storedAs,
    isTakenIn: ({ start }) => start < resumeAt,
    isKnown: (uuid) => known.has(uuid),
    recordOf: (line) => recordAt(file, line),
    wholeIsSidechain,
  });
  const runs = cutStrands(tree, context.granularity);
  const side = placeLines(lines, tree, runs, resumeAt);
  const sessionId = sessionIdOf(context.path, first?.more?.sessionId, wholeIsSidechain);
  const cwd = context.before?.cwd ?? lines.find(({ more }) => more?.cwd)?.more?.cwd;
  const about: About = {
    template: wholeIsSidechain ? subagentTemplate(stringAt(context.meta, 'agentType')) : mainTemplate,
    ...(cwd === undefined ? {} : { principal: `${mainTemplate}@${cwd}`.slice(0, longestName) }),
    ...(sessionId === undefined ? {} : { sessionId }),
    ...(wholeIsSidechain && stringAt(context.meta, 'toolUseId') !== undefined ? { startedBy: stringAt(context.meta, 'toolUseId') } : {}),
  };
  const { commits, numbers } = commitsOf(runs, tree, about, { reader: readerOf(file, resumeAt), isKnown: (record) => known.has(record) });
  const freshFrom = lines.find(({ start }) => start >= resumeAt)?.line ?? Number.POSITIVE_INFINITY;
  const fresh = (problems: readonly Problem[]): Problem[] => problems.filter(({ line }) => line >= freshFrom).sort((a, b) => a.line - b.line);
  const title = bestTitle(lines.flatMap(({ more }) => more?.title ?? []));
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
function withoutOpenCompaction(scan: Lines): Lines {
  const at = scan.lines.findLastIndex(({ part }) => part !== 'quiet');
  const boundary = scan.lines[at];
  if (boundary?.part !== 'boundary') return scan;
  return {
    ...scan,
    lines: scan.lines.map((line, place) => (place < at ? line : placeOnly(line, 'half'))),
    skipped: [
      ...scan.skipped.filter(({ line }) => line < boundary.line),
      { line: boundary.line, reason: 'a compaction without its summary: left for the next import' },
    ],
    notes: scan.notes.filter(({ line }) => line < boundary.line),
    end: boundary.start,
  };
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
function cutStrands(tree: Tree, granularity: PlanContext['granularity']): Segment[] {
  const branchedAt = new Set<Node>();
  for (const { from } of tree.strands) if (isNode(from)) branchedAt.add(from);
  const segments: Segment[] = [];
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
        for (const node of nodes) node.run = before;
        begin = end;
        commanded = false;
        return;
      }
      const segment: Segment = {
        strand,
        nodes,
        type: inCompaction ? 'compaction' : 'delta',
        checkpoint: inCompaction ? 'compaction' : checkpoint,
        lines: [],
      };
      segments.push(segment);
      for (const node of nodes) node.run = segment;
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
        (node.part === 'assistant' && node.more?.isClosingWord !== true) ||
        node.part === 'result' ||
        node.part === 'summary' ||
        (node.part === 'meta' && commanded);
    });
    close(strand.nodes.length, 'turn_boundary');
  }
  return segments;
}

/** A command before which branches part is the end of the turn before it, not a turn; unless that turn is itself branched from. */
const takesIn = (before: Segment, [first]: readonly Node[], branchedAt: ReadonlySet<Node>): boolean =>
  before.strand === first?.strand &&
  before.type === 'delta' &&
  (before.nodes[0]?.stored === undefined) === (first.stored === undefined) &&
  !branchedAt.has(before.nodes.at(-1) as Node);

/** A prompt that is written as several records, one a block. */
const isOnePrompt = (before: Node | undefined, node: Node): boolean =>
  before?.part === 'prompt' && node.part === 'prompt' && node.timestamp !== undefined && before.timestamp === node.timestamp;

/** A run of records that say nothing and lead nowhere: bookkeeping, not a branch. */
const isStub = (strand: Strand, branchedAt: ReadonlySet<Node>, tree: Tree): boolean =>
  tree.strands.length > 1 && strand.nodes.every((node) => node.part === 'quiet' && !branchedAt.has(node));

/** The turn is not over: a call waits for its result, or a result for an answer. */
const isOpen = (node: Node): boolean => node.part === 'result' || node.part === 'attachment' || node.stops;

/** Between the record at `index`, an assistant's, and the one before of that kind stand results: a round of tool calls is done. */
function answersCalls({ nodes }: Strand, index: number): boolean {
  const message = nodes[index]?.message;
  for (let at = index - 1; at >= 0; at--) {
    const node = nodes[at] as Node;
    if (node.part === 'result')
      return !nodes.slice(Math.max(0, at - 8), at).some((other) => other.part === 'assistant' && message !== undefined && other.message === message);
    if (node.part !== 'quiet' && node.part !== 'attachment' && node.part !== 'meta') return false;
  }
  return false;
}

/**
 * Gives each record of the file to one run or to the side, which it returns. Lines without a place in the tree go with the turn in
 * which they stand, so that the runs of a file that is one chain are the file.
 */
function placeLines(lines: readonly Line[], tree: Tree, segments: Segment[], resumeAt: number): readonly ByteRange[] {
  const side: ByteRange[] = [];
  let current: Segment | undefined;
  let lastStored: Node | undefined;
  /** Lines before the first new turn: they open it, except where they stand among the repeated lines of a fork. */
  let waiting: Line[] = [];
  const settle = (segment: Segment | undefined): void => {
    for (const line of waiting) {
      if (segment) segment.lines.push(line);
      else addRange(side, line);
    }
    waiting = [];
  };
  for (const line of lines) {
    const node = isPlaced(line) ? line : undefined;
    const segment = node?.run;
    if (line.start < resumeAt) {
      if (node && segment) lastStored = node;
      // The newline that the last import did not see, mostly: whoever joins the deltas puts it there again.
      if (line.end > resumeAt) addRange(side, { start: resumeAt, end: line.end });
      continue;
    }
    if (node && segment && node.stored !== undefined) {
      if (resumeAt === 0) settle(undefined);
      lastStored = node;
      current = undefined;
      addRange(side, line);
    } else if (segment) {
      if (waiting.length > 0) settle(resumeAt > 0 || lastStored === undefined ? segment : undefined);
      current = segment;
      segment.lines.push(line);
    } else if (line.sort === 'request' || line.sort === 'torn' || line.sort === 'half' || tree.repeated.has(line)) {
      addRange(side, line);
    } else if (current) current.lines.push(line);
    else waiting.push(line);
  }
  // Bookkeeping at the end of a file that has grown by nothing else is a delta of its own, without entries.
  if (waiting.length > 0 && resumeAt > 0 && lastStored) {
    const { strand } = lastStored;
    const segment: Segment = { strand, nodes: [], type: 'delta', checkpoint: 'session_end', lines: [], after: lastStored };
    const last = segments.findLastIndex((other) => other.strand === strand);
    segments.splice(last + 1, 0, segment);
    settle(segment);
  } else settle(undefined);
  for (const segment of segments) inChainOrder(segment);
  return side.sort((a, b) => a.start - b.start);
}

/** A record that was written before the one it hangs on comes after it in the delta, with the lines that stand behind it. */
function inChainOrder({ lines, nodes }: Segment): void {
  if (nodes.every((node, at) => at === 0 || (nodes[at - 1] as Node).start < node.start)) return;
  const groups: { index: number; lines: Line[] }[] = [{ index: -1, lines: [] }];
  for (const line of lines) {
    if (isPlaced(line)) groups.push({ index: line.index, lines: [line] });
    else groups.at(-1)?.lines.push(line);
  }
  lines.splice(0, lines.length, ...groups.sort((a, b) => a.index - b.index).flatMap((group) => group.lines));
}

function commitsOf(
  segments: readonly Segment[],
  tree: Tree,
  about: About,
  { reader, isKnown }: { readonly reader: Reader; readonly isKnown: (record: string) => boolean },
): { commits: readonly PlannedCommit[]; numbers: ReadonlyMap<Segment, number> } {
  const commits: PlannedCommit[] = [];
  const planOf = new Map<Segment, number>();
  const types = agentTypesOf(tree);
  const copies = copiesOf(tree);
  segments.forEach((segment, place) => {
    if (isStored(segment) || (segment.lines.length === 0 && segment.nodes.length === 0)) return;
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
    const segment = node.run;
    const plan = segment && planOf.get(segment);
    return plan === undefined ? null : { plan };
  }

  /** The record under which the project holds what was taken in: bookkeeping that led nowhere then has none of its own. */
  function heldAt(node: Node): PlannedCommit['parent'] {
    for (let at: Node | undefined = node; at; ) {
      if (at.stored !== undefined && isKnown(at.stored)) return { record: at.stored };
      const before: Node | undefined = at.strand.nodes[at.index - 1];
      const from: Strand['from'] = at.strand.from;
      if (!before && !isNode(from)) return from;
      at = before ?? (from as Node);
    }
    return null;
  }

  function parentOf({ from, keeps }: Strand): PlannedCommit['parent'] {
    if (from === null) return null;
    if (!isNode(from)) return { record: from.record };
    return keeps === undefined ? referTo(from) : { plan: shorterCompaction(from, keeps) };
  }

  /** A rewind to a kept message that is not the last: the compaction again, with what it keeps up to there. */
  function shorterCompaction(summary: Node, keeps: number): number {
    const segment = summary.run as Segment;
    const boundary = segment.nodes.find((node) => node.part === 'boundary') as Node;
    const place = segments.indexOf(segment);
    const before = segments[place - 1]?.strand === segment.strand ? segments[place - 1] : undefined;
    const again = [...segment.nodes, ...(tree.kept.get(boundary) ?? []).slice(0, keeps)];
    const head = headOf(segment, before === undefined);
    const parent = before ? referTo(before.nodes.at(-1)) : parentOf(segment.strand);
    commits.push(withContent({ ...head, parent, ranges: [], kept: rangesOf(again), records: [] }, again, reader));
    return commits.length - 1;
  }

  function commitOf(segment: Segment, parent: PlannedCommit['parent'], first: boolean): PlannedCommit {
    const boundary = segment.type === 'compaction' ? segment.nodes.find((node) => node.part === 'boundary') : undefined;
    const kept = (boundary && tree.kept.get(boundary)) ?? segment.nodes.flatMap((node) => copies.get(node) ?? []);
    return withContent(
      {
        ...headOf(segment, first),
        parent,
        ranges: rangesOf(segment.lines),
        ...(kept.length > 0 ? { kept: rangesOf(kept) } : {}),
        records: namesOf(segment.nodes),
      },
      kept.length > 0 ? [...segment.lines, ...kept] : segment.lines,
      reader,
    );
  }

  function headOf(segment: Segment, first: boolean): Omit<Planned, 'parent' | 'ranges' | 'records'> {
    const { strand, type, checkpoint } = segment;
    const summary = summaryOf(segment, reader);
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

/** The records of a commit, and the calls in them that may start subagents. */
function namesOf(nodes: readonly Node[]): readonly string[] {
  const names: string[] = [];
  for (const { uuid, more } of nodes) {
    names.push(uuid);
    for (const { id } of more?.agents ?? []) names.push(`call:${id}`);
  }
  return names;
}

type Planned = Omit<PlannedCommit, 'entries' | 'elisions' | 'outline'>;

/** A commit with what it holds, which is read when it is asked for. */
function withContent(planned: Planned, lines: readonly Line[], { read, tell }: Reader): PlannedCommit {
  return {
    ...planned,
    get entries() {
      return read(lines).entries;
    },
    get elisions() {
      return read(lines).elisions;
    },
    get outline() {
      return tell(lines);
    },
  };
}

/**
 * For the last record of an answer on each branch, what an older version wrote of the same answer elsewhere before it, when it copied that
 * history under new ids: the agent gathers the records of an answer from the whole file, and so sends both.
 */
function copiesOf(tree: Tree): ReadonlyMap<Node, readonly Node[]> {
  if (tree.strands.length < 2) return new Map();
  const answers = new Map<string, Node[]>();
  for (const node of tree.nodes) {
    const id = node.part === 'assistant' ? node.message : undefined;
    if (id === undefined) continue;
    const others = answers.get(id);
    if (others) others.push(node);
    else answers.set(id, [node]);
  }
  const copies = new Map<Node, readonly Node[]>();
  for (const nodes of answers.values()) {
    if (nodes.at(-1)?.strand === nodes[0]?.strand || nodes.length > mostCopies) continue;
    // Of what was there when it was written: so it makes no difference when the file is taken in.
    nodes.forEach((last, at) => {
      if (nodes.slice(at + 1).some((node) => comesBefore(last, node))) return;
      const elsewhere = nodes.slice(0, at).filter((node) => node.strand !== last.strand && !node.calls && !comesBefore(node, last));
      if (elsewhere.length > 0) copies.set(last, elsewhere);
    });
  }
  return copies;
}

/** The first is on the way from the root to the second. */
function comesBefore(first: Node, second: Node): boolean {
  for (let at: Strand['from'] = second; isNode(at); at = at.strand.from) if (at.strand === first.strand) return first.index <= at.index;
  return false;
}
const mostCopies = 64;

const isStored = (segment: Segment): boolean => segment.nodes[0]?.stored !== undefined;

function rangesOf(lines: readonly Line[]): readonly ByteRange[] {
  const ranges: ByteRange[] = [];
  for (const line of lines) addRange(ranges, line);
  return ranges;
}

interface Content {
  readonly entries: readonly ParsedEntry[];
  readonly elisions: readonly Elision[];
}

/** What stands behind lines of a file. */
interface Reader {
  /** Read again; what was asked for last is remembered. */
  readonly read: (lines: readonly Line[]) => Content;
  readonly tell: (lines: readonly Line[]) => Outlined;
  readonly record: (line: Line) => JsonObject;
}

function readerOf(file: FileBytes, resumeAt: number): Reader {
  let latest: { readonly lines: readonly Line[]; readonly content: Content } | undefined;
  const record = (line: Line): JsonObject => recordAt(file, line);
  return {
    record,
    read: (lines) => {
      if (latest?.lines !== lines)
        latest = {
          lines,
          content: readPieces(lines.map((line) => ({ sort: line.sort, range: line, ...(line.sort === 'record' && { record: record(line) }) }))),
        };
      return latest.content;
    },
    tell: (lines) => outlineOfParts(lines.flatMap((line) => toldBy(line, file, resumeAt) ?? [])),
  };
}

/** Entries and elisions of records that stand one after the other in a delta. */
export function readPieces(pieces: Iterable<Pick<Piece, 'record' | 'range' | 'sort'>>): Content {
  const entries: ParsedEntry[] = [];
  const elisions: Elision[] = [];
  let at = 0;
  for (const { record, range, sort } of pieces) {
    const raw = { start: at, end: at + range.end - range.start };
    at = raw.end;
    if (!record || sort !== 'record') continue;
    for (const entry of entriesOf(record, raw)) entries.push(entry);
    for (const elision of elisionsOf(record)) elisions.push(elision);
  }
  return { entries, elisions };
}

function summaryOf({ nodes, type }: Segment, { record }: Reader): string | undefined {
  if (type === 'compaction') {
    const trigger = stringAt(nodes.find((node) => node.part === 'boundary')?.more?.metadata, 'trigger');
    return trigger === undefined ? 'Compaction' : `Compaction (${trigger})`;
  }
  const prompts = nodes.filter((node) => node.part === 'prompt');
  const asked = prompts.length > 0 ? prompts : nodes.filter((node) => node.part === 'command');
  const headlines = asked.flatMap(({ headline }) => headline ?? []);
  if (headlines.length > 0) return headlines.find((headline) => headline !== '[image]') ?? headlines[0];
  // Seldom asked for: what was said without a prompt is read again.
  const tools = new Set<string>();
  for (const node of nodes) {
    if (node.part !== 'assistant') continue;
    const answer = record(node);
    const text = headlineOf(answer);
    if (text !== undefined) return text;
    for (const block of blocksOf(answer)) {
      const name = isObject(block) && block.type === 'tool_use' ? stringAt(block, 'name') : undefined;
      if (name !== undefined) tools.add(name);
    }
  }
  return tools.size > 0 ? clip([...tools].join(', ')) : undefined;
}

/** The time of the last record that has one. */
function writtenAt({ nodes, strand, after }: Segment): Timestamp | undefined {
  const last = nodes.at(-1) ?? after;
  for (let at = last?.index ?? -1; at >= 0; at--) {
    const { timestamp } = strand.nodes[at] ?? {};
    const time = timestamp === undefined ? undefined : timeOf({ timestamp });
    if (time !== undefined) return time;
  }
  return undefined;
}

/** Leaves by the place of their last record in the file, subagents first: the agent resumes the last of the others. */
function tipsOf(segments: readonly Segment[], tree: Tree, numbers: ReadonlyMap<Segment, number>): ImportPlan['tips'] {
  const goneOnFrom = new Set<Node>();
  for (const { from } of tree.strands) if (isNode(from)) goneOnFrom.add(from);
  const last = new Map<Strand, Segment>();
  for (const segment of segments) if (isStored(segment) || numbers.has(segment)) last.set(segment.strand, segment);
  const leaves = [...last].filter(([strand]) => !goneOnFrom.has(strand.nodes.at(-1) as Node));
  const order = ([strand]: readonly [Strand, Segment]): number => (strand.sidechain ? -1e15 : 0) + (strand.nodes.at(-1)?.start ?? 0);
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
  for (const { more } of tree.nodes) for (const { id, type } of more?.agents ?? []) if (type !== undefined) types.set(id, type);
  return types;
}

const uuidPattern = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/i;
/** The file's name is the session's id; its lines may come from others. A subagent's lines name the session that started it. */
function sessionIdOf(path: string, said: string | undefined, subagent: boolean): string | undefined {
  const named = uuidPattern.exec(path.slice(Math.max(path.lastIndexOf('/'), path.lastIndexOf('\\')) + 1))?.[0];
  const id = subagent ? (said ?? named) : (named ?? said);
  return id === undefined || id === '' ? undefined : id.slice(0, longestName);
}

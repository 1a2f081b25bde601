import { type ByteRange, isObject, stringAt, type Timestamp } from '../../base/index.js';
import type { PlannedCommit } from '../format.js';
import { clip } from '../headline.js';
import { addRange } from '../jsonl.js';
import type { Line } from './line.js';
import type { Reader } from './reading.js';
import { blocksOf, headlineOf, timeOf } from './record.js';
import { isStored, type Segment } from './segments.js';
import { isNode, type Node, type Strand, type Tree } from './tree.js';

/** What the file says of all of its commits. */
export interface About {
  readonly template: string;
  readonly principal?: string;
  readonly sessionId?: string;
  readonly startedBy?: string | undefined;
}

export const mainTemplate = 'claude-code';
export const longestName = 400;
export const subagentTemplate = (type: string | undefined): string =>
  `${mainTemplate}/${type === undefined || type === '' ? 'agent' : type}`.slice(0, longestName);

/** The runs as commits, each behind its parent; and which commit a run became. */
export function commitsOf(
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

function rangesOf(lines: readonly Line[]): readonly ByteRange[] {
  const ranges: ByteRange[] = [];
  for (const line of lines) addRange(ranges, line);
  return ranges;
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

function agentTypesOf(tree: Tree): ReadonlyMap<string, string> {
  const types = new Map<string, string>();
  for (const { more } of tree.nodes) for (const { id, type } of more?.agents ?? []) if (type !== undefined) types.set(id, type);
  return types;
}

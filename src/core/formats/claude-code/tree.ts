import type { JsonObject } from '../../base/index.js';
import { isObject, stringAt } from '../../base/index.js';
import type { Problem } from '../format.js';
import { type Line, resultsOf } from './line.js';
import { contentOf, firstTextOf } from './record.js';

/** A chained record that may have a place in the tree. */
export interface Chained extends Line {
  readonly uuid: string;
}

/** One that has it. */
export interface Node extends Chained {
  readonly strand: Strand;
}

/** A run of records, each going on from the one before it, from a root or a branch point to a leaf. */
export interface Strand {
  /** Where it leaves another strand, a record of the store that it goes on from, or null for a root. */
  readonly from: Node | { readonly record: string } | null;
  /** With `from` the summary of a compaction: how many of the messages that it keeps come before this strand. */
  readonly keeps?: number;
  readonly nodes: Node[];
  readonly sidechain: boolean;
  readonly startedBy?: string;
}

export interface Tree {
  readonly strands: readonly Strand[];
  /** In the order in which they found their places. */
  readonly nodes: readonly Node[];
  /** Records whose id stood earlier in the file: read once, kept aside. */
  readonly repeated: ReadonlySet<Line>;
  /** For each compaction's boundary the records that it keeps beside its summary, in order. */
  readonly kept: ReadonlyMap<Node, readonly Node[]>;
  readonly skipped: readonly Problem[];
  readonly notes: readonly Problem[];
}

const isChained = (line: Line): line is Chained => line.uuid !== undefined;
export const isPlaced = (line: Line | undefined): line is Node => line?.strand !== undefined;
/** A place in this file, not only in the store. */
export const isNode = (from: Strand['from']): from is Node => from !== null && 'strand' in from;

interface Place {
  readonly parent: Node | { readonly record: string } | null;
  readonly keeps?: number;
}

/** Where in a strand the last record of a sort stands; -1 where there is none. */
interface Tail {
  /** Neither result nor bookkeeping. */
  other: number;
  /** Nothing that stands beside an answer: a prompt, a summary, a boundary. */
  turn: number;
  answer: number;
  /** An answer of another message than the last. */
  otherAnswer: number;
  message: string | undefined;
  /** Of the results of the first `searched` records. */
  readonly results: Map<string, number>;
  searched: number;
}

/** What the tree needs to know of the world: whether a record is in the project already, and under which id. */
export interface Surroundings {
  /** The id under which the project holds the record; `parentStored` says that what it hangs on is held too. */
  readonly storedAs: (line: Chained, parentStored: boolean) => string | undefined;
  /** An earlier import of this file has taken the record in. */
  readonly isTakenIn: (line: Line) => boolean;
  /** A record that is not in this file is known from another. */
  readonly isKnown: (uuid: string) => boolean;
  /** The record behind a line, read again. */
  readonly recordOf: (line: Line) => JsonObject;
  /** The whole file is a subagent's conversation. */
  readonly wholeIsSidechain: boolean;
}

/**
 * Puts records into their tree, in file order; one whose parent stands later in the file waits for it. What the links leave open is
 * settled as the agent itself does (2.1.329, run on made-up files): a record without a parent in reach follows the one before it, and of
 * two with one id the last is read.
 */
export function growTree(lines: readonly Line[], { storedAs, isTakenIn, isKnown, recordOf, wholeIsSidechain }: Surroundings): Tree {
  const nodes: Node[] = [];
  const ghosts = new Map<string, string | null>();
  const repeated = new Set<Line>();
  const strands: Strand[] = [];
  const kept = new Map<Node, Node[]>();
  /** A kept message stands, for what goes on from it, right after the summary of the compaction that keeps it. */
  const standsOn = new Map<string, { readonly boundary: Node; readonly keeps: number }>();
  const summaries = new Map<Node, Node>();
  const calls = new Map<string, string>();
  const skipped: Problem[] = [];
  const notes: Problem[] = [];
  const waiting = new Map<string, Chained[]>();
  const tails = new Map<Strand, Tail>();
  /** How far the round of an answer or a result has been followed. */
  const rounds = new Map<Node, { last: Node; next: number }>();
  let previous: Node | undefined;

  const readAs = chooseRecords();
  for (const line of lines) {
    const ghost = line.more?.ghost;
    if (ghost && !placed(ghost.uuid)) ghosts.set(ghost.uuid, throughGhosts(ghost.parentUuid));
    if (isChained(line) && !repeated.has(line) && !leadsNowhere(line)) settle(line, false);
  }
  if (waiting.size > 0) settleCycles();
  return { strands, nodes, repeated, kept, skipped, notes };

  function placed(uuid: string | undefined): Node | undefined {
    const line = uuid === undefined ? undefined : readAs.get(uuid);
    return isPlaced(line) ? line : undefined;
  }

  /** Of records with one id the last is read, or the one that is stored; the others are kept aside. */
  function chooseRecords(): ReadonlyMap<string, Chained> {
    const chosen = new Map<string, Chained>();
    for (const line of lines) {
      if (!isChained(line)) continue;
      const { uuid } = line;
      const other = chosen.get(uuid);
      const aside = other && (isTakenIn(other) ? line : other);
      if (aside !== line) chosen.set(uuid, line);
      if (!aside) continue;
      repeated.add(aside);
      const where = aside === line ? 'before' : 'later';
      skipped.push({ line: aside.line, reason: `another record with the id ${uuid} stands ${where}: that one is read, this one is kept aside` });
    }
    return chosen;
  }

  /** Bookkeeping that hangs on itself: no way leads from it to the conversation, nor back. */
  function leadsNowhere(line: Chained): boolean {
    if (line.parent !== line.uuid || line.isMessage) return false;
    repeated.add(line);
    skipped.push({ line: line.line, reason: 'it names itself as its parent and is no message: kept aside' });
    return true;
  }

  /** Places the record and all that have waited for it, or has it wait. */
  function settle(first: Chained, byPosition: boolean): void {
    const queue = [first];
    for (let line = queue.pop(); line; line = queue.pop()) {
      if (isPlaced(line)) continue;
      const sidechain = !wholeIsSidechain && line.sidechain;
      const place = placeOf(line, sidechain, byPosition && line === first);
      if ('waitFor' in place) {
        const others = waiting.get(place.waitFor);
        if (others) others.push(line);
        else waiting.set(place.waitFor, [line]);
        continue;
      }
      const { uuid } = grow(line, sidechain, place);
      const waited = waiting.size > 0 ? waiting.get(uuid) : undefined;
      if (!waited) continue;
      for (const one of waited.reverse()) queue.push(one);
      waiting.delete(uuid);
    }
  }

  function grow(line: Chained, sidechain: boolean, place: Place): Node {
    line.stored = storedAs(line, !isNode(place.parent) || place.parent.stored !== undefined);
    const node = attach(line, place, sidechain);
    nodes.push(node);
    if (node.part === 'boundary') keepMessages(node);
    if (node.part === 'summary') {
      const boundary = boundaryBefore(node);
      if (boundary !== node) summaries.set(boundary, node);
    }
    for (const call of node.more?.agents ?? []) if (call.prompt !== undefined) calls.set(call.prompt, call.id);
    if (!sidechain && !(previous && previous.start > node.start)) previous = node;
    return node;
  }

  /** Records that wait for each other follow, one after the other, the record before them. */
  function settleCycles(): void {
    previous = undefined;
    for (const line of lines) {
      if (!isChained(line) || repeated.has(line)) continue;
      if (!isPlaced(line)) settle(line, true);
      if (isPlaced(line) && (wholeIsSidechain || !line.strand.sidechain)) previous = line;
    }
  }

  function placeOf(line: Chained, sidechain: boolean, byPosition: boolean): Place | { readonly waitFor: string } {
    const { part } = line;
    const parent = part === 'boundary' ? (line.more?.logicalParent ?? line.parent) : line.parent;
    if (parent === undefined) return part === 'boundary' && previous ? after('a compaction that does not say what it follows') : { parent: null };
    if (parent === line.uuid) return after('it names itself as its parent');
    const found = lookUp(parent);
    if (found) {
      if (sidechain && !found.strand.sidechain) return { parent: null };
      const compaction = part === 'boundary' ? undefined : standsOn.get(found.uuid);
      const summary = compaction && summaries.get(compaction.boundary);
      return compaction && summary ? { parent: summary, keeps: compaction.keeps } : { parent: found };
    }
    const later = readAs.has(parent);
    // A fork's file begins with the compaction that it stands on; what that followed comes behind it as a kept message.
    if (later && part === 'boundary') return previous ? after(`what it follows, ${parent}, stands later in the file`) : { parent: null };
    if (later && !byPosition) return { waitFor: parent };
    if (later) return after(`its parent ${parent} hangs, in the end, on the record itself`);
    if (isKnown(parent)) return { parent: { record: parent } };
    return after(`its parent ${parent} is not there`);

    function after(why: string): Place {
      const before = sidechain ? undefined : previous;
      notes.push({ line: line.line, reason: `${why}: read as ${before ? 'following the record before it' : 'a beginning'}` });
      return { parent: before ?? null };
    }
  }

  /** The record of that id; through a torn line, the one that it hangs on. */
  function lookUp(uuid: string): Node | undefined {
    return placed(uuid) ?? (ghosts.size > 0 ? placed(ghosts.get(uuid) ?? undefined) : undefined);
  }

  /** A torn line that hangs on torn lines hangs on what they hang on. */
  function throughGhosts(uuid: string | null): string | null {
    return uuid !== null && !placed(uuid) ? (ghosts.get(uuid) ?? uuid) : uuid;
  }

  function keepMessages(boundary: Node): void {
    const { preservedMessages: preserved, preservedSegment } = boundary.more?.metadata ?? {};
    const uuids = isObject(preserved) && Array.isArray(preserved.uuids) ? preserved.uuids : segmentOf(preservedSegment);
    const found = uuids.flatMap((uuid) => (typeof uuid === 'string' ? (placed(uuid) ?? []) : []));
    if (found.length === 0) return;
    kept.set(boundary, found);
    for (const [index, node] of found.entries()) standsOn.set(node.uuid, { boundary, keeps: index + 1 });
  }

  /** Versions before the list of messages name only the first and the last of them. */
  function segmentOf(segment: unknown): readonly string[] {
    const head = placed(stringAt(segment, 'headUuid'));
    const tail = placed(stringAt(segment, 'tailUuid'));
    if (!head || !tail || head.strand !== tail.strand) return [];
    return tail.strand.nodes.slice(head.index, tail.index + 1).map((node) => node.uuid);
  }

  function attach(line: Chained, place: Place, sidechain: boolean): Node {
    const strand = strandFor(line, place, sidechain);
    line.strand = strand;
    line.index = strand.nodes.length;
    const node = line as Node;
    strand.nodes.push(node);
    remember(node);
    return node;
  }

  /** What the strand ends with, so that no record has to look at all that come after its parent. */
  function remember({ part, message, strand, index }: Node): void {
    const tail = tailOf(strand);
    if (part === 'quiet' || part === 'result') return;
    tail.other = index;
    if (part === 'assistant') {
      if (message === undefined || message !== tail.message) tail.otherAnswer = tail.answer;
      tail.answer = index;
      tail.message = message;
    } else if (part !== 'attachment') tail.turn = index;
  }

  function tailOf(strand: Strand): Tail {
    const known = tails.get(strand);
    if (known) return known;
    const tail: Tail = { other: -1, turn: -1, answer: -1, otherAnswer: -1, message: undefined, results: new Map(), searched: 0 };
    tails.set(strand, tail);
    return tail;
  }

  function strandFor(line: Chained, { parent, keeps }: Place, sidechain: boolean): Strand {
    if (!isNode(parent)) {
      const startedBy = sidechain ? callBehind(line) : undefined;
      return begin({ from: parent, nodes: [], sidechain, ...(startedBy === undefined ? {} : { startedBy }) });
    }
    const partial = keeps !== undefined && keeps < (kept.get(boundaryBefore(parent))?.length ?? 0);
    if (partial || parent.strand.sidechain !== sidechain) return begin({ from: parent, nodes: [], sidechain, ...(partial ? { keeps } : {}) });
    return goesOn(line, parent) ?? branchFrom(lastOfRound(parent), sidechain);
  }

  /** Where in the strand the call was answered last; -1 where it was not. Few ask: what was written is looked through when they do. */
  function lastResult(strand: Strand, id: string): number {
    const tail = tailOf(strand);
    for (; tail.searched < strand.nodes.length; tail.searched++) {
      const node = strand.nodes[tail.searched] as Node;
      if (node.part === 'result') for (const each of resultsOf(node)) tail.results.set(each, node.index);
    }
    return tail.results.get(id) ?? -1;
  }

  /** An answer and the results of its calls are one: whoever goes on from a part of them has seen all (the agent gathers them again). */
  function lastOfRound(parent: Node): Node {
    if (parent.part !== 'assistant' && parent.part !== 'result') return parent;
    const message = parent.part === 'assistant' ? parent.message : undefined;
    const round = rounds.get(parent) ?? { last: parent, next: parent.index + 1 };
    rounds.set(parent, round);
    for (let node = parent.strand.nodes[round.next]; node; node = parent.strand.nodes[++round.next]) {
      const same = node.part === 'assistant' && message !== undefined && node.message === message;
      if (node.part === 'result' || same) round.last = node;
      else if (node.part !== 'quiet') break;
    }
    return round.last;
  }

  function branchFrom(parent: Node, sidechain: boolean): Strand {
    return parent.index === parent.strand.nodes.length - 1 ? parent.strand : begin({ from: parent, nodes: [], sidechain });
  }

  function begin(strand: Strand): Strand {
    strands.push(strand);
    return strand;
  }

  /** The boundary of a summary's compaction; the summary itself where it has none. */
  function boundaryBefore(summary: Node): Node {
    for (let at = summary.index - 1; at >= 0; at--) {
      const node = summary.strand.nodes[at] as Node;
      if (node.part === 'boundary') return node;
      if (node.part !== 'quiet') break;
    }
    return summary;
  }

  /**
   * The strand that the record continues, or none where it branches off. A parent has several children for three reasons: parallel
   * tool calls and lines that are walked through are one conversation, only the third is a branch.
   */
  function goesOn(line: Chained, parent: Node): Strand | undefined {
    const { part, message } = line;
    const { strand } = parent;
    if (parent.index === strand.nodes.length - 1) return strand;
    if (part === 'quiet' || part === 'attachment') return strand;
    const tail = tailOf(strand);
    if (part === 'assistant') {
      const answer = message !== undefined && message === tail.message ? tail.otherAnswer : tail.answer;
      return tail.turn > parent.index || answer > parent.index ? undefined : strand;
    }
    const isMovedOn = tail.other > parent.index;
    const isAnsweredAgain = part !== 'result' || resultsOf(line).some((id) => lastResult(strand, id) > parent.index);
    return isMovedOn && isAnsweredAgain ? undefined : strand;
  }

  /** The call that started a subagent whose messages stand in this file. */
  function callBehind(line: Chained): string | undefined {
    const record = recordOf(line);
    const named = stringAt(record, 'parentToolUseID');
    if (named !== undefined) return named;
    const started = placed(stringAt(record, 'sourceToolAssistantUUID') ?? line.parent)?.more?.agents ?? [];
    return started.length === 1 ? started[0]?.id : calls.get(firstTextOf(contentOf(record)));
  }
}

import type { JsonObject } from '../../base/index.js';
import { isObject, stringAt } from '../../base/index.js';
import type { Problem } from '../format.js';
import type { Piece } from './lines.js';
import { agentCallsOf, contentOf, firstTextOf, isChained, messageIdOf, type Part, partOf, resultIdsOf, uuidOf } from './record.js';

/** A chained record with its place. */
export interface Node {
  readonly uuid: string;
  readonly piece: Piece;
  readonly record: JsonObject;
  readonly part: Part;
  readonly strand: Strand;
  readonly index: number;
  /** The commit that holds it is in the store already, under this record. */
  readonly stored?: string;
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
  readonly nodes: ReadonlyMap<Piece, Node>;
  readonly byUuid: ReadonlyMap<string, Node>;
  /** Records whose id stood earlier in the file: read once, kept aside. */
  readonly repeated: ReadonlySet<Piece>;
  /** For each compaction's boundary the records that it keeps beside its summary, in order. */
  readonly kept: ReadonlyMap<Node, readonly Node[]>;
  readonly skipped: readonly Problem[];
  readonly notes: readonly Problem[];
}

const isChainedPiece = ({ record, sort }: Piece): boolean => sort === 'record' && record !== undefined && isChained(record);

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
  readonly results: Map<string, number>;
}

/** What the tree needs to know of the world: whether a record is in the project already, and under which id. */
export interface Surroundings {
  /** The id under which the project holds the record; `parentStored` says that what it hangs on is held too. */
  readonly storedAs: (piece: Piece, record: JsonObject, parentStored: boolean) => string | undefined;
  /** An earlier import of this file has taken the record in. */
  readonly isTakenIn: (piece: Piece) => boolean;
  /** A record that is not in this file is known from another. */
  readonly isKnown: (uuid: string) => boolean;
  /** The whole file is a subagent's conversation. */
  readonly wholeIsSidechain: boolean;
}

/**
 * Puts records into their tree, in file order; one whose parent stands later in the file waits for it. What the links leave open is
 * settled as the agent itself does (2.1.329, run on made-up files): a record without a parent in reach follows the one before it, and of
 * two with one id the last is read.
 */
export function growTree(pieces: readonly Piece[], { storedAs, isTakenIn, isKnown, wholeIsSidechain }: Surroundings): Tree {
  const byUuid = new Map<string, Node>();
  const nodes = new Map<Piece, Node>();
  const ghosts = new Map<string, string | null>();
  const repeated = new Set<Piece>();
  const strands: Strand[] = [];
  const kept = new Map<Node, Node[]>();
  /** A kept message stands, for what goes on from it, right after the summary of the compaction that keeps it. */
  const standsOn = new Map<string, { readonly boundary: Node; readonly keeps: number }>();
  const summaries = new Map<Node, Node>();
  const calls = new Map<string, string>();
  const skipped: Problem[] = [];
  const notes: Problem[] = [];
  const waiting = new Map<string, Piece[]>();
  const tails = new Map<Strand, Tail>();
  /** How far the round of an answer or a result has been followed. */
  const rounds = new Map<Node, { last: Node; next: number }>();
  let previous: Node | undefined;

  const readAs = chooseRecords();
  for (const piece of pieces) {
    if (piece.ghost && !byUuid.has(piece.ghost.uuid)) ghosts.set(piece.ghost.uuid, throughGhosts(piece.ghost.parentUuid));
    if (isChainedPiece(piece) && !repeated.has(piece) && !leadsNowhere(piece)) settle(piece, false);
  }
  if (waiting.size > 0) settleCycles();
  return { strands, nodes, byUuid, repeated, kept, skipped, notes };

  /** Of records with one id the last is read, or the one that is stored; the others are kept aside. */
  function chooseRecords(): ReadonlyMap<string, Piece> {
    const chosen = new Map<string, Piece>();
    for (const piece of pieces) {
      if (!isChainedPiece(piece)) continue;
      const uuid = uuidOf(piece.record as JsonObject) as string;
      const other = chosen.get(uuid);
      const aside = other && (isTakenIn(other) ? piece : other);
      if (aside !== piece) chosen.set(uuid, piece);
      if (!aside) continue;
      repeated.add(aside);
      const where = aside === piece ? 'before' : 'later';
      skipped.push({ line: aside.line, reason: `another record with the id ${uuid} stands ${where}: that one is read, this one is kept aside` });
    }
    return chosen;
  }

  /** Bookkeeping that hangs on itself: no way leads from it to the conversation, nor back. */
  function leadsNowhere(piece: Piece): boolean {
    const record = piece.record as JsonObject;
    if (record.parentUuid !== record.uuid || record.type === 'user' || record.type === 'assistant') return false;
    repeated.add(piece);
    skipped.push({ line: piece.line, reason: 'it names itself as its parent and is no message: kept aside' });
    return true;
  }

  /** Places the record and all that have waited for it, or has it wait. */
  function settle(first: Piece, byPosition: boolean): void {
    const queue = [first];
    for (let piece = queue.pop(); piece; piece = queue.pop()) {
      if (nodes.has(piece)) continue;
      const record = piece.record as JsonObject;
      const part = partOf(record);
      const sidechain = !wholeIsSidechain && record.isSidechain === true;
      const place = placeOf(piece, record, part, sidechain, byPosition && piece === first);
      if ('waitFor' in place) {
        const others = waiting.get(place.waitFor);
        if (others) others.push(piece);
        else waiting.set(place.waitFor, [piece]);
        continue;
      }
      const node = grow(piece, record, part, sidechain, place);
      queue.push(...(waiting.get(node.uuid)?.reverse() ?? []));
      waiting.delete(node.uuid);
    }
  }

  function grow(piece: Piece, record: JsonObject, part: Part, sidechain: boolean, place: Place): Node {
    const uuid = uuidOf(record) as string;
    const parentStored = place.parent === null || !('piece' in place.parent) || place.parent.stored !== undefined;
    const stored = storedAs(piece, record, parentStored);
    const node = attach({ uuid, piece, record, part, ...(stored === undefined ? {} : { stored }) }, place, sidechain);
    byUuid.set(uuid, node);
    nodes.set(piece, node);
    if (part === 'boundary') keepMessages(node);
    if (part === 'summary') {
      const boundary = boundaryBefore(node);
      if (boundary !== node) summaries.set(boundary, node);
    }
    for (const call of agentCallsOf(record)) if (call.prompt !== undefined) calls.set(call.prompt, call.id);
    if (!sidechain && !(previous && previous.piece.range.start > piece.range.start)) previous = node;
    return node;
  }

  /** Records that wait for each other follow, one after the other, the record before them. */
  function settleCycles(): void {
    previous = undefined;
    for (const piece of pieces) {
      if (!isChainedPiece(piece) || repeated.has(piece)) continue;
      if (!nodes.has(piece)) settle(piece, true);
      const node = nodes.get(piece);
      if (node && (wholeIsSidechain || !node.strand.sidechain)) previous = node;
    }
  }

  function placeOf(piece: Piece, record: JsonObject, part: Part, sidechain: boolean, byPosition: boolean): Place | { readonly waitFor: string } {
    const named = typeof record.parentUuid === 'string' ? record.parentUuid : undefined;
    const parent = part === 'boundary' ? (stringAt(record, 'logicalParentUuid') ?? named) : named;
    if (parent === undefined) return part === 'boundary' && previous ? after('a compaction that does not say what it follows') : { parent: null };
    if (parent === record.uuid) return after('it names itself as its parent');
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
      notes.push({ line: piece.line, reason: `${why}: read as ${before ? 'following the record before it' : 'a beginning'}` });
      return { parent: before ?? null };
    }
  }

  /** The record of that id; through a torn line, the one that it hangs on. */
  function lookUp(uuid: string): Node | undefined {
    return byUuid.get(uuid) ?? byUuid.get(ghosts.get(uuid) ?? '');
  }

  /** A torn line that hangs on torn lines hangs on what they hang on. */
  function throughGhosts(uuid: string | null): string | null {
    return uuid !== null && !byUuid.has(uuid) ? (ghosts.get(uuid) ?? uuid) : uuid;
  }

  function keepMessages(boundary: Node): void {
    const metadata = boundary.record.compactMetadata;
    const preserved = isObject(metadata) ? metadata.preservedMessages : undefined;
    const uuids =
      isObject(preserved) && Array.isArray(preserved.uuids) ? preserved.uuids : segmentOf(isObject(metadata) ? metadata.preservedSegment : undefined);
    const found = uuids.flatMap((uuid) => (typeof uuid === 'string' ? (byUuid.get(uuid) ?? []) : []));
    if (found.length === 0) return;
    kept.set(boundary, found);
    for (const [index, node] of found.entries()) standsOn.set(node.uuid, { boundary, keeps: index + 1 });
  }

  /** Versions before the list of messages name only the first and the last of them. */
  function segmentOf(segment: unknown): readonly string[] {
    const head = byUuid.get(stringAt(segment, 'headUuid') ?? '');
    const tail = byUuid.get(stringAt(segment, 'tailUuid') ?? '');
    if (!head || !tail || head.strand !== tail.strand) return [];
    return tail.strand.nodes.slice(head.index, tail.index + 1).map((node) => node.uuid);
  }

  function attach(bare: Omit<Node, 'strand' | 'index'>, place: Place, sidechain: boolean): Node {
    const strand = strandFor(bare, place, sidechain);
    const node: Node = { ...bare, strand, index: strand.nodes.length };
    strand.nodes.push(node);
    remember(node);
    return node;
  }

  /** What the strand ends with, so that no record has to look at all that come after its parent. */
  function remember({ part, record, strand, index }: Node): void {
    const tail = tailOf(strand);
    if (part === 'result') for (const id of resultIdsOf(record)) tail.results.set(id, index);
    if (part === 'quiet' || part === 'result') return;
    tail.other = index;
    if (part === 'assistant') {
      const message = messageIdOf(record);
      if (message === undefined || message !== tail.message) tail.otherAnswer = tail.answer;
      tail.answer = index;
      tail.message = message;
    } else if (part !== 'attachment') tail.turn = index;
  }

  function tailOf(strand: Strand): Tail {
    const known = tails.get(strand);
    if (known) return known;
    const tail: Tail = { other: -1, turn: -1, answer: -1, otherAnswer: -1, message: undefined, results: new Map() };
    tails.set(strand, tail);
    return tail;
  }

  function strandFor(bare: Omit<Node, 'strand' | 'index'>, { parent, keeps }: Place, sidechain: boolean): Strand {
    if (parent === null || !('piece' in parent)) {
      const startedBy = sidechain ? callBehind(bare.record) : undefined;
      return begin({ from: parent, nodes: [], sidechain, ...(startedBy === undefined ? {} : { startedBy }) });
    }
    const partial = keeps !== undefined && keeps < (kept.get(boundaryBefore(parent))?.length ?? 0);
    if (partial || parent.strand.sidechain !== sidechain) return begin({ from: parent, nodes: [], sidechain, ...(partial ? { keeps } : {}) });
    return goesOn(bare, parent) ?? branchFrom(lastOfRound(parent), sidechain);
  }

  /** An answer and the results of its calls are one: whoever goes on from a part of them has seen all (the agent gathers them again). */
  function lastOfRound(parent: Node): Node {
    if (parent.part !== 'assistant' && parent.part !== 'result') return parent;
    const message = parent.part === 'assistant' ? messageIdOf(parent.record) : undefined;
    const round = rounds.get(parent) ?? { last: parent, next: parent.index + 1 };
    rounds.set(parent, round);
    for (let node = parent.strand.nodes[round.next]; node; node = parent.strand.nodes[++round.next]) {
      const same = node.part === 'assistant' && message !== undefined && messageIdOf(node.record) === message;
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
  function goesOn(bare: Omit<Node, 'strand' | 'index'>, parent: Node): Strand | undefined {
    const { strand } = parent;
    if (parent.index === strand.nodes.length - 1) return strand;
    const { part, record } = bare;
    if (part === 'quiet' || part === 'attachment') return strand;
    const tail = tailOf(strand);
    if (part === 'assistant') {
      const message = messageIdOf(record);
      const answer = message !== undefined && message === tail.message ? tail.otherAnswer : tail.answer;
      return tail.turn > parent.index || answer > parent.index ? undefined : strand;
    }
    const isMovedOn = tail.other > parent.index;
    const isAnsweredAgain = part !== 'result' || resultIdsOf(record).some((id) => (tail.results.get(id) ?? -1) > parent.index);
    return isMovedOn && isAnsweredAgain ? undefined : strand;
  }

  /** The call that started a subagent whose messages stand in this file. */
  function callBehind(record: JsonObject): string | undefined {
    const named = stringAt(record, 'parentToolUseID');
    if (named !== undefined) return named;
    const source = byUuid.get(stringAt(record, 'sourceToolAssistantUUID') ?? stringAt(record, 'parentUuid') ?? '');
    const started = source ? agentCallsOf(source.record) : [];
    return started.length === 1 ? started[0]?.id : calls.get(firstTextOf(contentOf(record)));
  }
}

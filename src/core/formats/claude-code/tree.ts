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

interface Place {
  readonly parent: Node | { readonly record: string } | null;
  readonly keeps?: number;
}

/**
 * Puts records into their tree, in file order. `storedAs` tells for a record whether the project holds it already and
 * under which id; `isKnown` whether a record that is not in this file is known from another.
 */
export function growTree(
  pieces: readonly Piece[],
  storedAs: (piece: Piece, record: JsonObject, parentStored: boolean) => string | undefined,
  isKnown: (uuid: string) => boolean,
  wholeIsSidechain: boolean,
): Tree {
  const byUuid = new Map<string, Node>();
  const nodes = new Map<Piece, Node>();
  const ghosts = new Map<string, string | null>();
  const repeated = new Set<Piece>();
  const strands: Strand[] = [];
  const children = new Map<Node, Strand[]>();
  const kept = new Map<Node, Node[]>();
  /** A kept message stands, for what goes on from it, right after the summary of the compaction that keeps it. */
  const standsOn = new Map<string, { readonly boundary: Node; readonly keeps: number }>();
  const summaries = new Map<Node, Node>();
  const calls = new Map<string, string>();
  const skipped: Problem[] = [];
  const notes: Problem[] = [];
  let previous: Node | undefined;
  let later: ReadonlySet<string> | undefined;

  for (const piece of pieces) {
    if (piece.ghost && !byUuid.has(piece.ghost.uuid)) ghosts.set(piece.ghost.uuid, piece.ghost.parentUuid);
    const { record } = piece;
    if (!record || piece.sort !== 'record' || !isChained(record)) continue;
    const uuid = uuidOf(record) as string;
    if (byUuid.has(uuid)) {
      repeated.add(piece);
      skipped.push({ line: piece.line, reason: `a second record with the id ${uuid}; the first is read, this one is kept aside` });
      continue;
    }
    const part = partOf(record);
    const sidechain = !wholeIsSidechain && record.isSidechain === true;
    const place = placeOf(piece, record, part, sidechain);
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
    if (!sidechain) previous = node;
  }
  return { strands, nodes, byUuid, repeated, kept, skipped, notes };

  function placeOf(piece: Piece, record: JsonObject, part: Part, sidechain: boolean): Place {
    const note = (reason: string): void => void notes.push({ line: piece.line, reason });
    const named = typeof record.parentUuid === 'string' ? record.parentUuid : undefined;
    const parent = part === 'boundary' ? (stringAt(record, 'logicalParentUuid') ?? named) : named;
    if (parent === undefined) {
      if (part !== 'boundary' || !previous) return { parent: null };
      note('a compaction that does not say what it follows: read as following the record before it');
      return { parent: previous };
    }
    const found = lookUp(parent);
    if (found) {
      if (sidechain !== found.strand.sidechain && !wholeIsSidechain) return sidechain ? { parent: null } : byPosition('its parent belongs to a subagent');
      const compaction = part === 'boundary' ? undefined : standsOn.get(found.uuid);
      const summary = compaction && summaries.get(compaction.boundary);
      if (compaction && summary) return { parent: summary, keeps: compaction.keeps };
      return { parent: found };
    }
    if (isKnown(parent)) return { parent: { record: parent } };
    if (part === 'prompt' && parent !== record.uuid) {
      note(`its parent ${parent} is not there: read as a beginning`);
      return { parent: null };
    }
    if (parent === record.uuid) return byPosition('it names itself as its parent');
    return byPosition(laterUuids().has(parent) ? `its parent ${parent} stands later in the file` : `its parent ${parent} is not there`);

    function byPosition(why: string): Place {
      if (!previous || sidechain) {
        note(`${why}: read as a beginning`);
        return { parent: null };
      }
      note(`${why}: read as following the record before it`);
      return { parent: previous };
    }
  }

  /** The record of that id; through torn lines, the one that they hang on. */
  function lookUp(uuid: string): Node | undefined {
    let at: string | null | undefined = uuid;
    for (let steps = 0; typeof at === 'string' && steps <= ghosts.size; steps++) {
      const node = byUuid.get(at);
      if (node) return node;
      at = ghosts.get(at);
    }
    return undefined;
  }

  function laterUuids(): ReadonlySet<string> {
    later ??= new Set(pieces.flatMap((piece) => (piece.record && isChained(piece.record) ? [uuidOf(piece.record) as string] : [])));
    return later;
  }

  function keepMessages(boundary: Node): void {
    const metadata = boundary.record.compactMetadata;
    const preserved = isObject(metadata) ? metadata.preservedMessages : undefined;
    const uuids = isObject(preserved) && Array.isArray(preserved.uuids) ? preserved.uuids : segmentOf(isObject(metadata) ? metadata.preservedSegment : undefined);
    const found = uuids.flatMap((uuid) => (typeof uuid === 'string' ? (byUuid.get(uuid) ?? []) : []));
    if (found.length === 0) return;
    kept.set(boundary, found);
    found.forEach((node, index) => standsOn.set(node.uuid, { boundary, keeps: index + 1 }));
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
    return node;
  }

  function strandFor(bare: Omit<Node, 'strand' | 'index'>, { parent, keeps }: Place, sidechain: boolean): Strand {
    if (parent === null || !('piece' in parent)) {
      const startedBy = sidechain ? callBehind(bare.record) : undefined;
      return begin({ from: parent, nodes: [], sidechain, ...(startedBy === undefined ? {} : { startedBy }) });
    }
    const partial = keeps !== undefined && keeps < (kept.get(boundaryBefore(parent))?.length ?? 0);
    if (!partial) {
      const home = goesOn(bare, parent);
      if (home) return home;
    }
    const strand = begin({ from: parent, nodes: [], sidechain: parent.strand.sidechain, ...(partial ? { keeps } : {}) });
    children.set(parent, [...(children.get(parent) ?? []), strand]);
    return strand;
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
    const { part } = bare;
    if (part === 'quiet' || part === 'attachment') return strand;
    const ids = part === 'result' ? new Set(resultIdsOf(bare.record)) : undefined;
    const message = part === 'assistant' ? messageIdOf(bare.record) : undefined;
    for (let at = parent.index + 1; at < strand.nodes.length; at++) {
      const beside = strand.nodes[at] as Node;
      if (beside.part === 'quiet') continue;
      if (ids ? !resultIdsOf(beside.record).some((id) => ids.has(id)) : beside.part === 'result') continue;
      if (part === 'assistant' && (beside.part === 'attachment' || (beside.part === 'assistant' && message !== undefined && messageIdOf(beside.record) === message))) continue;
      return undefined;
    }
    return strand;
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

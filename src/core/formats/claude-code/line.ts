import { type ByteRange, isObject, type JsonObject, stringAt } from '../../base/index.js';
import type { FileBytes, ParsedDelta } from '../format.js';
import { type OutlinePart, outlinePart } from '../outline.js';
import { elisionsOf, entriesOf } from './entries.js';
import { eachRecord, type Piece, recordAt } from './lines.js';
import {
  type AgentCall,
  agentCallsOf,
  blocksOf,
  contentOf,
  firstTextOf,
  headlineOf,
  isChained,
  messageIdOf,
  type Part,
  partOf,
  resultIdsOf,
  syntheticModel,
  uuidOf,
} from './record.js';
import type { Segment } from './segments.js';
import { type Title, titleOf } from './title.js';
import type { Strand } from './tree.js';

/**
 * One line of a session as tree and plan need it: its place, what it hangs on and what is kept of it. One small object of one shape for
 * each, whatever the size of its record, which is let go of once it is read: a file of any length is planned in little memory.
 */
export interface Line extends ByteRange {
  readonly line: number;
  readonly sort: Piece['sort'];
  /** The record's id, where it has a place in the tree. */
  readonly uuid: string | undefined;
  /** The id of the record that it names as its parent. */
  readonly parent: string | undefined;
  readonly part: Part;
  readonly sidechain: boolean;
  /** A person's or the model's, no bookkeeping. */
  readonly isMessage: boolean;
  /** As it is written. */
  readonly timestamp: string | undefined;
  /** The runtime's id of the message that it is a part of. */
  readonly message: string | undefined;
  /** The calls whose results it brings: mostly one, or none. */
  readonly results: string | readonly string[];
  /** An answer: whether it waits for a tool, whether it calls one at all. */
  readonly stops: boolean;
  readonly calls: boolean;
  /** One line for people, of what a person said. */
  readonly headline: string | undefined;
  /** What few lines have. */
  readonly more: More | undefined;
  /** Its entries without their content; undefined where it has none, or where nobody asked for them. */
  readonly told: OutlinePart | undefined;
  /** Set by the tree: where it stands, and under which record the project holds its commit, if it does. */
  strand: Strand | undefined;
  index: number;
  stored: string | undefined;
  /** Set by the plan: the run that becomes its commit. */
  run: Segment | undefined;
}

const oneOrMore = (ids: readonly string[]): string | readonly string[] => (ids.length === 1 ? (ids[0] as string) : ids);
export const resultsOf = ({ results }: Line): readonly string[] => (typeof results === 'string' ? [results] : results);

export interface More {
  readonly ghost?: NonNullable<Piece['ghost']>;
  readonly title?: Title;
  readonly sessionId?: string;
  readonly cwd?: string;
  readonly logicalParent?: string;
  /** Of a compaction's boundary. */
  readonly metadata?: JsonObject;
  readonly forkedFrom?: string;
  /** Calls that may start subagents. */
  readonly agents?: readonly AgentCall[];
  /** What the agent puts in place of an answer that nobody waits for any more. */
  readonly isClosingWord?: true;
}

export interface Lines {
  readonly lines: readonly Line[];
  readonly skipped: ParsedDelta['problems'];
  readonly notes: ParsedDelta['problems'];
  readonly end: number;
}

export interface Reading {
  /** So many bytes are looked at together. */
  readonly part: number;
  /** What stands before is not read. */
  readonly begin: number;
  /** Lines before it are in the store: their entries are nobody's question. */
  readonly from: number;
}

/** So much of a file is told of as it is read; what stands behind is read again when it is asked for, or it would fill memory. */
const toldAtOnce = 24 * 1024 * 1024;
const isTold = ({ start, end }: ByteRange, from: number): boolean => start >= from && end <= from + toldAtOnce;

/** Reads a file once, a part at a time. */
export function readLines(file: FileBytes, { part, begin, from }: Reading): Lines {
  const lines: Line[] = [];
  const read = lineReader(from);
  const seen = eachRecord(file, { mayGrow: true, part, begin }, (piece) => lines.push(read(piece)));
  return { lines, ...seen };
}

/** A line of which nothing is read. */
export const placeOnly = ({ line, start, end }: Line, sort: Piece['sort']): Line => ({ ...bare, line, start, end, sort });

/** What is kept of a line; read again where nobody asked for it at first. */
export const toldBy = (line: Line, file: FileBytes, from: number): OutlinePart | undefined =>
  line.sort !== 'record' || isTold(line, from) ? line.told : toldIn(recordAt(file, line));

const bare: Line = {
  line: 0,
  start: 0,
  end: 0,
  sort: 'record',
  uuid: undefined,
  parent: undefined,
  part: 'quiet',
  sidechain: false,
  isMessage: false,
  timestamp: undefined,
  message: undefined,
  results: [],
  stops: false,
  calls: false,
  headline: undefined,
  more: undefined,
  told: undefined,
  strand: undefined,
  index: -1,
  stored: undefined,
  run: undefined,
};

function toldIn(record: JsonObject): OutlinePart | undefined {
  const entries = entriesOf(record, { start: 0, end: 0 });
  const elisions = elisionsOf(record);
  return entries.length > 0 || elisions.length > 0 ? outlinePart({ entries, elisions }) : undefined;
}

/** Reads one line after the other of one file: a text that the line before has, too, is held once, and what all repeat is told once. */
function lineReader(from: number): (piece: Piece) => Line {
  let last: Line = bare;
  let isFirst = true;
  let cwd: string | undefined;
  const moreOf = (record: JsonObject, chained: boolean, part: Part, calls: boolean): More | undefined => {
    const title = titleOf(record);
    const session = chained && isFirst ? stringAt(record, 'sessionId') : undefined;
    const folder = chained && !cwd ? stringAt(record, 'cwd') : undefined;
    cwd ||= folder;
    if (chained) isFirst = false;
    const logicalParent = part === 'boundary' ? stringAt(record, 'logicalParentUuid') : undefined;
    const metadata = part === 'boundary' && isObject(record.compactMetadata) ? record.compactMetadata : undefined;
    const forkedFrom = record.forkedFrom === undefined ? undefined : stringAt(record.forkedFrom, 'messageUuid');
    const agents = calls ? agentCallsOf(record) : [];
    const isClosingWord = part === 'assistant' && saysNothing(record);
    const isRare = title || session || folder || logicalParent || metadata || forkedFrom || agents.length > 0 || isClosingWord;
    if (!isRare) return undefined;
    return {
      ...(title && { title }),
      ...(session !== undefined && { sessionId: session }),
      ...(folder !== undefined && { cwd: folder }),
      ...(logicalParent !== undefined && { logicalParent }),
      ...(metadata && { metadata }),
      ...(forkedFrom !== undefined && { forkedFrom }),
      ...(agents.length > 0 && { agents }),
      ...(isClosingWord && { isClosingWord }),
    };
  };
  return ({ line, range: { start, end }, sort, record, ghost }) => {
    if (!record) return { ...bare, line, start, end, sort, more: ghost && { ghost } };
    const chained = sort === 'record' && isChained(record);
    const part = chained ? partOf(record) : 'quiet';
    const parent = typeof record.parentUuid === 'string' ? record.parentUuid : undefined;
    const message = chained ? messageIdOf(record) : undefined;
    const isAnswer = part === 'assistant';
    const calls = isAnswer && blocksOf(record).some((block) => !isObject(block) || block.type === 'tool_use');
    const isPrompt = part === 'prompt' || (part === 'command' && record.isMeta !== true);
    const read: Line = {
      line,
      start,
      end,
      sort,
      uuid: chained ? uuidOf(record) : undefined,
      parent: parent === last.uuid ? last.uuid : parent,
      part,
      sidechain: record.isSidechain === true,
      isMessage: record.type === 'user' || record.type === 'assistant',
      timestamp: typeof record.timestamp === 'string' ? record.timestamp : undefined,
      message: message === last.message ? last.message : message,
      results: part === 'result' ? oneOrMore(resultIdsOf(record)) : bare.results,
      stops: isAnswer && stringAt(record.message, 'stop_reason') === 'tool_use',
      calls,
      headline: isPrompt ? headlineOf(record) : undefined,
      more: moreOf(record, chained, part, calls),
      told: sort === 'record' && isTold({ start, end }, from) ? toldIn(record) : undefined,
      strand: undefined,
      index: -1,
      stored: undefined,
      run: undefined,
    };
    if (ghost) return { ...read, more: { ...read.more, ghost } };
    last = read;
    return read;
  };
}

const saysNothing = (record: JsonObject): boolean =>
  stringAt(record.message, 'model') === syntheticModel && firstTextOf(contentOf(record)) === 'No response requested.';

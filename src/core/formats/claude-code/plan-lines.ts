import { type ByteRange, isObject, type JsonObject, stringAt } from '../../base/index.js';
import type { FileBytes, Mutable } from '../format.js';
import type { Seen } from '../shared/jsonl.js';
import { type OutlinePart, outlinePart } from '../shared/outline.js';
import { callPartOf } from './calls.js';
import { absorbedIn, elisionsOf, readEntries } from './parse-entries.js';
import { eachRecord, type RecordPiece, recordAt } from './parse-lines.js';
import {
  type AgentCall,
  agentCallsOf,
  type ChainedRole,
  firstTextOf,
  isChained,
  linkOf,
  messageIdOf,
  readBlocks,
  readContent,
  readTitle,
  resultIdsOf,
  roleInTree,
  type SessionLink,
  syntheticModel,
  type Title,
  uuidOf,
  writeHeadline,
} from './schema.js';

/** The facts about a line that the tree and the plan need, in one small shape, so that a file of any length needs little memory. */
export interface TranscriptLine extends ByteRange {
  readonly line: number;
  readonly sort: RecordPiece['sort'];
  /** The record's id, if it has a place in the tree. */
  readonly uuid: string | undefined;
  /** The id of the record that it names as its parent. */
  readonly parent: string | undefined;
  readonly part: ChainedRole;
  readonly sidechain: boolean;
  /** A message of a person or the model, not bookkeeping. */
  readonly isMessage: boolean;
  /** The time in the spelling of the record. */
  readonly timestamp: string | undefined;
  /** The agent's id of the message to which the record belongs. */
  readonly message: string | undefined;
  /** The ids of the calls whose results the record holds, usually one or none. */
  readonly results: string | readonly string[];
  /** True for an answer that stops to wait for a tool. */
  readonly stops: boolean;
  readonly calls: boolean;
  readonly headline: string | undefined;
  readonly more: More | undefined;
  /** The entries without their content; undefined if the line has no entries or they were not requested. */
  readonly outline: OutlinePart | undefined;
}

const oneOrMore = (ids: readonly string[]): string | readonly string[] => (ids.length === 1 ? (ids[0] as string) : ids);
/** The ids of the calls whose results the line holds. */
export const resultsOf = ({ results }: TranscriptLine): readonly string[] => (typeof results === 'string' ? [results] : results);

export interface More {
  readonly ghost?: NonNullable<RecordPiece['ghost']>;
  readonly title?: Title;
  readonly sessionId?: string;
  readonly cwd?: string;
  readonly logicalParent?: string;
  /** Set for the boundary of a compaction. */
  readonly metadata?: JsonObject;
  /** The session and the record that the record repeats. */
  readonly forkedFrom?: { readonly session: string | undefined; readonly record: string };
  /** The end of the parent's context with which a forked subagent begins. Set for the reference of its file to it. */
  readonly forkRef?: { readonly session: string; readonly last: string };
  /** Calls that may start subagents. */
  readonly agents?: readonly AgentCall[];
  /** True for the placeholder that the agent writes if an answer was abandoned. */
  readonly isClosingWord?: true;
  readonly link?: SessionLink;
  /** A prompt that was typed while the agent worked, and that an attachment shows or only the queue. */
  readonly queued?: { readonly text: string; readonly isAttached: boolean };
}

export interface SessionLines extends Seen {
  readonly lines: readonly TranscriptLine[];
}

/** Outlines are kept for this many bytes of the file. Later lines are read again on demand, because all outlines would fill the memory. */
const outlinedAtOnce = 24 * 1024 * 1024;
const isOutlined = ({ start, end }: ByteRange, from: number): boolean => start >= from && end <= from + outlinedAtOnce;

/**
 * Reads a file once, from the byte `begin` on. Lines before the byte `from` are stored already, so their entries are not needed. `part` is the number of
 * bytes to read at a time.
 */
export function readLines(file: FileBytes, { part, begin, from }: Record<'part' | 'begin' | 'from', number>): SessionLines {
  const lines: TranscriptLine[] = [];
  const read = lineReader(from);
  const seen = eachRecord(file, { mayGrow: true, part, begin }, (piece) => lines.push(read(piece)));
  return { lines, ...seen };
}

/** The place of a line without its content. */
export const placeOnly = ({ line, start, end }: TranscriptLine, sort: RecordPiece['sort']): TranscriptLine => ({ ...bare, line, start, end, sort });

/** The outline of a line, read from the file if it was not kept. */
export const outlineLine = (line: TranscriptLine, file: FileBytes, from: number): OutlinePart | undefined =>
  line.sort !== 'record' || isOutlined(line, from) ? line.outline : outlineOfRecord(recordAt(file, line));

const bare: TranscriptLine = {
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
  outline: undefined,
};

function outlineOfRecord(record: JsonObject): OutlinePart | undefined {
  const entries = readEntries(record, { start: 0, end: 0 });
  const elisions = elisionsOf(record);
  return outlinePart({ entries, elisions }, callPartOf(record, entries));
}

/**
 * Reads the lines of one file in order. Ids shared with the previous line are held once; one line holds the facts of the whole file, its session and the
 * first working directory. Outlines are made from the byte `from` on.
 */
function lineReader(from: number): (piece: RecordPiece) => TranscriptLine {
  let last: TranscriptLine = bare;
  let isFirst = true;
  let cwd: string | undefined;
  const fileFactsOf = (record: JsonObject): FileFacts | undefined => {
    const sessionId = isFirst ? stringAt(record, 'sessionId') : undefined;
    const folder = cwd ? undefined : stringAt(record, 'cwd');
    cwd ||= folder;
    isFirst = false;
    return sessionId || folder ? { ...(sessionId && { sessionId }), ...(folder && { cwd: folder }) } : undefined;
  };
  const withRecord = ({ line, range: { start, end }, sort }: RecordPiece, record: JsonObject): TranscriptLine => {
    const chained = sort === 'record' && isChained(record);
    const part = chained ? roleInTree(record) : 'quiet';
    const parent = typeof record.parentUuid === 'string' ? record.parentUuid : undefined;
    const message = chained ? messageIdOf(record) : undefined;
    const isAnswer = part === 'assistant';
    const calls = isAnswer && readBlocks(record).some((block) => !isObject(block) || block.type === 'tool_use');
    const isPrompt = part === 'prompt' || (part === 'command' && record.isMeta !== true);
    return {
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
      headline: isPrompt ? writeHeadline(record) : undefined,
      more: moreOf(record, part, calls, chained ? fileFactsOf(record) : undefined),
      outline: sort === 'record' && isOutlined({ start, end }, from) ? outlineOfRecord(record) : undefined,
    };
  };
  return (piece) => {
    const { line, range, sort, record, ghost } = piece;
    if (!record) return { ...bare, line, ...range, sort, more: ghost && { ghost } };
    const read = withRecord(piece, record);
    if (ghost) return { ...read, more: { ...read.more, ghost } };
    last = read;
    return read;
  };
}

type FileFacts = Pick<More, 'sessionId' | 'cwd'>;

/** The rare facts of a record; undefined if it has none. Assigned only if they exist: every line comes through here. */
function moreOf(record: JsonObject, part: ChainedRole, calls: boolean, ofFile: FileFacts | undefined): More | undefined {
  const more: Mutable<More> = { ...ofFile };
  const title = readTitle(record);
  if (title) more.title = title;
  if (part === 'boundary') {
    const logicalParent = stringAt(record, 'logicalParentUuid');
    if (logicalParent) more.logicalParent = logicalParent;
    if (isObject(record.compactMetadata)) more.metadata = record.compactMetadata;
  }
  const forkedFrom = stringAt(record.forkedFrom, 'messageUuid');
  if (forkedFrom) more.forkedFrom = { session: stringAt(record.forkedFrom, 'sessionId') || undefined, record: forkedFrom };
  const forkRef = record.type === 'fork-context-ref' ? forkRefOf(record) : undefined;
  if (forkRef) more.forkRef = forkRef;
  const agents = calls ? agentCallsOf(record) : [];
  if (agents.length > 0) more.agents = agents;
  if (part === 'assistant' && saysNothing(record)) more.isClosingWord = true;
  const link = linkOf(record, part);
  if (link) more.link = link;
  const queued = queuedIn(record);
  if (queued) more.queued = queued;
  return Object.keys(more).length > 0 ? more : undefined;
}

function queuedIn(record: JsonObject): More['queued'] {
  const absorbed = absorbedIn(record);
  if (absorbed !== undefined) return { text: absorbed, isAttached: false };
  const text = stringAt(record.attachment, 'type') === 'queued_command' ? stringAt(record.attachment, 'prompt') : undefined;
  return text === undefined ? undefined : { text, isAttached: true };
}

function forkRefOf(record: JsonObject): More['forkRef'] {
  const [session, last] = [stringAt(record, 'parentSessionId'), stringAt(record, 'parentLastUuid')];
  return last === undefined ? undefined : { session: session ?? '', last };
}

const saysNothing = (record: JsonObject): boolean =>
  stringAt(record.message, 'model') === syntheticModel && firstTextOf(readContent(record)) === 'No response requested.';

// Formats of JSONL records, by rules: which record is whose child, which entries it has, what it means for its turn. From the rules come
// the reader, the plan of an import, cuts and the progress of a growing file.
import { type ByteRange, badRequest, defined, type EntryKey, type JsonObject, type Timestamp } from '../../base/index.js';
import type { Format, ImportableFormat, ImportPlan, ParsedDelta, ParsedEntry, Peek, PlanContext } from '../format.js';
import { type Content, planBranches, type TreeRecord } from './branches.js';
import { placeDraft, type UnplacedEntry } from './drafts.js';
import { durationOf } from './durations.js';
import { entryIn, isEntryLine, writeEntryLines } from './entry-lines.js';
import { clip, promptLine } from './headline.js';
import { concatLines, type RecordPiece, readTime, recordsOf, type Scan, type ScanOptions, scanJsonl } from './jsonl.js';
import { maxWholeBytes, scanLazily } from './lazy-lines.js';
import { firstIn, madeBy, maxNameLength, newProblems } from './plans.js';
import { lineProgress, type Meaning } from './progress.js';
import type { RecordRules } from './record-rules.js';
import { growRecords } from './records-tree.js';

export type { About, RecordPlace, RecordRules } from './record-rules.js';

type FromRules = Pick<ImportableFormat, 'parse' | 'concat' | 'cut' | 'plan' | 'peek' | 'contentType'> &
  Required<Pick<ImportableFormat, 'progress' | 'planParts'>> &
  Pick<Format, 'write'>;

/** Entries of the next record of a name are numbered from here. */
const ofRepeat = 100_000;

/** The functions of a format from its rules. The default `write` writes lines of entries; a format whose agent can resume has its own. */
export function fromRules<State>(rules: RecordRules<State>): FromRules {
  return {
    contentType: 'application/jsonl',
    parse: (delta) => parseRecords(rules, delta),
    concat: concatLines,
    cut: (delta, lastKept) => cutRecords(rules, delta, lastKept),
    plan: (file, context) => planRecords(rules, context, context.scan ?? scanWhole(rules, file)),
    planParts: (file, context) => {
      const scan = (): Scan => (file.length > maxWholeBytes ? scanLazily(file, rules.dialect) : scanWhole(rules, file.subarray(0, file.length)));
      return planRecords(rules, context, context.scan ?? scan());
    },
    peek: (head, tail) => peekRecords(rules, head, tail),
    progress: (fresh, granularity) => lineProgress(fresh, rules.dialect, granularity, ({ record }) => meaningOf(rules, record)),
    write: writeEntryLines(rules.formatId),
  };
}

/** Splits a file into records. Lines of entries belong to every format. */
export const scanRecords = ({ dialect }: Pick<RecordRules, 'dialect'>, bytes: Uint8Array, options?: ScanOptions): Scan =>
  scanJsonl(bytes, dialect, options);

/** The records of a delta, lines of entries included. */
export const readRecords = (rules: Pick<RecordRules, 'dialect'>, delta: Uint8Array): readonly JsonObject[] =>
  recordsOf(scanRecords(rules, delta).pieces);

/** Whether the first record is a line of an entry of this format. */
export function beginsAsEntry(head: Uint8Array, { formatId, dialect }: Pick<RecordRules, 'dialect' | 'formatId'>): boolean {
  const first = scanJsonl(head, dialect).pieces.find(({ record }) => record !== undefined)?.record;
  return first !== undefined && isEntryLine(first) && first.stemma === formatId;
}

/** Pieces that follow each other in a delta, each with its range there. */
export function* inDelta<Piece extends { readonly range: ByteRange }>(pieces: Iterable<Piece>): Generator<readonly [Piece, ByteRange]> {
  let end = 0;
  for (const piece of pieces) {
    const start = end;
    end += piece.range.end - piece.range.start;
    yield [piece, { start, end }];
  }
}

/** Reads a delta. Never throws for its content. */
function parseRecords<State>(rules: RecordRules<State>, delta: Uint8Array): ParsedDelta {
  const { pieces, skipped } = scanRecords(rules, delta);
  const { lasted } = rules;
  return { ...readPieces(rules, pieces), ...(lasted && durationOf(recordsIn(pieces), lasted)), problems: skipped };
}

function readPieces<State>(rules: RecordRules<State>, pieces: readonly RecordPiece[]): Content {
  const state = rules.gather(recordsIn(pieces));
  const entries: ParsedEntry[] = [];
  const times = new Map<string, number>();
  for (const [{ record, sort }, raw] of inDelta(pieces)) {
    if (!record || sort !== 'record') continue;
    if (isEntryLine(record)) entries.push({ ...entryIn(record), raw });
    else {
      const place = rules.place(record);
      if (!place) continue;
      const at = (rules.at ?? readTime)(record);
      const before = rules.continues ? (times.get(place.name) ?? 0) : 0;
      times.set(place.name, before + 1);
      for (const [number, draft] of rules.entries(record, state)) {
        const key = typeof number === 'string' ? number : `${place.name}.${number + before * ofRepeat}`;
        entries.push(placeDraft(draft, key, { messageId: place.name, raw, at }));
      }
    }
  }
  return { entries, elisions: [] };
}

const recordsIn = (pieces: readonly RecordPiece[]): readonly JsonObject[] => recordsOf(pieces).filter((record) => !isEntryLine(record));

const scanWhole = ({ dialect }: Pick<RecordRules, 'dialect'>, file: Uint8Array): Scan => scanJsonl(file, dialect, { mayGrow: true });

function planRecords<State>(rules: RecordRules<State>, context: PlanContext, scan: Scan): ImportPlan {
  const { pieces, isLazy } = scan;
  // The first records contain the facts of a session, and the last records its title.
  const telling = isLazy && pieces.length > 2 * maxSampled ? [...pieces.slice(0, maxSampled), ...pieces.slice(-maxSampled)] : pieces;
  const sample = recordsIn(telling);
  const about = rules.about(sample, context);
  const [sessionId, cwd, title, machine] = [about.sessionId, about.cwd, about.title, about.machine].map(
    (fact) => fact?.slice(0, maxNameLength) || undefined,
  );
  const template = about.tool ?? rules.template;
  const tree = growRecords(rules, pieces, context, about.startedBy);
  const planned = planBranches({ pieces, records: tree.records, aside: tree.aside }, context, {
    ...madeBy(template, { role: about.agent, cwd, sessionId }),
    read: (some) => readPieces(rules, some),
    isSilent: (piece) => readPieces(rules, [piece]).entries.length === 0,
    ...(isLazy && { isLazy }),
    summary: (records, entries) => writeSummary(rules, records, entries),
  });
  const fresh = newProblems(pieces, context.resumeAt);
  const awaits = firstIn(context.resumeAt === 0 ? sample : [], (record) => {
    const origin = rules.origin?.(record);
    return origin === sessionId || context.known.has(rules.place(record)?.name ?? '') ? undefined : origin;
  });
  return {
    format: rules.formatId,
    ...defined({ sessionId, title, cwd, machine, awaits }),
    ...planned,
    skipped: fresh([...scan.skipped, ...tree.skipped]),
    notes: fresh([...scan.notes, ...tree.notes]),
    end: scan.end,
  };
}

const maxSampled = 200;

/** One line about a commit: its first prompt, else its first answer, else its tools. */
function writeSummary<State>(rules: RecordRules<State>, records: readonly TreeRecord[], entries: readonly ParsedEntry[]): string | undefined {
  if (records.some(({ part }) => part === 'compaction')) return 'Compaction';
  const seen = entries.filter(({ marks }) => !marks?.includes('hidden'));
  const said = seen.filter(({ kind, marks }) => kind === 'text' && !marks?.includes('meta'));
  const first = (role: ParsedEntry['role'], lineOf: (text: string) => string | undefined): string | undefined =>
    firstIn(said, (entry) => (entry.role === role ? lineOf(entry.text ?? '') : undefined));
  const prompt = rules.prompt && records.flatMap(({ piece }) => (piece.record && rules.prompt?.(piece.record)) ?? []).find((one) => clip(one));
  const tools = seen.flatMap(({ kind, toolName }) => (kind === 'tool_call' && toolName ? [toolName] : []));
  return (
    (prompt === undefined ? undefined : promptLine(prompt)) ??
    first('user', (text) => promptLine(text, true)) ??
    first('user', promptLine) ??
    first('assistant', clip) ??
    clip([...new Set(tools)].join(', '))
  );
}

function peekRecords<State>(rules: RecordRules<State>, head: Uint8Array, tail: Uint8Array): Peek {
  const beginning = recordsIn(scanRecords(rules, head).pieces);
  const all = [...beginning, ...recordsIn(scanRecords(rules, tail).pieces)];
  const { sessionId, cwd, title } = rules.about(all, { path: '' });
  const firstPrompt = firstIn(beginning, (record) => {
    const prompt = rules.prompt?.(record);
    return prompt === undefined ? undefined : promptLine(prompt);
  });
  return defined({ sessionId, cwd, title, firstPrompt, startedAt: firstIn(beginning, rules.at ?? readTime) });
}

function meaningOf<State>(rules: RecordRules<State>, record: JsonObject | undefined): Meaning {
  const place = record && !isEntryLine(record) ? rules.place(record) : undefined;
  if (!record || !place) return { is: 'quiet' };
  // A subagent's records belong to the turn of the call that started it.
  if (place.lane !== undefined) return { is: 'part' };
  const own = rules.mark?.(record);
  if (own) return own;
  const drafts = (): readonly UnplacedEntry[] => rules.entries(record, rules.gather([record])).map(([, draft]) => draft);
  switch (place.part) {
    case 'prompt':
      return { is: 'prompt' };
    case 'answer':
    case 'round': {
      const all = drafts();
      const done = new Set(callIds(all, 'tool_result'));
      // A thought is followed by an answer or a call.
      const mayEndTurn = all.length === 0 || all.some(({ kind }) => kind !== 'thinking');
      return { is: 'answer', calls: callIds(all, 'tool_call').filter((id) => !done.has(id)), mayEndTurn };
    }
    case 'result':
      return { is: 'result', calls: callIds(drafts(), 'tool_result') };
    case 'compaction':
      return { is: 'last' };
    case 'quiet':
      return { is: 'quiet' };
    default:
      return { is: 'part' };
  }
}

const callIds = (drafts: readonly UnplacedEntry[], of: UnplacedEntry['kind']): readonly string[] =>
  drafts.flatMap(({ kind, toolCallId }) => (kind === of && toolCallId !== undefined ? [toolCallId] : []));

/** The delta up to the entry. Kept entries of a cut record become lines with their keys. @throws BAD_REQUEST if no such entry exists. */
function cutRecords<State>(rules: RecordRules<State>, delta: Uint8Array, lastKept: EntryKey): Uint8Array {
  const { entries } = parseRecords(rules, delta);
  const at = entries.findIndex(({ key }) => key === lastKept);
  const last = entries[at];
  if (!last?.raw) throw badRequest('at', `at is ${lastKept}, but this delta has no such entry`);
  const next = entries[at + 1];
  if (next?.raw?.start !== last.raw.start) return delta.slice(0, last.raw.end);
  const { start } = last.raw;
  const kept = entries.slice(0, at + 1).filter(({ raw }) => raw?.start === start);
  const lines = writeEntryLines(rules.formatId)(
    kept.map(({ tokens: _, raw: __, ...entry }) => entry),
    { newId: () => '', now: '' as Timestamp },
  );
  return concatLines([delta.slice(0, start), lines]);
}

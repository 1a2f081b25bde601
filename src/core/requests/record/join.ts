import type { CommitSeq, EntryKey } from '../../base/index.js';
import { type ContextRow, commitAt, type ReadChain, readOutline, type WriteChain } from '../../chain/index.js';
import type { OutlineEntry } from '../../formats/index.js';
import { messagesBefore } from '../rebuild/answers.js';
import { makesCompaction, recordId } from '../runtimes/runtime.js';
import { findReader } from '../runtimes/runtimes.js';
import type { WireReply } from '../shared/wire.js';

/** Connects captured calls with the commits of their answers (R1), by the provider's id, the ids of tool calls, or the first words. */

interface OpenCall {
  readonly no: number;
  readonly at: number;
  readonly sessionId: string;
  readonly messageCount: number;
}

/** First words alone connect a call and an answer only within one session or, if the call names no session, within this time in ms. */
const nearInTime = 6 * 60 * 60 * 1000;
/** The age in ms of commits that may contain a new call's answer: agents write a transcript while the answer arrives. */
const recent = 10 * 60 * 1000;
/** The length of an entry's head in an outline. */
const headLength = 120;

/** Remembers a call until a transcript with its answer is imported. */
export const waitForAnswer = (chain: WriteChain, no: number, reply: WireReply): void => waitForMarks(chain, no, marksOfReply(reply));

/** Remembers a call by the marks of its answer. */
export function waitForMarks({ db, project }: WriteChain, no: number, marks: readonly string[]): void {
  for (const mark of marks) db.run('INSERT OR IGNORE INTO requestReply (project, mark, request) VALUES (?, ?, ?)', project, mark, no);
}

/** Stores the commit with the answer of a call, and where the answer begins. */
export function setAnswer(
  { db, project }: WriteChain,
  no: number,
  commit: CommitSeq,
  key: EntryKey | null,
  record = key === null ? null : recordId(key),
): void {
  db.run('UPDATE request SET context = ?, replyKey = ?, replyRecord = ? WHERE no = ? AND project = ?', commit, key, record, no, project);
}

/** Connects calls that wait for their answers with the commits since shortly before a time. */
export function joinRecent(chain: WriteChain, at: number): void {
  const sql = 'SELECT seq FROM commits WHERE +project = ? AND createdAt >= ? ORDER BY seq';
  joinAnswers(chain, chain.db.rows<[CommitSeq]>(sql, chain.project, at - recent).flat());
}

/** Connects new commits with calls that were captured earlier. */
export function joinAnswers(chain: WriteChain, commits: Iterable<CommitSeq>): void {
  const { db, project } = chain;
  if (!db.one('SELECT 1 FROM requestReply WHERE project = ? LIMIT 1', project)) return;
  for (const seq of commits) {
    const commit = commitAt(chain, seq);
    for (const { key, marks } of answersOf(chain, commit)) {
      const call = marks.map((mark) => callWith(chain, mark, commit, key)).find((found) => found !== undefined);
      if (!call) continue;
      db.run('DELETE FROM requestReply WHERE request = ?', call.no);
      setAnswer(chain, call.no, seq, key);
    }
  }
}

/** The answers in a commit that have no captured call yet, with their marks, most certain first. */
function answersOf(chain: ReadChain, commit: ContextRow): { key: EntryKey; marks: string[] }[] {
  const runtime = findReader(commit.format);
  // A fork repeats answers. Each answer has only one call.
  const isTaken = (key: EntryKey): boolean =>
    chain.db.one('SELECT 1 FROM request WHERE project = ? AND replyRecord = ? AND provider IS NOT NULL', chain.project, recordId(key)) !== undefined;
  const answers: { key: EntryKey; entries: OutlineEntry[] }[] = [];
  let last: OutlineEntry | undefined;
  const isSummary = makesCompaction(commit, runtime);
  for (const entry of readOutline(chain, commit).entries) {
    if (entry.hidden !== isSummary || entry.role !== 'assistant' || entry.kind === 'summary') continue;
    if (!answers.length || runtime.startsAnswer(entry, last)) answers.push({ key: entry.key, entries: [entry] });
    else answers.at(-1)?.entries.push(entry);
    last = entry;
  }
  return answers
    .filter(({ key }) => !isTaken(key))
    .map(({ key, entries }) => ({
      key,
      marks: [
        ...entries.flatMap(({ messageId }) => (messageId === undefined ? [] : [idMark(messageId)])),
        ...entries.flatMap(({ kind, toolCallId }) => (kind === 'tool_call' && toolCallId !== undefined ? namesOf(toolCallId).map(toolMark) : [])),
        ...entries.flatMap(({ kind, head }) => (kind === 'text' && head ? [wordsMark(head)] : [])).slice(0, 1),
      ],
    }));
}

/** Gemini CLI writes a tool's name before the id that is sent. */
const namesOf = (id: string): string[] => [id, ...(id.includes('__') ? [id.slice(id.lastIndexOf('__') + 2)] : [])];

function callWith(chain: ReadChain, mark: string, commit: ContextRow, key: EntryKey): OpenCall | undefined {
  const { db, project } = chain;
  const select = `SELECT r.no, r.at, c.sessionId, r.messageCount
     FROM requestReply m JOIN request r ON r.no = m.request JOIN requestConversation c ON c.no = r.conversation
    WHERE m.project = ? AND m.mark = ? ORDER BY r.at, r.no`;
  const calls = db.all<OpenCall>(select, project, mark);
  if (!mark.startsWith(wordsPrefix)) return calls[0];
  const near = calls.filter(({ at, sessionId }) =>
    sessionId !== '' && commit.sessionId !== null ? sessionId === commit.sessionId : Math.abs(at - commit.createdAt) < nearInTime,
  );
  if (near.length < 2) return near[0];
  // A short answer may match many calls. The right call sent as many messages as precede the answer.
  const sent = messagesBefore(chain, commit, key);
  return near.find(({ messageCount }) => messageCount === sent) ?? near[0];
}

const wordsPrefix = 'words:';
/** The mark of a reply by the provider's id. */
export const idMark = (id: string): string => `message:${id}`;
const toolMark = (id: string): string => `call:${id}`;
const wordsMark = (text: string): string =>
  `${wordsPrefix}${text
    .slice(0, headLength * 2)
    .replace(/\s+/g, ' ')
    .trim()
    .slice(0, headLength)
    .toWellFormed()}`;

const marksOfReply = ({ messageId, toolCallIds, text }: WireReply): string[] => [
  ...(messageId === undefined ? [] : [idMark(messageId)]),
  ...toolCallIds.map(toolMark),
  ...(text.trim() === '' ? [] : [wordsMark(text)]),
];

import { existsSync } from 'node:fs';
import { dirname, isAbsolute, join, relative, sep } from 'node:path';
import { type ArtifactNo, badRequest, type CommitSeq, type ContextId, decodeText, orUndefined, toTimestamp } from '../base/index.js';
import { type ReadChain, readParsed } from '../chain/index.js';
import type { BlameSpan, InputOf } from '../contract/index.js';
import { align, asLines } from '../diff/index.js';
import { absolutePath, openNamed, readOpened } from '../files/index.js';
import type { ParsedEntry } from '../formats/index.js';
import { nothingKnown, touchOf } from '../turns/index.js';
import { nameIn } from '../usage/index.js';

export type BlameInput = InputOf<'blame.file'>;

/** A file is read as a whole. */
const maxBytes = 16 * 1024 * 1024;

/** The file, its repository, and its path there with slashes. @throws BAD_REQUEST */
export function findFile({ path, repository }: BlameInput): Readonly<Record<'file' | 'root' | 'name' | 'text', string>> {
  const file = repository !== undefined && !isAbsolute(path) ? join(absolutePath(repository), path) : absolutePath(path);
  const root = repository === undefined ? rootAbove(file) : absolutePath(repository);
  const name = relative(root, file);
  if (name === '' || name.startsWith('..') || isAbsolute(name)) throw badRequest('path', `${file} is not in the repository ${root}.`);
  return { file, root, name: name.split(sep).join('/'), text: readContent(file) };
}

/** The nearest folder above a file that git keeps, else the file's own folder. */
function rootAbove(file: string): string {
  for (let at = dirname(file); ; at = dirname(at)) {
    if (existsSync(join(at, '.git'))) return at;
    if (dirname(at) === at) return dirname(file);
  }
}

function readContent(file: string): string {
  let bytes: Uint8Array;
  try {
    bytes = readOpened(openNamed(file, { limit: maxBytes }));
  } catch (error) {
    throw badRequest('path', `Cannot read ${file}: ${(error as Error).message}`);
  }
  if (bytes.includes(0)) throw badRequest('path', `${file} is no text file.`);
  return decodeText(bytes);
}

/** A call that read, wrote or edited the file. */
interface Use {
  readonly context: CommitSeq;
  readonly artifact: ArtifactNo;
  readonly format: string;
  readonly template: string;
  readonly key: ParsedEntry['key'];
  readonly callId: string | null;
  readonly commitId: ContextId;
  readonly sessionId: string | null;
  readonly model: string | null;
  readonly at: number;
}

/** A line with the call that wrote it; undefined where that is unknown. */
interface Line {
  readonly text: string;
  readonly use: Use | undefined;
}

/**
 * The turn that wrote each line. It carries out the recorded edits of the file again, in the order of their times. An edit that does not fit what
 * came before leaves nothing known, and so does a change that no recording explains. @throws BAD_REQUEST
 */
export function blameFile(chain: ReadChain, input: BlameInput): BlameSpan[] {
  const { file, name, text } = findFile(input);
  let lines: readonly Line[] | undefined;
  for (const use of usesOf(chain, file, name)) lines = after(chain, use, lines);
  const now = splitLines(text).map((line): Line => ({ text: line, use: undefined }));
  return spansOf(lines ? carried(lines, now) : now);
}

const splitLines = (text: string): string[] => (text === '' ? [] : text.replace(/\n$/, '').split('\n'));

/** The successful calls that name the file: by its path on this machine, or by an absolute path of another clone that ends with its path in the repository. */
const usesOf = ({ db, project }: ReadChain, file: string, name: string): Use[] =>
  db.all<Use>(
    `SELECT t.context, c.artifact, c.format, c.template, t.key, t.callId, c.id AS commitId,
            IFNULL((SELECT k.session FROM usageCommit k WHERE k.context = c.seq), c.sessionId) AS sessionId, ${nameIn('t.model')} AS model, t.at
       FROM usageTool t JOIN commits c ON c.seq = t.context
      WHERE t.project = :project AND t.class IN ('read', 'write', 'edit') AND t.isError = 0
        AND (replace(t.path, '\\', '/') IN (:file, :name) OR (instr(t.path, :last) > 0 AND substr(replace(t.path, '\\', '/'), -length(:end)) = :end))
        AND NOT EXISTS (SELECT 1 FROM usageCommit k WHERE k.context = c.seq AND k.session IS NULL)
      ORDER BY t.at, t.no`,
    { project, file: file.replaceAll('\\', '/'), name, last: name.slice(name.lastIndexOf('/') + 1), end: `/${name}` },
  );

/** The lines after a call. Undefined if nothing is known any more. */
function after(chain: ReadChain, use: Use, lines: readonly Line[] | undefined): readonly Line[] | undefined {
  const [call, result] = orUndefined(() => findEntries(chain, use)) ?? [];
  const touch = call && touchOf(use.format, call, { text: result?.text ?? '', isError: false });
  if (!touch) return lines;
  const before = lines === undefined ? nothingKnown : { known: 'whole' as const, content: textIn(lines) };
  const { known, content } = touch.apply(before);
  if (content === null || (known !== 'whole' && touch.how === 'read')) return touch.how === 'read' ? lines : undefined;
  if (known !== 'whole') return undefined;
  const next = splitLines(content).map((text): Line => ({ text, use: touch.how === 'read' ? undefined : use }));
  if (touch.how === 'written' && lines === undefined) return next;
  return carried(lines ?? [], next);
}

const textIn = (lines: readonly Line[]): string => lines.map(({ text }) => `${text}\n`).join('');

/** The next lines, with those that stayed as they were known before. */
function carried(before: readonly Line[], next: readonly Line[]): readonly Line[] {
  const texts = (lines: readonly Line[]) => asLines(lines.map(({ text }) => text));
  const found = [...next];
  for (const { op, aStart, bStart, aCount } of align(texts(before), texts(next)))
    if (op === 'same') for (let at = 0; at < aCount; at++) found[bStart + at] = before[aStart + at] as Line;
  return found;
}

/** The call and its result. A result may be in the commit after its call. */
function findEntries(chain: ReadChain, use: Use): (ParsedEntry | undefined)[] {
  const { context, key, callId } = use;
  const own = readParsed(chain, use).entries;
  const call = own.find((entry) => entry.key === key);
  const isResult = ({ kind, toolCallId }: ParsedEntry): boolean => kind === 'tool_result' && callId !== null && toolCallId === callId;
  const result = own.find(isResult);
  if (result || !call) return [call, result];
  const children = chain.db.all<Pick<Use, 'artifact' | 'format'>>('SELECT artifact, format FROM commits WHERE parent = ? ORDER BY seq', context);
  return [call, children.flatMap((child) => readParsed(chain, child).entries.find(isResult) ?? [])[0]];
}

function spansOf(lines: readonly Line[]): BlameSpan[] {
  const spans: BlameSpan[] = [];
  let last: Use | undefined;
  for (const [at, { use }] of lines.entries()) {
    const span = spans.at(-1);
    if (span && use?.commitId === last?.commitId) span.end = at + 1;
    else spans.push(spanAt(at + 1, use));
    last = use;
  }
  return spans;
}

function spanAt(line: number, use: Use | undefined): BlameSpan {
  const place = { start: line, end: line };
  if (!use) return { ...place, turnId: null, sessionId: null, basis: 'unknown' };
  const { commitId: turnId, sessionId, template, model, at } = use;
  const agent = template.split('/', 1)[0] ?? template;
  return { ...place, turnId, sessionId, basis: 'replayed', agent, ...(model !== null && { model }), at: toTimestamp(at) };
}

import { createHash } from 'node:crypto';
import { type CommitSeq, canonicalJson, contentGone, isObject, type Json, orUndefined, stringAt } from '../base/index.js';
import { type ContextRow, outlineVersion, type ReadChain, readParsed, type WriteChain } from '../chain/index.js';
import { type ParsedEntry, parsedNumbers, recordOfKey, toolClassOf } from '../formats/index.js';
import { forgetClustersOf } from '../sessions/index.js';
import { commitProgress, readDerivedProgress, setDerivedProgress, upToBytes } from '../store/index.js';
import { dayMs, forgetSums, nameIn, pathIn } from '../usage/index.js';
import { agentOfTemplate } from './views.js';

/** The number of batches whose sessions are not summed yet. */
const unsummedName = 'usage tools unsummed';
/** Increase this number when the stored facts change, so that existing projects are read again. */
const readerVersion = 2;
/** The commits whose tool calls are stored. */
const progress = commitProgress('usage tools', readerVersion);

/** The commits per transaction, and the bytes after which a transaction ends early. */
const batch = { commits: 256, bytes: 4 * 1024 * 1024 };
/** The sessions that are summed in one transaction. */
const sessionsSummed = 20;
/** The most characters of a shell command that are stored. */
const maxCommand = 400;
const maxPath = 1_024;
/** A result that is not in the commit of its call is looked for in this many earlier commits. */
const maxPassed = 12;

interface Row extends Pick<ContextRow, 'seq' | 'parent' | 'artifact' | 'format' | 'template' | 'createdAt'> {
  readonly type: string;
  readonly session: string;
  readonly size: number | null;
}

/** The number of commits whose tool calls are not stored yet, at most `limit`. */
export const pendingTools: (chain: ReadChain, limit?: number) => number = progress.pending;

/** Whether tool calls are not stored or not summed yet. */
export const toolsAreDue = (chain: ReadChain): boolean => pendingTools(chain, 1) > 0 || readDerivedProgress(chain, unsummedName) > 0;

/** Stores the tool calls of unread commits in short transactions. A session is summed once, after all of its commits, which keeps it linear. */
export function* catchUpTools(chain: WriteChain): Generator<void> {
  // Another run that has not ended summed nothing yet, and what it has read is not known here.
  const before = readDerivedProgress(chain, unsummedName);
  const changed = new Set<string>();
  let batches = 0;
  while (pendingTools(chain, 1) > 0) {
    chain.db.transaction(() => {
      const size = changed.size;
      storeBatch(chain, changed);
      if (changed.size === size && batches > 0) return;
      batches += 1;
      setDerivedProgress(chain, unsummedName, readDerivedProgress(chain, unsummedName) + 1);
    });
    yield;
  }
  const summed = before + batches;
  if (summed === 0) return;
  const allSessions = 'SELECT DISTINCT sessionId FROM commits WHERE +project = ? AND sessionId IS NOT NULL';
  const sessions = before > 0 ? chain.db.column<string>(allSessions, chain.project) : [...changed];
  for (let at = 0; at < sessions.length; at += sessionsSummed) {
    chain.db.transaction(() => sumTools(chain, sessions.slice(at, at + sessionsSummed)));
    yield;
  }
  chain.db.transaction(() => setDerivedProgress(chain, unsummedName, Math.max(0, readDerivedProgress(chain, unsummedName) - summed)));
}

const selectRows = `SELECT c.seq, c.parent, c.artifact, c.format, c.template, c.type, IFNULL(c.sessionId, '') AS session, c.createdAt,
         (SELECT a.size FROM artifact a WHERE a.no = c.artifact) AS size FROM commits c`;

/** Stores the tool calls of commits whose contents have arrived after the commits. Call it inside a transaction. */
export function countTools(chain: WriteChain, commits: readonly CommitSeq[]): void {
  const rows = chain.db.all<Row>(`${selectRows} WHERE c.seq IN (SELECT value FROM json_each(?)) ORDER BY c.seq`, JSON.stringify(commits));
  sumTools(chain, [...new Set(rows.filter((row) => storeTools(chain, row)).map(({ session }) => session))]);
  forgetClustersOf(chain, commits);
}

/** Stores the tool calls of the next commits, and adds their sessions to those that have changed. */
function storeBatch(chain: WriteChain, changed: Set<string>): void {
  const { db, project } = chain;
  if (!progress.isCurrent(chain)) {
    for (const table of ['usageTool', 'usageToolSlice']) db.run(`DELETE FROM ${table} WHERE project = ?`, project);
    forgetSums(chain);
  }
  const rows = db.all<Row>(`${selectRows} WHERE c.seq > ? AND +c.project = ? ORDER BY c.seq LIMIT ${batch.commits}`, progress.last(chain), project);
  const some = upToBytes(rows, batch.bytes);
  for (const row of some) if (storeTools(chain, row)) changed.add(row.session);
  progress.readTo(chain, some.at(-1)?.seq);
}

/** Stores the tool calls of a commit. Returns whether it has any, or the result of one. */
function storeTools(chain: WriteChain, row: Row): boolean {
  // A damaged, expired or absent object has no content.
  const parsed = row.type === 'delta' ? orUndefined(() => readParsed(chain, row), contentGone) : undefined;
  storeBranch(chain, row, parsed?.branch);
  if (!parsed) return false;
  const { entries } = parsed;
  const insert = 'INSERT OR REPLACE INTO usageEntry (artifact, format, version, numbers) VALUES (?, ?, ?, ?)';
  chain.db.run(insert, row.artifact, row.format, outlineVersion, parsedNumbers(entries));
  const calls = new Map<string, number>();
  let hasAny = false;
  const models = modelsOf(chain, row.seq);
  for (const entry of entries) {
    if (entry.kind === 'tool_call') {
      hasAny = true;
      const no = storeCall(chain, row, entry, models);
      if (entry.toolCallId !== undefined) calls.set(entry.toolCallId, no);
    } else if (entry.kind === 'tool_result' && entry.toolCallId !== undefined) {
      const no = calls.get(entry.toolCallId) ?? callBefore(chain, row.parent, entry.toolCallId);
      if (no === undefined) continue;
      hasAny = true;
      const update = 'UPDATE usageTool SET isError = ?, endedAt = ?, resultTokens = ? WHERE no = ? AND resultTokens IS NULL';
      chain.db.run(update, entry.isError ? 1 : 0, parseTime(entry), entry.tokens, no);
    }
  }
  return hasAny;
}

/** Stores the branch of git of a commit: its own, else that of the commit before it. */
function storeBranch({ db }: WriteChain, { seq, parent }: Row, own: string | undefined): void {
  const branch = own ?? db.value<string>('SELECT branch FROM usageBranch WHERE context = ?', parent);
  if (branch !== undefined)
    db.run('INSERT OR REPLACE INTO usageBranch (context, branch) VALUES (?, ?)', seq, branch.slice(0, maxPath).toWellFormed());
}

const parseTime = ({ at }: ParsedEntry): number | null => (at === undefined ? null : Date.parse(at));

/** The models of the calls of a commit, as numbers of names, by the record of their reply; `undefined` names the last one. */
function modelsOf(chain: ReadChain, context: CommitSeq): ReadonlyMap<string | undefined, number> {
  const select = 'SELECT key, model FROM usageCall WHERE context = ? AND model IS NOT NULL ORDER BY no';
  const models = new Map<string | undefined, number>();
  for (const [key, model] of chain.db.rows<[ParsedEntry['key'], number]>(select, context)) models.set(recordOfKey(key), model).set(undefined, model);
  return models;
}

function storeCall(chain: WriteChain, row: Row, entry: ParsedEntry, models: ReadonlyMap<string | undefined, number>): number {
  const { key, toolName = '', toolCallId, arguments: given, tokens } = entry;
  const digest = hashOf(typeof given === 'string' ? given : canonicalJson((given ?? null) as Json));
  // A copy of a call is the same call. Formats without ids may give calls of two branches one key.
  const no = hashOf(`${chain.project}\n${row.session}\n${key}\n${toolName}\n${digest}`);
  chain.db.run(
    `INSERT OR IGNORE INTO usageTool (no, project, context, key, callId, name, class, path, command, digest, at, tokens, model)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
    ...[no, chain.project, row.seq, key, toolCallId ?? null, toolName, toolClassOf(row.format, toolName) ?? null],
    pathIn(given)?.slice(0, maxPath).toWellFormed() ?? null,
    commandOf(given)?.slice(0, maxCommand).toWellFormed() ?? null,
    ...[digest, parseTime(entry) ?? row.createdAt, tokens, models.get(recordOfKey(key)) ?? models.get(undefined) ?? null],
  );
  return no;
}

/** The shell command of a call: a text, or a list of words as Codex writes it. */
function commandOf(given: unknown): string | undefined {
  if (!isObject(given)) return undefined;
  const command = given.command ?? given.cmd ?? given.script;
  if (typeof command === 'string') return command;
  if (!Array.isArray(command)) return stringAt(given, 'input');
  const words = command.filter((word): word is string => typeof word === 'string');
  // `bash -lc SCRIPT` is the script.
  return words.length === 3 && /^-\w*c$/.test(words[1] ?? '') ? words[2] : words.join(' ');
}

function callBefore({ db }: ReadChain, parent: CommitSeq | null, callId: string): number | undefined {
  let at = parent;
  for (let passed = 0; at !== null && passed < maxPassed; passed++) {
    const no = db.value<number>('SELECT no FROM usageTool WHERE context = ? AND callId = ?', at, callId);
    if (no !== undefined) return no;
    at = db.value<CommitSeq | null>('SELECT parent FROM commits WHERE seq = ?', at) ?? null;
  }
  return undefined;
}

/** The first 52 bits of a hash, which a number of JavaScript holds exactly. */
function hashOf(text: string): number {
  const bytes = createHash('sha256').update(text).digest();
  return bytes.readUIntBE(0, 6) * 16 + ((bytes[6] ?? 0) >> 4);
}

/** Computes the sums of tool calls of sessions again. Commits that name no session are summed when they are asked for (sums.ts). */
function sumTools(chain: WriteChain, sessions: readonly string[]): void {
  if (sessions.length === 0) return;
  const { db, project } = chain;
  forgetSums(chain);
  const named = JSON.stringify(sessions);
  db.run('DELETE FROM usageToolSlice WHERE project = ? AND session IN (SELECT value FROM json_each(?))', project, named);
  db.run(
    `INSERT INTO usageToolSlice
     SELECT c.project, c.sessionId, t.at / ${dayMs}, ${agentOfTemplate}, IFNULL(${nameIn('t.model')}, ''), t.name, COUNT(*), COUNT(t.isError),
            IFNULL(SUM(t.isError), 0), IFNULL(SUM(MAX(t.endedAt - t.at, 0)), 0)
       FROM commits c JOIN usageTool t ON t.context = c.seq
      WHERE c.project = ? AND c.sessionId IN (SELECT value FROM json_each(?)) GROUP BY 2, 3, 4, 5, 6`,
    [project, named],
  );
}

// Families: the trees of commits, each with the subagents that it started. Graphs and lists of sessions read only the families that they show.
import type { CommitSeq, ContextId } from '../base/index.js';
import { readDerivedProgress, setDerivedProgress } from '../store/index.js';
import type { ReadChain, WriteChain } from './chain.js';
import { lastCommit } from './find.js';
import { joining } from './joining.js';
import { kept } from './kept.js';

/** Sums of some commits. */
interface Totals {
  commits: number;
  /** Commits that were made by a fork in Stemma. */
  forks: number;
  /** The last commit in recorded order. */
  last: number;
  /** The earliest and the latest time of the commits, in milliseconds since 1970. */
  oldest: number;
  newest: number;
}

/** The commits of a family, as sums. They say which rows of a graph a family has without reading its commits. */
export interface Family extends Readonly<Totals> {
  /** The runs of its trees. */
  readonly runs: readonly number[];
  readonly sessions: ReadonlySet<string>;
  /** Commits of no session. */
  readonly unnamed: number;
}

export interface Families {
  /** Changes with every commit and with every link between two trees. */
  readonly state: string;
  readonly all: readonly Family[];
  /** The family of a run. */
  of(run: number): Family | undefined;
}

/** The commits of a run with the same session id. */
interface Sum extends Totals {
  readonly run: number;
  /** Empty for commits of no session. */
  readonly sessionId: string;
}

/** What is known of all runs. New commits are added to it. */
interface Known {
  readonly sums: Map<string, Sum>;
  /** The run from which each run branches off; its own number for a first run. */
  readonly before: Map<number, number>;
  last: number;
  lastRun: number;
  commits: number;
}

const bytesPerSum = 200;

function readState({ db, project }: ReadChain): { readonly total: number; readonly state: string } {
  const { total, last, started, resumed } = db.one<Record<'total' | 'last' | 'started' | 'resumed', number>>(
    `SELECT IFNULL((SELECT total FROM areaCount WHERE project = :project AND area = 'commits'), 0) AS total,
            IFNULL((SELECT MAX(seq) FROM commits), 0) AS last, (SELECT COUNT(*) FROM started WHERE project = :project) AS started,
            (SELECT COUNT(*) FROM resumed WHERE project = :project) AS resumed`,
    { project },
  ) ?? { total: 0, last: 0, started: 0, resumed: 0 };
  return { total, state: `${last}/${total}/${started}/${resumed}` };
}

/** The state of the families of a project, without reading them. */
export const familiesState = (chain: ReadChain): Families['state'] => readState(chain).state;

/** The families of a project. Only the sums of new commits are read. */
export function familiesOf(chain: ReadChain): Families {
  const { total, state } = readState(chain);
  const read = (before: { readonly known: Known; readonly families: Families } | undefined) => {
    const known = before && extended(chain, before.known, total) ? before.known : readAgain(chain, total);
    return { known, families: joined(chain, known, state) };
  };
  return kept(chain, 'families', '', state, read, ({ known }) => known.sums.size * bytesPerSum).families;
}

/** Adds the sums of new commits. Returns false if others are missing or gone. */
function extended(chain: ReadChain, known: Known, total: number): boolean {
  for (const sum of chain.db.all<Sum>(`${selectSums} NOT INDEXED WHERE seq > ? AND project = ? GROUP BY run, sessionId`, known.last, chain.project))
    add(known, sum);
  const runs = 'SELECT r.no, c.run FROM firstParentRun r LEFT JOIN commits c ON c.seq = r.origin WHERE r.project = ? AND r.no > ? ORDER BY r.no';
  for (const [no, before] of chain.db.rows<[number, number | null]>(runs, chain.project, known.lastRun)) {
    known.before.set(no, before ?? no);
    known.lastRun = no;
  }
  return known.commits === total;
}

const selectSums = /* sql */ `
SELECT run, IFNULL(sessionId, '') AS sessionId, COUNT(*) AS commits, SUM(forked) AS forks, MAX(seq) AS last, MIN(createdAt) AS oldest, MAX(createdAt) AS newest
  FROM commits`;

function add(known: Known, sum: Sum): void {
  const name = `${sum.run} ${sum.sessionId}`;
  const earlier = known.sums.get(name);
  known.commits += sum.commits;
  known.last = Math.max(known.last, sum.last);
  if (earlier) addTo(earlier, sum);
  else known.sums.set(name, sum);
}

function addTo(sum: Totals, more: Totals): void {
  sum.commits += more.commits;
  sum.forks += more.forks;
  sum.last = Math.max(sum.last, more.last);
  sum.oldest = Math.min(sum.oldest, more.oldest);
  sum.newest = Math.max(sum.newest, more.newest);
}

const nothingKnown = (): Known => ({ sums: new Map(), before: new Map(), last: 0, lastRun: 0, commits: 0 });

/** The stored sums and those of later commits. If some are missing or wrong, all commits are read. */
function readAgain(chain: ReadChain, total: number): Known {
  const stored = nothingKnown();
  for (const sum of chain.db.all<Sum>('SELECT run, sessionId, commits, forks, last, oldest, newest FROM runSum WHERE project = ?', chain.project))
    add(stored, sum);
  stored.last = readDerivedProgress(chain, progress);
  if (extended(chain, stored, total)) return stored;
  const known = nothingKnown();
  extended(chain, known, total);
  return known;
}

/** The row of the `progress` table that says up to which commit the sums are stored. */
const progress = 'runs';
/** Commits whose sums are not stored: a question adds them up without delay. */
const maxUnstored = 512;
/** Commits that are added up in one transaction. */
const commitsAtOnce = 20_000;

/** Whether enough commits are not in the stored sums. */
export const runSumsAreDue = (chain: ReadChain): boolean => lastCommit(chain) - readDerivedProgress(chain, progress) > maxUnstored;

/** Stores the sums of new commits, in short transactions, until at most `rest` commits are left. */
export function* storeRunSums(chain: WriteChain, rest = maxUnstored): Generator<undefined, void> {
  while (lastCommit(chain) - readDerivedProgress(chain, progress) > rest) {
    chain.db.transaction(() => {
      const from = readDerivedProgress(chain, progress);
      const to = Math.min(from + commitsAtOnce, lastCommit(chain));
      chain.db.run(
        `INSERT INTO runSum (project, run, sessionId, commits, forks, last, oldest, newest)
         SELECT :project, * FROM (${selectSums} WHERE seq > :from AND seq <= :to AND +project = :project GROUP BY run, sessionId) WHERE true
         ON CONFLICT DO UPDATE SET commits = commits + excluded.commits, forks = forks + excluded.forks, last = max(last, excluded.last),
           oldest = min(oldest, excluded.oldest), newest = max(newest, excluded.newest)`,
        { project: chain.project, from, to },
      );
      setDerivedProgress(chain, progress, to);
    });
    yield;
  }
}

/** Deletes the stored sums and what the graph is drawn from. They are stored again when the project is idle. */
export function dropRunSums(chain: WriteChain): void {
  chain.db.run('DELETE FROM graphGroup WHERE project = ?', chain.project);
  chain.db.run('DELETE FROM runSum WHERE project = ?', chain.project);
  chain.db.run("DELETE FROM derivedProgress WHERE name IN (?, 'graph map')", progress);
}

/** Joins the runs of a tree, and the trees that belong together. */
function joined(chain: ReadChain, known: Known, state: string): Families {
  const { groupOf, join } = joining<number>();
  for (const [run, from] of known.before) join(run, from);
  for (const { a, b } of linkedRuns(chain, known)) join(a, b);
  const found = new Map<number, Totals & { readonly runs: number[]; readonly sessions: Set<string>; unnamed: number }>();
  const byRun = new Map<number, Family>();
  for (const sum of known.sums.values()) {
    const { oldest, newest } = sum;
    const name = groupOf(sum.run);
    const family = found.get(name) ?? { commits: 0, forks: 0, last: 0, oldest, newest, runs: [], sessions: new Set(), unnamed: 0 };
    if (!byRun.has(sum.run)) family.runs.push(sum.run);
    if (sum.sessionId === '') family.unnamed += sum.commits;
    else family.sessions.add(sum.sessionId);
    addTo(family, sum);
    found.set(name, family);
    byRun.set(sum.run, family);
  }
  return { state, all: [...found.values()], of: (run) => byRun.get(run) };
}

/** The runs of subagents and their starters, and of first prompts that were edited here and their answers in older versions. */
function linkedRuns(chain: ReadChain, { sums, before }: Known): { readonly a: number; readonly b: number }[] {
  const started = chain.db.all<{ a: number; b: number }>(
    `SELECT (SELECT c.run FROM commits c WHERE c.seq = s.context) AS a, (SELECT c.run FROM commits c WHERE c.seq = s.starter) AS b FROM (${startedSql()}) s`,
    chain.project,
  );
  const sql = 'SELECT r.sessionId, f.run FROM resumed r JOIN commits f ON f.seq = r.context WHERE r.project = ? AND f.parent IS NULL';
  const edited = chain.db.all<{ sessionId: string; run: number }>(sql, chain.project);
  if (edited.length === 0) return started;
  const ofFirstRuns = [...sums.values()].filter(({ run }) => before.get(run) === run);
  const firsts = Map.groupBy(ofFirstRuns, ({ sessionId }) => sessionId);
  return [...started, ...edited.flatMap(({ sessionId, run }) => (firsts.get(sessionId) ?? []).map((first) => ({ a: run, b: first.run })))];
}

/**
 * Pairs each subagent's first commit with the commit whose tool call started it. If a subagent names only its own session or that of the call,
 * the record of the call contains both ids. A subagent that names its parent alone was not started by the call that started the parent.
 */
const startedSql = (more = ''): string => /* sql */ `
WITH s AS (SELECT context, project, toolCallId FROM started WHERE project = ? ${more})
SELECT s.context, s.toolCallId, r.context AS starter, c.id AS starterId
  FROM s JOIN record r ON r.project = s.project AND r.record = 'call:' || s.toolCallId JOIN commits c ON c.seq = r.context
UNION ALL
SELECT s.context, substr(r.record, length(s.toolCallId) + 2), r.context, c.id
  FROM s JOIN record r ON r.project = s.project AND r.record > s.toolCallId || ':' AND r.record < s.toolCallId || ';' JOIN commits c ON c.seq = r.context
  JOIN commits own ON own.seq = s.context
 WHERE s.toolCallId LIKE 'session:%' AND substr(s.toolCallId, 9) IN (own.sessionId, c.sessionId)`;

/** The runs of families as a parameter of `run IN (SELECT value FROM json_each(?))`. */
export const runList = (families: Iterable<Family>): string => JSON.stringify([...families].flatMap(({ runs }) => runs));

/** The first commits of the subagents in families. */
export function subagentsIn({ db, project }: ReadChain, families: Iterable<Family>): ReadonlySet<CommitSeq> {
  const sql = 'SELECT s.context FROM started s JOIN commits c ON c.seq = s.context WHERE s.project = ? AND c.run IN (SELECT value FROM json_each(?))';
  return new Set(db.column<CommitSeq>(sql, project, runList(families)));
}

const selectStarted = startedSql('AND context IN (SELECT value FROM json_each(?))');

/** The first commit of a subagent, and the commit whose tool call started it. */
interface Started {
  readonly context: CommitSeq;
  readonly toolCallId: string;
  readonly starter: CommitSeq;
  readonly starterId: ContextId;
}

/** Of these commits, the first ones of subagents that a tool call started, each with that call. */
export const startedAmong = ({ db, project }: ReadChain, commits: Iterable<CommitSeq>): readonly Started[] =>
  db.all<Started>(selectStarted, project, JSON.stringify([...commits]));

/** Whether two sets have a member in common. */
export function overlaps<Member>(a: ReadonlySet<Member>, b: ReadonlySet<Member>): boolean {
  if (b.size < a.size) return overlaps(b, a);
  for (const member of a) if (b.has(member)) return true;
  return false;
}

/** The families of commits. */
export function familiesAt(chain: ReadChain, { of }: Families, commits: Iterable<CommitSeq>): Set<Family> {
  const runs = 'SELECT DISTINCT run FROM commits WHERE seq IN (SELECT value FROM json_each(?))';
  return new Set(chain.db.column<number>(runs, JSON.stringify([...commits])).flatMap((run) => of(run) ?? []));
}

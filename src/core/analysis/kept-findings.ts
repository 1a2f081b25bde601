// Findings of the built-in rules, kept by cluster of sessions: only clusters that have changed are looked at again.
import { sha256Of } from '../artifacts/index.js';
import type { ReadChain, WriteChain } from '../chain/index.js';
import type { Finding } from '../contract/index.js';
import type { ScopedViews } from './answer.js';
import { findingsOf } from './findings.js';
import { builtInRules, type SqlRule } from './rules.js';

/** The clusters to which the rules are applied at once, and those whose findings are stored in one transaction. */
const clustersAtOnce = 200;
const clustersStored = 10;

/** A text that changes when one of the built-in rules does. */
const version = sha256Of(JSON.stringify(builtInRules.map(({ rule, sql }) => [rule, sql])))
  .toString('base64url')
  .slice(0, 22);

const due = 'FROM sessionCluster k WHERE k.project = :project AND k.rules IS NOT :version';

/** Whether the built-in rules were not yet applied to some session as it is stored now. */
export const findingsAreDue = ({ db, project }: ReadChain): boolean => db.one(`SELECT 1 ${due} LIMIT 1`, { project, version }) !== undefined;

/** The number of stored sessions to which the built-in rules were not yet applied. */
export const uncheckedSessions = ({ db, project }: ReadChain): number => db.value<number>(selectUnchecked, { project, version }) ?? 0;
const selectUnchecked = `SELECT COUNT(*) FROM usageSession s WHERE s.project = :project AND s.cluster IN (SELECT k.run ${due})`;

/** What the built-in rules find in the commits of these runs, a JSON list. */
export function findingsWithin(views: ScopedViews, runs: string): Finding[] {
  const scoped = views.within(runs);
  return builtInRules.flatMap((rule) => findingsOf(scoped, rule, { most: Number.MAX_SAFE_INTEGER }));
}

/**
 * Applies the built-in rules to the sessions that have changed, and stores what they find in short transactions. Yields after each. The facts of the
 * sessions must be current.
 * @param find answers as `findingsWithin`, for the same project.
 */
export async function* catchUpFindings(chain: WriteChain, find: (runs: string) => Promise<readonly Finding[]>): AsyncGenerator<void> {
  const { db, project } = chain;
  const stale = db.all<Stale>(`SELECT k.run, k.runs, k.mark ${due} ORDER BY k.run DESC`, { project, version });
  for (let at = 0; at < stale.length; at += clustersAtOnce) {
    const some = stale.slice(at, at + clustersAtOnce);
    const found = await find(JSON.stringify(some.flatMap(({ runs }) => JSON.parse(runs) as number[])));
    for (let from = 0; from < some.length; from += clustersStored) {
      storeFindings(chain, some.slice(from, from + clustersStored), found);
      yield;
    }
  }
}

function storeFindings(chain: WriteChain, some: readonly Stale[], found: readonly Finding[]): void {
  const { db, project } = chain;
  db.transaction(() => {
    const clusterOf = clustersOfCommits(chain, some, found);
    // Another process may have stored a cluster anew meanwhile.
    const isThere = ({ run, mark }: Stale) => db.one('SELECT 1 FROM sessionCluster WHERE project = ? AND run = ? AND mark = ?', project, run, mark);
    const current = new Set(some.filter(isThere).map(({ run }) => run));
    for (const run of current) {
      db.run('DELETE FROM finding WHERE project = ? AND cluster = ?', project, run);
      db.run('UPDATE sessionCluster SET rules = ? WHERE project = ? AND run = ?', version, project, run);
    }
    for (const one of found) {
      const cluster = clusterOf.get(one.commit);
      if (cluster !== undefined && current.has(cluster)) store(chain, cluster, one);
    }
  });
}

/** A cluster to which the rules are to be applied. */
interface Stale {
  readonly run: number;
  readonly runs: string;
  readonly mark: string;
}

/** The cluster of the commit of each finding. Every built-in rule names a commit. */
function clustersOfCommits({ db, project }: ReadChain, some: readonly Stale[], found: readonly Finding[]): ReadonlyMap<Finding['commit'], number> {
  const byRun = new Map(some.flatMap(({ run, runs }) => (JSON.parse(runs) as number[]).map((one) => [one, run] as const)));
  const sql = 'SELECT id, run FROM commits WHERE project = ? AND id IN (SELECT value FROM json_each(?))';
  const commits = db.rows<[Finding['commit'], number]>(sql, project, JSON.stringify([...new Set(found.map(({ commit }) => commit))]));
  return new Map(commits.flatMap(([id, run]) => (byRun.has(run) ? [[id, byRun.get(run) as number] as const] : [])));
}

function store({ db, project }: WriteChain, cluster: number, { rule, sessionId, commit, entryKey, at, detail, count }: Finding): void {
  const insert = 'INSERT INTO finding (project, cluster, rule, session, context, key, at, detail, count) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)';
  db.run(insert, project, cluster, rule, sessionId, commit, entryKey, at, detail, count);
}

export interface FindingPage {
  readonly rules: readonly SqlRule[];
  readonly sessionId?: string | undefined;
  readonly offset: number;
  readonly limit: number;
}

/** A page of the kept findings of rules, newest first. SQLite reads no other ones. */
export function keptFindings({ db, project }: ReadChain, { rules, sessionId, offset, limit }: FindingPage): { total: number; findings: Finding[] } {
  const byName = new Map(rules.map((rule) => [rule.rule, rule] as const));
  const names = JSON.stringify([...byName.keys()]);
  // With many rules, the index of times leads to the newest ones.
  const ofRules = `f.project = :project AND ${rules.length > 1 ? '+' : ''}f.rule IN (SELECT value FROM json_each(:names))`;
  const ofSession = sessionId === undefined ? '' : 'AND f.session = :sessionId';
  const values = { project, names, ...(sessionId !== undefined && { sessionId }) };
  const rows = db.all<Omit<Finding, 'title' | 'severity'>>(
    `SELECT f.rule, f.session AS sessionId, f.context AS "commit", f.key AS entryKey, f.at, f.detail, f.count,
            (SELECT s.title FROM usageSession s WHERE s.project = f.project AND s.session = f.session) AS sessionTitle
       FROM finding f WHERE ${ofRules} ${ofSession} ORDER BY f.at DESC, f.no DESC LIMIT :limit OFFSET :offset`,
    { ...values, limit, offset },
  );
  const findings = rows.map(({ rule, ...row }): Finding => {
    const { title = rule, severity = 'medium' } = byName.get(rule) ?? {};
    return { rule, title, severity, ...row };
  });
  return { total: db.value<number>(`SELECT COUNT(*) FROM finding f WHERE ${ofRules} ${ofSession}`, values) ?? 0, findings };
}

/** The number of kept findings of each rule that found something. */
export const keptCounts = ({ db, project }: ReadChain): ReadonlyMap<string, number> =>
  new Map(db.rows<[rule: string, count: number]>('SELECT rule, COUNT(*) FROM finding WHERE project = ? GROUP BY rule', project));

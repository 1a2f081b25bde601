// Clusters: families of commits that belong to the same sessions. A session is derived from its cluster alone, so a change reads one cluster again.
import type { CommitSeq } from '../base/index.js';
import { type Families, type Family, familiesOf, hidingState, joining, kept, type ReadChain } from '../chain/index.js';

/** An imported file, as lists of sessions need it. */
export interface SourceFile {
  readonly no: number;
  readonly sessionId: string | null;
  readonly title: string | null;
  readonly cwd: string | null;
  readonly tips: readonly CommitSeq[];
}

export interface Cluster {
  readonly families: readonly Family[];
  readonly sessions: ReadonlySet<string>;
  /** Its files. Those that agents wrote after Resume come last: they name and place nothing that their session names itself. */
  readonly files: readonly SourceFile[];
  /** A text that changes with its commits, their titles, its files, and what is hidden of it. */
  readonly state: string;
  /** Whether one of its commits was renamed, or a session or a branch of it has a mark. */
  readonly isMarked: boolean;
}

/** The name of a cluster: its first run. */
export const clusterName = ({ families }: Cluster): number => families[0]?.runs[0] ?? 0;

const bytesPerFile = 400;
const bytesOf = ({ all }: ReturnType<typeof joined>): number =>
  all.reduce((sum, { files, families }) => sum + bytesPerFile * (1 + files.length + families.length), 0);

/** The clusters of the project; that of a commit; and those of sessions, by their ids or by their first commits. */
export function clustersOf(chain: ReadChain) {
  const families = familiesOf(chain);
  const state = chain.db.value<string>(
    `SELECT COUNT(*) || '/' || IFNULL(MAX(no), 0) || '/' || TOTAL(size + resumeAt + importedAt % 1000003) || '/' || TOTAL(LENGTH(title)) || '/' ||
            (SELECT IFNULL(MAX(no), 0) FROM contextVersion) || '/' || ${hidingState}
       FROM source WHERE project = ?`,
    chain.project,
  );
  const found = kept(chain, 'clusters', '', `${families.state} ${state}`, () => joined(chain, families), bytesOf);
  const at = (seq: CommitSeq): Cluster | undefined => {
    const run = chain.db.value<number>('SELECT run FROM commits WHERE seq = ? AND project = ?', seq, chain.project);
    const family = families.of(run ?? -1);
    return family && found.byFamily.get(family);
  };
  const named = (key: string): Cluster | undefined => {
    const known = found.bySession.get(key);
    if (known) return known;
    const first = chain.db.value<CommitSeq>('SELECT seq FROM commits WHERE project = ? AND id = ?', chain.project, key);
    return first === undefined ? undefined : at(first);
  };
  const of = (keys: Iterable<string>): ReadonlySet<Cluster> => new Set([...keys].flatMap((key) => named(key) ?? []));
  return { all: found.all, at, of };
}

/** Joins the families that share a session, an imported file, or a session that an agent continued under another id. */
function joined(chain: ReadChain, families: Families) {
  const { groupOf, join: joinTwo } = joining<Family>();
  const join = (a: Family | undefined, b: Family | undefined): void => {
    if (a && b) joinTwo(a, b);
  };
  const ofSession = new Map<string, Family>();
  for (const family of families.all)
    for (const session of family.sessions) {
      join(ofSession.get(session), family);
      ofSession.set(session, family);
    }
  const selectResumed = 'SELECT r.sessionId, c.run FROM resumed r JOIN commits c ON c.seq = r.context WHERE r.project = ?';
  const resumed = chain.db.all<{ sessionId: string; run: number }>(selectResumed, chain.project);
  for (const { sessionId, run } of resumed) {
    const original = families.of(run);
    join(ofSession.get(sessionId), original);
    if (original && !ofSession.has(sessionId)) ofSession.set(sessionId, original);
  }
  // A tool that starts a subagent may name its session and no call.
  const started = `SELECT substr(s.toolCallId, 9), c.run FROM started s JOIN commits c ON c.seq = s.context
                    WHERE s.project = ? AND s.toolCallId LIKE 'session:%'`;
  for (const [session, run] of chain.db.rows<[string, number]>(started, chain.project)) join(ofSession.get(session), families.of(run));
  const sources = sourcesOf(chain);
  const ends = JSON.stringify(sources.flatMap(({ tips }) => tips));
  const runAt = new Map(chain.db.rows<[CommitSeq, number]>('SELECT seq, run FROM commits WHERE seq IN (SELECT value FROM json_each(?))', ends));
  const placed = sources.map((file) => {
    const own = file.tips.map((tip) => families.of(runAt.get(tip) ?? -1));
    const [place = file.sessionId === null ? undefined : ofSession.get(file.sessionId)] = own;
    for (const other of own) join(place, other);
    if (file.sessionId !== null) join(place, ofSession.get(file.sessionId));
    return { file, place };
  });
  const groupAt = ({ run, sessionId }: { readonly run: number | null; readonly sessionId: string | null }): Family | undefined => {
    const family = families.of(run ?? -1) ?? ofSession.get(sessionId ?? '');
    return family && groupOf(family);
  };
  const changed = Map.groupBy(changesOf(chain), groupAt);
  const resumedIn = Map.groupBy(resumed, groupAt);
  const filesOf = Map.groupBy(placed, ({ place }) => place && groupOf(place));
  const all = [...Map.groupBy(families.all, groupOf)].map(([name, own]): Cluster => {
    const files = (filesOf.get(name) ?? []).map(({ file }) => file);
    const sessions = new Set(own.flatMap((family) => [...family.sessions]));
    const sizes = own.map(({ commits, last }) => [commits, last]);
    const state = JSON.stringify([resumedIn.get(name)?.length, sizes, files, changed.get(name)?.map((change) => change.state)]);
    return { families: own, files, sessions, state, isMarked: changed.has(name) };
  });
  return {
    all,
    byFamily: new Map(all.flatMap((cluster) => cluster.families.map((family) => [family, cluster] as const))),
    bySession: new Map(all.flatMap((cluster) => [...cluster.sessions].map((session) => [session, cluster] as const))),
  };
}

/** New titles of commits, and what is hidden, by run or session. */
const changesOf = (chain: ReadChain): { readonly run: number | null; readonly sessionId: string | null; readonly state: string }[] =>
  chain.db.all(
    `SELECT c.run, NULL AS sessionId, MAX(v.no) AS state FROM contextVersion v JOIN commits c ON c.seq = v.context WHERE v.project = :project GROUP BY c.run
     UNION ALL
     SELECT c.run, NULL, m.no || ' ' || (m.deletedAt IS NULL) || (m.archivedAt IS NULL) FROM branchMark m JOIN commits c ON c.seq = m.context
      WHERE m.project = :project
     UNION ALL
     SELECT (SELECT c.run FROM commits c WHERE c.project = m.project AND c.id = m.sessionId), m.sessionId,
            m.no || ' ' || (m.deletedAt IS NULL) || (m.archivedAt IS NULL) FROM sessionMark m WHERE m.project = :project`,
    { project: chain.project },
  );

const sourcesOf = (chain: ReadChain): SourceFile[] =>
  chain.db
    .all<Omit<SourceFile, 'tips'> & { readonly tips: string }>(
      `SELECT no, sessionId, title, cwd, tips FROM source WHERE project = ?
        ORDER BY EXISTS (SELECT 1 FROM resumed r WHERE r.project = source.project AND r.sessionId = source.sessionId), length(path), no`,
      chain.project,
    )
    .map((row) => ({ ...row, tips: JSON.parse(row.tips) as CommitSeq[] }));

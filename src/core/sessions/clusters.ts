// Clusters: families of commits that belong to the same sessions. A session is derived from its cluster alone, so a change reads one cluster again.
import type { CommitSeq, ContextId } from '../base/index.js';
import { type Families, type Family, familiesOf, hidingState, kept, type ReadChain } from '../chain/index.js';

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

export interface Clusters {
  readonly all: readonly Cluster[];
  at(seq: CommitSeq): Cluster | undefined;
  /** The clusters of sessions: of their ids, or of their first commits. */
  of(keys: Iterable<string>): ReadonlySet<Cluster>;
}

interface Found {
  readonly all: readonly Cluster[];
  readonly byFamily: ReadonlyMap<Family, Cluster>;
  readonly bySession: ReadonlyMap<string, Cluster>;
}

const bytesPerFile = 400;

/** The clusters of the project. */
export function clustersOf(chain: ReadChain): Clusters {
  const families = familiesOf(chain);
  const { state } = chain.db.one<{ state: string }>(
    `SELECT COUNT(*) || '/' || IFNULL(MAX(no), 0) || '/' || TOTAL(size + resumeAt + importedAt % 1000003) || '/' || TOTAL(LENGTH(title)) || '/' ||
            (SELECT IFNULL(MAX(no), 0) FROM contextVersion) || '/' || ${hidingState} AS state
       FROM source WHERE project = ?`,
    chain.project,
  ) ?? { state: '' };
  const found = kept(
    chain,
    'clusters',
    '',
    `${families.state} ${state}`,
    () => joined(chain, families),
    ({ all }) => all.reduce((sum, cluster) => sum + bytesPerFile * (1 + cluster.files.length + cluster.families.length), 0),
  );
  const at = (seq: CommitSeq): Cluster | undefined => {
    const row = chain.db.one<{ run: number }>('SELECT run FROM context WHERE seq = ? AND project = ?', seq, chain.project);
    const family = row && families.of(row.run);
    return family && found.byFamily.get(family);
  };
  const named = (key: string): Cluster | undefined => {
    const known = found.bySession.get(key);
    if (known) return known;
    const commit = chain.db.one<{ seq: CommitSeq }>('SELECT seq FROM context WHERE project = ? AND id = ?', chain.project, key as ContextId);
    return commit && at(commit.seq);
  };
  return { all: found.all, at, of: (keys) => new Set([...keys].flatMap((key) => named(key) ?? [])) };
}

/** Joins the families that share a session, an imported file, or a session that an agent continued under another id. */
function joined(chain: ReadChain, families: Families): Found {
  const joins = new Map<Family, Family>();
  const first = (family: Family): Family => {
    let at = family;
    for (let next = joins.get(at); next; next = joins.get(at)) at = next;
    if (at !== family) joins.set(family, at);
    return at;
  };
  const join = (a: Family | undefined, b: Family | undefined): void => {
    const [one, other] = [a && first(a), b && first(b)];
    if (one && other && one !== other) joins.set(one, other);
  };
  const ofSession = new Map<string, Family>();
  for (const family of families.all)
    for (const session of family.sessions) {
      join(ofSession.get(session), family);
      ofSession.set(session, family);
    }
  const resumed = chain.db.all<{ sessionId: string; run: number }>(
    'SELECT r.sessionId, c.run FROM resumed r JOIN context c ON c.seq = r.context WHERE r.project = ?',
    chain.project,
  );
  for (const { sessionId, run } of resumed) {
    const original = families.of(run);
    join(ofSession.get(sessionId), original);
    if (original && !ofSession.has(sessionId)) ofSession.set(sessionId, original);
  }
  // A tool that starts a subagent may name its session and no call.
  const started = chain.db.all<{ session: string; run: number }>(
    `SELECT substr(s.toolCallId, 9) AS session, c.run FROM started s JOIN context c ON c.seq = s.context WHERE s.project = ? AND s.toolCallId LIKE 'session:%'`,
    chain.project,
  );
  for (const { session, run } of started) join(ofSession.get(session), families.of(run));
  const sources = sourcesOf(chain);
  const ends = JSON.stringify(sources.flatMap(({ tips }) => tips));
  const runAt = new Map(chain.db.rows<[CommitSeq, number]>('SELECT seq, run FROM context WHERE seq IN (SELECT value FROM json_each(?))', ends));
  const placed = sources.map((file) => {
    const own = file.tips.map((tip) => families.of(runAt.get(tip) ?? -1));
    const [place = file.sessionId === null ? undefined : ofSession.get(file.sessionId)] = own;
    for (const other of own) join(place, other);
    if (file.sessionId !== null) join(place, ofSession.get(file.sessionId));
    return { file, place };
  });
  const changed = Map.groupBy(changesOf(chain), ({ run, sessionId }) => {
    const family = families.of(run ?? -1) ?? ofSession.get(sessionId ?? '');
    return family && first(family);
  });
  const resumedIn = Map.groupBy(resumed, ({ sessionId, run }) => {
    const family = families.of(run) ?? ofSession.get(sessionId);
    return family && first(family);
  });
  const filesOf = Map.groupBy(placed, ({ place }) => place && first(place));
  const all = [...Map.groupBy(families.all, first)].map(([name, own]): Cluster => {
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
    `SELECT c.run, NULL AS sessionId, MAX(v.no) AS state FROM contextVersion v JOIN context c ON c.seq = v.context WHERE v.project = :project GROUP BY c.run
     UNION ALL
     SELECT c.run, NULL, m.no || ' ' || (m.deletedAt IS NULL) || (m.archivedAt IS NULL) FROM branchMark m JOIN context c ON c.seq = m.context
      WHERE m.project = :project
     UNION ALL
     SELECT (SELECT c.run FROM context c WHERE c.project = m.project AND c.id = m.sessionId), m.sessionId,
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

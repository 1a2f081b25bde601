import { basename } from 'node:path';
import { defined, orUndefined, present } from '../base/index.js';
import { findCommit, newestOf, type ReadChain, type WriteChain } from '../chain/index.js';
import { absolutePath, type LocatedFile, statLocated, unlessRefused } from '../files/index.js';
import { importableFormats, type PlanContext } from '../formats/index.js';
import { filesUnder, latestSource, readEnds, type Signed } from '../import/index.js';
import { isWithin } from '../system/index.js';
import { importGrowth } from './import-growth.js';

/** A recording of running agents, as every process of the project can read it. */
interface RecordingRow extends Readonly<Record<'cwd' | 'principal' | 'ticketId' | 'machine' | 'sessionId' | 'recorded', string | null>> {
  readonly places: string;
  readonly granularity: PlanContext['granularity'];
  readonly since: number;
}

/** The settings of a recording when it starts. */
export interface RecordingOptions {
  readonly places: readonly string[];
  readonly cwd?: string | undefined;
  readonly granularity: PlanContext['granularity'];
  readonly signed?: Signed | undefined;
  /** Milliseconds since 1970. */
  readonly since: number;
}

/** A recording that is known to all processes until `close`. */
export interface NotedRecording {
  /** Returns the owner of the commits of a file's session. The first session that appears gets the given principal (C26). */
  signedFor(file: LocatedFile): Signed;
  close(): void;
}

/** Adds a recording to the project's list. If the project cannot be written to, the recording works without its row. */
export function noteRecording(chain: WriteChain, options: RecordingOptions): NotedRecording {
  const { signed = {} } = options;
  const no = insert(chain, options);
  let bound: string | undefined;
  return {
    signedFor: (file) => {
      if (signed.principal === undefined) return signed;
      const sessionId = peek(file).sessionId;
      if (bound === undefined && sessionId !== undefined && !belongsToOther(chain, sessionId, signed.principal)) {
        bound = sessionId;
        if (no !== undefined) attempt(() => chain.db.run('UPDATE followed SET sessionId = ? WHERE no = ?', sessionId, no));
      }
      return sessionId === bound ? signed : { ...signed, principal: undefined };
    },
    close: () => void (no !== undefined && attempt(() => chain.db.run('DELETE FROM followed WHERE no = ?', no))),
  };
}

/** A killed process leaves its row in the list. Rows older than this are deleted. */
const maxMs = 7 * 86_400_000;

const insert = (chain: WriteChain, { places, cwd, granularity, signed, since }: RecordingOptions): number | undefined =>
  attempt(() =>
    chain.db.transaction(() => {
      const listed = JSON.stringify(places.map((place) => absolutePath(place)));
      chain.db.run('DELETE FROM followed WHERE project = ? AND since < ?', chain.project, since - maxMs);
      const { principal, ticketId, machine } = signed ?? {};
      const recorded = chain.seal(sealedText(listed));
      const row = { project: chain.project, places: listed, cwd, granularity, principal, ticketId, machine, since, recorded };
      return chain.db.insert('followed', row).rowId;
    }),
  );

/** What this machine seals of a row. A row with other places came with the project, from somebody else. */
const sealedText = (places: string): string => `followed\0${places}`;

/** Whether a session belongs to another principal: that of another recording, or one under which it was recorded before. */
const belongsToOther = (chain: ReadChain, sessionId: string, principal: string): boolean =>
  chain.db.one(
    `SELECT 1 FROM followed WHERE project = :project AND sessionId = :sessionId AND principal <> :principal
     UNION ALL SELECT 1 FROM commits WHERE +project = :project AND sessionId = :sessionId AND principal <> :principal AND forked = 0
        AND substr(principal, -length(sessionId) - 1) <> '#' || sessionId LIMIT 1`,
    { project: chain.project, sessionId, principal },
  ) !== undefined;

/**
 * Commits the turn in progress of a followed agent before the agent writes to the project, so that the write refers to everything that the
 * agent knows (K4). Reads only files of recordings of this machine and of the agents' own history folders. A problem with a file does not stop the write.
 */
export function checkpointInProgress(chain: WriteChain, principal: string, folders: readonly string[]): void {
  const all = chain.db.all<RecordingRow>('SELECT * FROM followed WHERE project = ? ORDER BY no', chain.project);
  const rows = all.filter(({ places, recorded }) => recorded === chain.seal(sealedText(places)));
  const mine = rows.filter((row) => row.principal === principal);
  for (const row of mine) {
    const signed = present({ principal, ticketId: row.ticketId, machine: row.machine });
    for (const file of findFiles(row)) attempt(() => importNow(chain, file, row.granularity, signed));
  }
  const places = [...folders, ...rows.flatMap((row) => JSON.parse(row.places) as string[])];
  for (const file of sessionFiles(chain, principal, places)) attempt(() => importNow(chain, file, 'turn_boundary', {}));
}

function importNow(chain: WriteChain, file: LocatedFile, granularity: PlanContext['granularity'], signed: Signed): void {
  const { path } = file;
  if (statLocated(file)?.size !== latestSource(chain, path)?.size) importGrowth(chain, file, { what: 'now', granularity, signed });
}

/** File systems record times more coarsely than clocks do. */
const fileTimeMs = 20;

/** The files of a recording's session. If the session is unknown, all files that changed since the recording began, if they have one session. */
function findFiles({ places, cwd, sessionId, since }: RecordingRow): LocatedFile[] {
  const changed = filesUnder(JSON.parse(places) as string[]).files.filter(({ modifiedAt }) => modifiedAt >= since - fileTimeMs);
  const known = changed.map((file) => ({ file, ...peek(file) }));
  const here = known.filter((each) => each.sessionId !== undefined && (cwd === null || (each.cwd !== undefined && isWithin(each.cwd, cwd))));
  const ids = new Set(here.map((each) => each.sessionId));
  const only = sessionId ?? (ids.size === 1 ? [...ids][0] : undefined);
  return here.filter((each) => each.sessionId === only).map(({ file }) => file);
}

/** The files of a principal's session: the imported files, or else the files named after the session. */
function sessionFiles(chain: ReadChain, principal: string, places: readonly string[]): LocatedFile[] {
  const named = principal.includes('#') ? principal.slice(principal.lastIndexOf('#') + 1) : undefined;
  const last = newestOf(chain, principal, Number.MAX_SAFE_INTEGER, 'c.sessionId IS NOT NULL');
  const sessionId = last ? (findCommit(chain, last.id).sessionId ?? named) : named;
  if (sessionId === undefined || sessionId === '') return [];
  const paths = chain.db.column<string>('SELECT DISTINCT path FROM source WHERE project = ? AND sessionId = ?', chain.project, sessionId);
  if (paths.length)
    return paths.flatMap((path) => {
      const root = places.find((place) => isWithin(path, place));
      return root === undefined ? [] : [{ root, path }];
    });
  return filesUnder(places).files.filter(({ path }) => basename(path).includes(sessionId));
}

const headBytes = 64 * 1024;

/** The session and the working directory that a transcript names. */
export function peek(file: LocatedFile): { readonly sessionId?: string; readonly cwd?: string } {
  const ends = attempt(() => readEnds(file, headBytes));
  const read = ends ? importableFormats.map((format) => format.peek(ends.head, ends.tail)) : [];
  return defined({ sessionId: read.find((each) => each.sessionId)?.sessionId, cwd: read.find((each) => each.cwd)?.cwd });
}

/** The result of `work`; undefined if a file cannot be read, or if the project is busy or read-only. */
const attempt = <T>(work: () => T): T | undefined => orUndefined(() => unlessRefused(work));

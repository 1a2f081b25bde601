import { recordOfKey as recordOf } from '../formats/index.js';
import type { ContextRow, ReadChain, WriteChain } from './chain.js';
import { readOutline } from './outline.js';
import { backwards } from './walk.js';

/** The first commit that contains a runtime's record. */
export const holderOf = (chain: ReadChain, record: string): ContextRow['seq'] | undefined =>
  chain.db.value('SELECT context FROM record WHERE project = ? AND record = ?', chain.project, record);

/** The runtime's record of the last entry of a context: the parent of the next record. */
export function lastRecord(chain: ReadChain, row: ContextRow): string | undefined {
  for (const step of backwards(chain, row)) {
    const last = readOutline(chain, step).entries.at(-1);
    if (last) return recordOf(last.key);
  }
  return undefined;
}

/** Stores which records a commit contains. A known record stays with its first commit. */
export const remember = (chain: WriteChain, row: Pick<ContextRow, 'seq'>, records: Iterable<string>): void =>
  rememberAll(chain, [{ seq: row.seq, records }]);

/** Records per INSERT. SQLite journals each statement separately, so few large statements are cheaper. */
const recordsPerInsert = 1_000;

/** Stores the records of many commits. The first commit with a record gets it. */
export function rememberAll(chain: WriteChain, commits: Iterable<{ readonly seq: ContextRow['seq']; readonly records: Iterable<string> }>): void {
  let members: string[] = [];
  const write = (): void => {
    const sql = 'INSERT OR IGNORE INTO record (project, record, context) SELECT ?, key, value FROM json_each(?)';
    if (members.length > 0) chain.db.run(sql, chain.project, `{${members.join(',')}}`);
    members = [];
  };
  for (const { seq, records } of commits)
    for (const record of records) {
      members.push(`${JSON.stringify(record)}:${seq}`);
      if (members.length >= recordsPerInsert) write();
    }
  write();
}

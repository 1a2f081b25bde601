import { toTimestamp } from '../base/index.js';
import type { Received } from '../contract/index.js';
import type { ReadChain, WriteChain } from './chain.js';

/** Kinds of rows that could start work, say what it is, or end it at a time. Those that a pull stored wait for a person of this machine (M1). */
export type StartKind = 'agentTurn' | 'ticket' | 'ticketEvent' | 'batch' | 'experimentVersion';
export const startKinds: ReadonlySet<string> = new Set<StartKind>(['agentTurn', 'ticket', 'ticketEvent', 'batch', 'experimentVersion']);

interface Row {
  readonly hub: string;
  readonly sender: string | null;
  readonly isLink: number;
  readonly at: number;
  readonly allowedAt: number | null;
}

const toReceived = ({ hub, sender, isLink, at, allowedAt }: Row): Received => ({
  hub,
  name: sender,
  isLink: isLink === 1,
  at: toTimestamp(at),
  allowedAt: allowedAt === null ? null : toTimestamp(allowedAt),
});

/** Records that another machine sent this version of a row. What a person allowed earlier does not hold for it. */
export function noteReceived(
  { db, project, clock }: Pick<WriteChain, 'db' | 'project' | 'clock'>,
  kind: StartKind,
  row: number,
  from: { readonly hub: string; readonly name: string | null; readonly isLink: boolean },
): void {
  db.run('INSERT OR REPLACE INTO received (project, kind, row, hub, sender, isLink, at) VALUES (:project, :kind, :row, :hub, :name, :isLink, :at)', {
    project,
    kind,
    row,
    ...from,
    isLink: from.isLink ? 1 : 0,
    at: clock(),
  });
}

/** Who sent a row; null for a row that this machine recorded. */
export function receivedAt({ db, project }: Pick<ReadChain, 'db' | 'project'>, kind: StartKind, row: number): Received | null {
  const found = db.one<Row>('SELECT hub, sender, isLink, at, allowedAt FROM received WHERE project = ? AND kind = ? AND row = ?', project, kind, row);
  return found ? toReceived(found) : null;
}

/** Every row of a kind that another machine sent, by its number. */
export function allReceived({ db, project }: Pick<ReadChain, 'db' | 'project'>, kind: StartKind): ReadonlyMap<number, Received> {
  const sql = 'SELECT row, hub, sender, isLink, at, allowedAt FROM received WHERE project = ? AND kind = ?';
  const rows = db.all<Row & { readonly row: number }>(sql, project, kind);
  return new Map(rows.map(({ row, ...found }) => [row, toReceived(found)]));
}

/** Records that a person of this machine allows what another machine sent. */
export const allowReceived = ({ db, project, clock }: Pick<WriteChain, 'db' | 'project' | 'clock'>, kind: StartKind, row: number): void =>
  void db.run('UPDATE received SET allowedAt = ? WHERE project = ? AND kind = ? AND row = ? AND allowedAt IS NULL', clock(), project, kind, row);

/** Whether other machines write in this project too: it has exchanged items with a hub, so that any text in it may be a stranger's. */
export const isShared = ({ db, project }: Pick<ReadChain, 'db' | 'project'>): boolean =>
  db.one('SELECT 1 FROM teamItem WHERE project = ? LIMIT 1', project) !== undefined;

/** Whether a row must not act here yet: another machine sent it, and nobody here allowed it. */
export const isWaiting = (received: Received | null | undefined): boolean => received != null && received.allowedAt === null;

import type Database from 'better-sqlite3';

type Row = 'new' | 'old' | '';

/** The content type of a chunk of a larger object. */
export const chunkType = 'application/vnd.stemma.chunk';

/** A table whose rows and changes are counted for an area. */
interface Counted {
  readonly area: string;
  readonly table: string;
  /** SQL for the number that a row adds to the total. */
  readonly adds?: (row: Row) => string;
  /** Columns whose change counts; others change what nobody sees. */
  readonly columns?: readonly string[];
  /** SQL for the project of a row. */
  readonly project?: (row: Row) => string;
}

const at = (row: Row, column: string): string => (row ? `${row}.${column}` : column);

const isObject = (row: Row): string =>
  `(${['data', 'pack', 'block', 'chunks'].map((column) => `${at(row, column)} IS NOT NULL`).join(' OR ')}) AND ${at(row, 'contentType')} <> '${chunkType}'`;
/** The columns that tell whether an object is stored, and its size. */
const objectColumns = ['data', 'pack', 'block', 'chunks', 'contentType', 'size'];

const experimentProject = (row: Row): string => `COALESCE((SELECT project FROM experiment WHERE no = ${at(row, 'experiment')}), 0)`;

/** The tables of each area. The total of an area is that of all its tables. */
const counted: readonly Counted[] = [
  { area: 'commits', table: 'commits', columns: ['digest', 'parent', 'type', 'artifact', 'summary', 'tags', 'messageCount', 'errors'] },
  { area: 'entries', table: 'commits', columns: ['entries'], adds: (row) => at(row, 'entries') },
  { area: 'objects', table: 'artifact', columns: objectColumns, adds: (row) => `(${isObject(row)})` },
  { area: 'bytes', table: 'artifact', columns: objectColumns, adds: (row) => `CASE WHEN ${isObject(row)} THEN ${at(row, 'size')} ELSE 0 END` },
  { area: 'tickets', table: 'ticketVersion', columns: ['ticket', 'changes', 'reason'] },
  { area: 'tickets', table: 'ticketAnswer', columns: ['event', 'by'] },
  { area: 'cards', table: 'card', columns: ['content', 'toolCalls', 'toolCallId', 'ttlSeconds', 'expiresAt', 'deletedAt', 'metadata', 'authorId'] },
  { area: 'boxes', table: 'box', columns: ['updatedAt', 'replaces', 'packed'] },
  { area: 'messages', table: 'spaceMessage', columns: ['text', 'replyTo', 'origin'] },
  { area: 'turns', table: 'agentTurn', columns: ['status', 'waiting', 'endCommit', 'error'] },
  { area: 'jobs', table: 'job', columns: ['status', 'error', 'endedAt'] },
  { area: 'jobs', table: 'jobQuestion', columns: ['allow'], project: (row) => `COALESCE((SELECT project FROM job WHERE no = ${at(row, 'job')}), 0)` },
  // What may become due or allowed. No list shows it as such.
  { area: 'work', table: 'run', columns: ['status', 'waitUntil', 'activeSpace'] },
  { area: 'work', table: 'ticketEvent', columns: ['who', 'task'] },
  { area: 'work', table: 'received', columns: ['allowedAt'] },
  { area: 'work', table: 'experiment', columns: ['experimentId'] },
  { area: 'work', table: 'experimentVersion', columns: ['definition'], project: experimentProject },
  { area: 'work', table: 'experimentResult', columns: ['problem'] },
  { area: 'work', table: 'profile', columns: ['name', 'box'] },
  { area: 'work', table: 'agent', columns: ['displayName', 'profile'] },
];

const addsOf = ({ adds }: Counted, row: Row): string => adds?.(row) ?? '1';
const projectOf = ({ project }: Counted, row: Row): string => project?.(row) ?? at(row, 'project');

/** SQL that adds all rows to the totals of `areaCount`. */
const countAreas: string = counted
  .map(
    (each) => `INSERT INTO areaCount SELECT ${projectOf(each, '')} AS project, '${each.area}', COUNT(*), COALESCE(SUM(${addsOf(each, '')}), 0)
  FROM ${each.table} WHERE true GROUP BY 1
  ON CONFLICT DO UPDATE SET changes = changes + excluded.changes, total = total + excluded.total;`,
  )
  .join('\n');

/** The triggers that keep the counts while this connection writes. They are temporary: a database file has no triggers (schema.ts). */
const triggers: string = counted
  .flatMap((each) => {
    const add = (row: 'new' | 'old', total: string): string =>
      `INSERT INTO areaCount VALUES (${projectOf(each, row)}, '${each.area}', 1, ${total})
         ON CONFLICT DO UPDATE SET changes = changes + 1, total = total + excluded.total`;
    const trigger = (event: string, name: string, body: string): string =>
      `CREATE TEMP TRIGGER ${each.area}CountAt${name}Of${each.table} AFTER ${event} ON main.${each.table} BEGIN ${body}; END`;
    return [
      trigger('INSERT', 'Insert', add('new', addsOf(each, 'new'))),
      trigger(`UPDATE OF ${each.columns?.join(', ')}`, 'Update', add('new', `${addsOf(each, 'new')} - ${addsOf(each, 'old')}`)),
      trigger('DELETE', 'Delete', add('old', `-(${addsOf(each, 'old')})`)),
    ];
  })
  .join(';\n');

/** Makes this connection keep the counts of the areas, if its database has them. */
export function watchAreas(raw: Database.Database): void {
  if (hasAreaCounts(raw)) raw.exec(triggers);
}

/** Counts all areas anew, if the database has counts. The numbers of changes only grow. */
export function recountAreas(raw: Database.Database): void {
  if (hasAreaCounts(raw)) raw.exec(`UPDATE areaCount SET total = 0;\n${countAreas}`);
}

/** Whether the database has counts, and its tables their present names. One of an earlier format is counted when it is migrated. */
const hasAreaCounts = (raw: Database.Database): boolean =>
  raw.prepare("SELECT COUNT(*) FROM sqlite_schema WHERE name IN ('areaCount', 'commits')").pluck().get() === 2;

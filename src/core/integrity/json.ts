import { corrupt, type StemmaError } from '../base/index.js';
import type { ReadableDb } from '../store/index.js';

/** The columns that hold a list or an object as JSON, by their table. Those with "?" hold any JSON. */
export const jsonColumns: Readonly<Record<string, readonly string[]>> = {
  commits: ['tags'],
  contextVersion: ['tags'],
  source: ['tips', 'pieces'],
  sessionMark: ['tags'],
  artifact: ['labels'],
  card: ['content', 'toolCalls', 'metadata'],
  cardVersion: ['before'],
  cardCall: ['reply'],
  box: ['packed'],
  boxPart: ['cardIds'],
  agentTurn: ['waiting'],
  turnInput: ['cards', 'profile'],
  ticket: ['reviewers', 'labels'],
  ticketVersion: ['changes'],
  spaceMessage: ['origin'],
  run: ['trigger', 'frame', 'resumed'],
  job: ['what', 'performer', 'limits', 'commits', 'tools'],
  jobEvent: ['event'],
  modelRun: ['calls'],
  requestShape: ['rest'],
  blackboard: ['state', 'contexts'],
  experimentVersion: ['definition'],
  experimentResult: ['ran', 'checks'],
  followed: ['places'],
  setting: ['value?'],
};

/** The first table with a value that is no JSON where a list or an object must be, as an error. Undefined if there is none. */
export function malformedIn(db: ReadableDb): StemmaError | undefined {
  for (const [table, columns] of Object.entries(jsonColumns)) {
    const isWrong = columns.map((column) => wrongSql(column)).join(' OR ');
    if (db.one(`SELECT 1 FROM "${table}" WHERE ${isWrong} LIMIT 1`))
      return corrupt(table, `A row of the table ${table} holds text that is not the JSON it must be, so this cannot be read.`);
  }
  return undefined;
}

// json_type fails for text that is no JSON, so it is asked only after json_valid.
function wrongSql(column: string): string {
  const name = `"${column.replace('?', '')}"`;
  return column.endsWith('?')
    ? `NOT json_valid(${name})`
    : `CASE WHEN ${name} IS NULL THEN 0 WHEN json_valid(${name}) THEN json_type(${name}) NOT IN ('object', 'array') ELSE 1 END`;
}

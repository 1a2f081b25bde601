import { callFormats } from '../requests/index.js';

/** A kind of rows that a team shares: the columns that name a row everywhere, and those with local row numbers, sent as names. */
export interface RowRule {
  /** The kind of item, which is the name of the table unless `table` names one. */
  readonly kind: string;
  /** The table, if some of its columns are sent as a kind of their own. */
  readonly table?: string;
  /** The columns to send. Without it, all. */
  readonly only?: readonly string[];
  /** A row with null in this column is sent only if the hub holds the row already. */
  readonly unlessNull?: string;
  /** The columns that name a row in every project; without them, its digest. Such rows are only added, and equal ones are one row. */
  readonly key?: readonly string[];
  /** Columns with the number of a row of another table. */
  readonly refs?: Readonly<Record<string, string>>;
  /** Columns with a JSON list of row numbers of another table, or of lists that begin with one. */
  readonly lists?: Readonly<Record<string, string>>;
  /** The columns that the first version fixes; true for all. Neither a hub nor a client takes a version that changes one of them, whoever sends it. */
  readonly fixed?: readonly string[] | true;
  /** Columns that are not sent, with their values in a received row. */
  readonly local?: Readonly<Record<string, null | number | string>>;
  /** The table has no row numbers, so its key names its rows in this project too. */
  readonly unnumbered?: true;
  /** An SQL condition for the rows `r` to send. */
  readonly where?: string;
  /** The rows are calls, which are assembled from several tables. A call that was sent never changes. */
  readonly calls?: true;
  /** The table whose row numbers the rows have. */
  readonly numberedBy?: string;
  /** A column that counts the rows of one owner from 1. It is not sent: a received row becomes the last one of its owner. */
  readonly counts?: { readonly column: string; readonly of: string };
}

/**
 * Every kind that is sent, each after those that it refers to. Not sent: data of one machine (jobs, replicas, unfinished runs, and the goals,
 * memories, plans, waits and marks of members of a space), calls that a file records, because they travel in the file, and data derived
 * from other rows (outlines, search, usage).
 */
export const rules: readonly RowRule[] = [
  { kind: 'context', table: 'commits', key: ['digest'], refs: { parent: 'context', artifact: 'artifact' } },
  { kind: 'contextVersion', refs: { context: 'context' } },
  { kind: 'started', key: ['context'], fixed: true, refs: { context: 'context' }, numberedBy: 'context' },
  { kind: 'template', key: ['name', 'version'], refs: { artifact: 'artifact' } },
  { kind: 'instantiation', refs: { context: 'context' } },
  { kind: 'blackboard', refs: { context: 'context' } },
  { kind: 'modelRun', key: ['context'], refs: { context: 'context', base: 'context', turn: 'context', shape: 'artifact' }, numberedBy: 'context' },
  {
    kind: 'request',
    key: ['requestId'],
    refs: { context: 'context', system: 'artifact', tools: 'artifact' },
    lists: { messages: 'artifact' },
    calls: true,
  },
  { kind: 'sessionMark', key: ['sessionId'] },
  { kind: 'branchMark', key: ['context'], refs: { context: 'context' } },
  // Calls that belong to no file have a source of their own in each project.
  {
    kind: 'source',
    key: ['sourceId'],
    lists: { tips: 'context', pieces: 'artifact' },
    // A path of another machine is never followed here.
    local: { recorded: null },
    where: `r.format NOT IN (${callFormats.map((format) => `'${format}'`).join(', ')})`,
  },
  { kind: 'card', key: ['cardId'] },
  { kind: 'cardVersion', refs: { card: 'card' } },
  { kind: 'box', key: ['boxId'], refs: { replaces: 'box' }, local: { readers: 0 } },
  { kind: 'boxPart', key: ['box', 'place'], refs: { box: 'box' }, unnumbered: true },
  { kind: 'profile', key: ['key'], refs: { box: 'box' } },
  { kind: 'agent', key: ['agentId'], refs: { profile: 'box', lastOutput: 'box', tip: 'context' }, local: { turn: null } },
  { kind: 'batch', key: ['batchId'] },
  {
    kind: 'agentTurn',
    key: ['agentTurnId'],
    refs: {
      agent: 'agent',
      context: 'box',
      output: 'box',
      profile: 'box',
      parentTurn: 'agentTurn',
      batch: 'batch',
      fromCommit: 'context',
      startCommit: 'context',
      endCommit: 'context',
    },
  },
  // The turn that an agent works on. It is sent after the turns, because agents and turns refer to each other.
  { kind: 'agentWork', table: 'agent', only: ['agentId', 'turn'], unlessNull: 'turn', key: ['agentId'], refs: { turn: 'agentTurn' } },
  { kind: 'turnInput', key: ['turn'], fixed: true, refs: { turn: 'agentTurn' }, numberedBy: 'turn' },
  { kind: 'cardCall', refs: { turn: 'agentTurn', box: 'box' } },
  { kind: 'ticket', key: ['ticketId'], refs: { parent: 'ticket' } },
  { kind: 'ticketDependency', key: ['ticket', 'dependsOn'], refs: { ticket: 'ticket', dependsOn: 'ticket' }, unnumbered: true },
  { kind: 'ticketVersion', refs: { ticket: 'ticket' } },
  { kind: 'ticketEvent', refs: { ticket: 'ticket' } },
  { kind: 'ticketAnswer', refs: { event: 'ticketEvent' } },
  { kind: 'experiment', key: ['experimentId'] },
  { kind: 'experimentVersion', refs: { experiment: 'experiment' } },
  { kind: 'experimentResult', key: ['resultId'], refs: { experiment: 'experiment', context: 'context' } },
  { kind: 'experimentVerdict', refs: { result: 'experimentResult' } },
  // An agent does not take the name of a human member (U6).
  { kind: 'entity', key: ['entityId'], fixed: ['type'] },
  { kind: 'space', key: ['spaceId'] },
  {
    kind: 'membership',
    key: ['space', 'entity'],
    refs: { space: 'space', entity: 'entity' },
    local: { processedSeq: 0, processedMessage: null, seenSeq: 0, seenMessage: null },
  },
  {
    kind: 'run',
    key: ['runId'],
    refs: { entity: 'entity', activeSpace: 'space', waitSpace: 'space', context: 'context' },
    // Its positions are valid on this machine only. The commit of the run contains what the agent read.
    local: { frame: null },
    where: 'r.endedAt IS NOT NULL',
  },
  {
    kind: 'spaceMessage',
    key: ['messageId'],
    fixed: true,
    refs: { space: 'space', sender: 'entity' },
    local: { seq: 0, run: null },
    counts: { column: 'seq', of: 'space' },
  },
  // The run that wrote a message, once it has ended.
  {
    kind: 'messageRun',
    table: 'spaceMessage',
    only: ['messageId', 'run'],
    unlessNull: 'run',
    key: ['messageId'],
    refs: { run: 'run' },
    where: 'r.run IN (SELECT no FROM run WHERE endedAt IS NOT NULL)',
  },
];

/** The table that holds a kind. */
export const tableOf = ({ kind, table = kind }: RowRule): string => table;

/** Whether the first version of a row fixes a column. Commits have a list of their own. */
export const isFixed = ({ fixed }: RowRule, column: string): boolean => fixed === true || fixed?.includes(column) === true;

/** The rule of a kind; undefined for a kind that is not sent. */
export const findRule = (kind: string): RowRule | undefined => byKind.get(kind);
const byKind = new Map(rules.map((rule) => [rule.kind, rule]));

/** Kinds that belong to tickets: a reviewer may send these. */
export const ticketKinds: ReadonlySet<string> = new Set([
  'ticket',
  'ticketDependency',
  'ticketVersion',
  'ticketEvent',
  'ticketAnswer',
  'experimentVerdict',
]);

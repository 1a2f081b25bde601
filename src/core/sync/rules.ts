import { callFormats } from '../requests/index.js';

/**
 * What a team shares, as rows of tables. A rule says what names a row in every project, and which columns hold row numbers: those are
 * local, and travel as the names of the rows that they mean.
 */
export interface Rule {
  /** The kind of item, which is the name of the table unless `table` names one. */
  readonly kind: string;
  /** The table, where some of its columns travel as a kind of their own. */
  readonly table?: string;
  /** The columns that travel. Without it, all do. */
  readonly only?: readonly string[];
  /** A row with null in this column is sent only where the hub holds the row already. */
  readonly unlessNull?: string;
  /**
   * The columns that name a row in every project. Without one, the digest of the content names it: such rows are only ever added, and a
   * row that is the same in two projects is one.
   */
  readonly key?: readonly string[];
  /** Columns with the number of a row of another table. */
  readonly refs?: Readonly<Record<string, string>>;
  /** Columns with a JSON list of row numbers of another table, or of lists that begin with one. */
  readonly lists?: Readonly<Record<string, string>>;
  /** Columns that stay on this machine, and the value that a new row gets. */
  readonly local?: Readonly<Record<string, null | number | string>>;
  /** The table has no row numbers, so its key names its rows here too. */
  readonly unnumbered?: true;
  /** Which rows `r` travel, as a condition of SQL. */
  readonly where?: string;
  /** The rows are calls, which are put together from several tables. A call never changes once it has left. */
  readonly calls?: true;
  /** The row number is that of a row of another table. */
  readonly numberedBy?: string;
  /** A column that counts the rows of one owner from 1. It stays on this machine: a row that arrives is the last of its owner here. */
  readonly counts?: { readonly column: string; readonly of: string };
}

/**
 * Every kind that travels, each after those that it refers to. Left out is what belongs to one machine (jobs, replicas, runs that have not
 * ended, and the goals, memories, plans, waits and marks of members of a space), what belongs to a file (the calls that it records), and what
 * is derived from other rows (outlines, search, usage).
 */
export const rules: readonly Rule[] = [
  { kind: 'context', key: ['digest'], refs: { parent: 'context', artifact: 'artifact' } },
  { kind: 'contextVersion', refs: { context: 'context' } },
  { kind: 'started', key: ['context'], refs: { context: 'context' }, numberedBy: 'context' },
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
  // The turn that an agent works on. It travels after the turns, because agents and turns refer to each other.
  { kind: 'agentWork', table: 'agent', only: ['agentId', 'turn'], unlessNull: 'turn', key: ['agentId'], refs: { turn: 'agentTurn' } },
  { kind: 'turnInput', key: ['turn'], refs: { turn: 'agentTurn' }, numberedBy: 'turn' },
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
  { kind: 'entity', key: ['entityId'] },
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
    // Its positions are those of this machine. The commit of the run holds what the agent read.
    local: { frame: null },
    where: 'r.endedAt IS NOT NULL',
  },
  {
    kind: 'spaceMessage',
    key: ['messageId'],
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
export const tableOf = ({ kind, table = kind }: Rule): string => table;

/** The rule of a kind; undefined for a kind that does not travel. */
export const ruleOf = (kind: string): Rule | undefined => byKind.get(kind);
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

import { type CommitSeq, canonicalJson, type Json, notFound, picked, toTimestamp } from '../base/index.js';
import { commitAt, entries, findCommit, type ReadChain } from '../chain/index.js';
import type { Entry, Experiment, ExperimentCase, ExperimentResult, ExperimentRow, Outcome, ReplyCheck } from '../contract/index.js';
import { ownRun } from '../requests/index.js';
import { sumOf } from '../turns/index.js';
import type { CheckOutcome } from './checks.js';

/** A saved version of an experiment. */
export interface Definition {
  readonly title: string;
  readonly note: string;
  readonly checks: readonly ReplyCheck[];
  readonly cases: readonly ExperimentCase[];
  readonly removed?: true;
}

export interface StoredExperiment {
  readonly no: number;
  readonly experimentId: string;
  readonly createdAt: number;
  readonly updatedAt: number;
  readonly definition: Definition;
}

const selectExperiments = /* sql */ `
SELECT e.no, e.experimentId, e.createdAt, v.at AS updatedAt, v.definition
  FROM experiment e JOIN experimentVersion v ON v.no = (SELECT MAX(no) FROM experimentVersion WHERE experiment = e.no)
 WHERE e.project = ?`;

type StoredText = Omit<StoredExperiment, 'definition'> & { readonly definition: string };
const fromText = (row: StoredText): StoredExperiment => ({ ...row, definition: JSON.parse(row.definition) as Definition });

/** The experiments that are not removed, most recently saved first. */
export const storedExperiments = (chain: ReadChain): StoredExperiment[] =>
  chain.db
    .all<StoredText>(`${selectExperiments} ORDER BY v.no DESC`, chain.project)
    .map(fromText)
    .filter((row) => !row.definition.removed);

/** @throws NOT_FOUND for an unknown experiment. */
export function storedExperiment(chain: ReadChain, experimentId: string): StoredExperiment {
  const row = chain.db.one<StoredText>(`${selectExperiments} AND e.experimentId = ?`, chain.project, experimentId);
  if (!row) throw notFound(experimentId, `this project has no experiment ${experimentId}`);
  return fromText(row);
}

export interface ResultRow
  extends Readonly<Pick<ExperimentResult, 'resultId' | 'caseId' | 'round' | 'sample' | 'problem' | 'note'>>,
    Readonly<Record<'no' | 'experiment' | 'at', number>>,
    Readonly<Record<'ran' | 'checks', string>> {
  readonly context: CommitSeq | null;
  readonly verdict: 'pass' | 'fail' | null;
}

const selectResults = /* sql */ `
SELECT r.no, r.resultId, r.experiment, r.caseId, r.round, r.sample, r.at, r.ran, r.context, r.checks, r.problem, v.verdict, v.note
  FROM experimentResult r LEFT JOIN experimentVerdict v ON v.no = (SELECT MAX(no) FROM experimentVerdict WHERE result = r.no)
 WHERE r.project = ?`;

/** The results of an experiment: the latest round first, in the order in which they ran. */
export const resultRows = (chain: ReadChain, experiment: number): ResultRow[] =>
  chain.db.all<ResultRow>(`${selectResults} AND r.experiment = ? ORDER BY r.round DESC, r.no`, chain.project, experiment);

/** @throws NOT_FOUND for an unknown result. */
export function resultRow(chain: ReadChain, resultId: string): ResultRow {
  const row = chain.db.one<ResultRow>(`${selectResults} AND r.resultId = ?`, chain.project, resultId);
  if (!row) throw notFound(resultId, `this project has no result ${resultId}`);
  return row;
}

/** The outcome of a reply: a person's verdict overrides the checks. Without either it is unjudged. */
export function outcomeOf({ problem, verdict }: Pick<ResultRow, 'problem' | 'verdict'>, checks: readonly CheckOutcome[]): Outcome {
  if (verdict) return verdict;
  if (problem !== null) return 'problem';
  if (!checks.length) return 'unjudged';
  return checks.every((check) => check.passed) ? 'pass' : 'fail';
}

const headLength = 200;

/** A result as the contract has it. */
export function toResult(chain: ReadChain, row: ResultRow): ExperimentResult {
  const ran = JSON.parse(row.ran) as ExperimentCase;
  const checks = JSON.parse(row.checks) as CheckOutcome[];
  const commit = row.context === null ? undefined : commitAt(chain, row.context);
  const own = commit && ownRun(chain, commit.id);
  const calls = own?.calls ?? [];
  const isAsked = ran.provider !== 'recorded';
  return {
    ...picked(row, 'resultId', 'caseId', 'round', 'sample'),
    at: toTimestamp(row.at),
    ...picked(ran, 'title', 'provider'),
    model: (isAsked ? own?.model : undefined) ?? ran.model ?? null,
    settings: settingsText(ran),
    edits: editsText(ran),
    turnId: ran.turnId,
    commit: commit?.id ?? null,
    head: commit ? replyHead(replyOf(chain, row)) : '',
    tokens: { input: sumOf(calls.map((call) => call.tokens.input)), output: sumOf(calls.map((call) => call.tokens.output)) },
    cost: sumOf(calls.map((call) => call.cost)),
    ms: isAsked && calls.length ? sumOf(calls.map((call) => call.ms)) : null,
    outcome: outcomeOf(row, checks),
    judgedBy: row.verdict ? 'person' : checks.length && row.problem === null ? 'checks' : null,
    note: row.note,
    checks,
    problem: row.problem,
  };
}

/** The entries of a reply. Empty for a case that failed. */
export function replyOf(chain: ReadChain, row: Pick<ResultRow, 'context'>): Entry[] {
  if (row.context === null) return [];
  const { id } = commitAt(chain, row.context);
  return entries(chain, { id, stop: id }).entries;
}

function replyHead(reply: readonly Entry[]): string {
  const said = reply.findLast((entry) => entry.kind === 'text' && entry.role === 'assistant')?.text;
  return (said ?? reply.find((entry) => entry.kind === 'tool_call')?.toolName ?? '').trim().slice(0, headLength);
}

const settingsText = ({ request }: ExperimentCase): string =>
  Object.entries(request?.settings ?? {})
    .map(([name, value]) => `${name} ${typeof value === 'string' ? value : canonicalJson((value ?? null) as Json)}`)
    .join(', ');

const editNames = { drop: 'dropped', replace: 'changed', insert: 'inserted', append: 'appended' } as const;

function editsText({ edits, request }: ExperimentCase): string {
  const counted = Object.entries(Object.groupBy(edits ?? [], (edit) => edit.op)).map(
    ([op, all]) => `${all.length} ${all.length === 1 ? 'entry' : 'entries'} ${editNames[op as keyof typeof editNames]}`,
  );
  return [...counted, ...(request?.system ? ['system prompt'] : []), ...(request?.tools ? ['tools'] : [])].join(', ');
}

const about = ({ experimentId, createdAt, updatedAt, definition: { title, note } }: StoredExperiment) => ({
  experimentId,
  title,
  note,
  createdAt: toTimestamp(createdAt),
  updatedAt: toTimestamp(updatedAt),
});

/** An experiment with its results, as the contract has it. */
export const toExperiment = (chain: ReadChain, stored: StoredExperiment): Experiment => ({
  ...about(stored),
  removed: stored.definition.removed === true,
  checks: [...stored.definition.checks],
  cases: stored.definition.cases.map((each) => ({ ...each, turnId: findCommit(chain, each.turnId, 'turnId').id })),
  results: resultRows(chain, stored.no).map((row) => toResult(chain, row)),
});

/** An experiment as a row of the list, with its counts. */
export function toRow(chain: ReadChain, stored: StoredExperiment): ExperimentRow {
  const found = resultRows(chain, stored.no).map((row) => outcomeOf(row, JSON.parse(row.checks) as CheckOutcome[]));
  return {
    ...about(stored),
    cases: stored.definition.cases.length,
    results: found.length,
    passed: found.filter((one) => one === 'pass').length,
    failed: found.filter((one) => one === 'fail' || one === 'problem').length,
  };
}

/** The row of the newest version of an experiment; undefined if there is no such experiment. */
export const newestVersion = ({ db, project }: ReadChain, experimentId: string): number | undefined =>
  db.value<number | null>(
    'SELECT MAX(v.no) FROM experimentVersion v JOIN experiment e ON e.no = v.experiment WHERE e.project = ? AND e.experimentId = ?',
    [project, experimentId],
  ) ?? undefined;

import { badRequest, canonicalJson, type Json, notFound } from '../base/index.js';
import { findCommit, type ReadChain, type WriteChain } from '../chain/index.js';
import type { Experiment, ExperimentCase, ExperimentPart, ExperimentResult, ExperimentRow, InputOf } from '../contract/index.js';
import { type ModelProvider, rerunTurn } from '../turns/index.js';
import { checkReply, refuseBadChecks } from './checks.js';
import {
  type Definition,
  replyOf,
  resultRow,
  resultRows,
  type StoredExperiment,
  storedExperiment,
  storedExperiments,
  toExperiment,
  toResult,
  toRow,
} from './rows.js';

/**
 * Creates an experiment, or saves a new version of one. Its results stay, and the new checks are applied to them.
 * @throws BAD_REQUEST for an invalid check, NOT_FOUND for an unknown turn or experiment.
 */
export function saveExperiment(chain: WriteChain, input: InputOf<'experiment.save'>): Experiment {
  refuseBadChecks(input.checks ?? []);
  const cases = input.cases.map(
    (each): ExperimentCase => ({ ...each, caseId: each.caseId ?? chain.newId(), turnId: findCommit(chain, each.turnId, 'turnId').id }),
  );
  const twice = cases.find((each, at) => cases.findIndex((other) => other.caseId === each.caseId) !== at);
  if (twice) throw badRequest('cases', `two cases have the id ${twice.caseId}`);
  return chain.db.transaction(() => {
    const experimentId = input.experimentId ?? chain.newId();
    const isNew = input.experimentId === undefined;
    const { no } = isNew ? newExperiment(chain, experimentId) : storedExperiment(chain, experimentId);
    const definition: Definition = { title: input.title, note: input.note ?? '', checks: input.checks ?? [], cases };
    addVersion(chain, no, definition);
    for (const row of resultRows(chain, no).filter(({ problem }) => problem === null)) {
      const outcomes = JSON.stringify(checkReply(replyOf(chain, row), definition.checks));
      chain.db.run('UPDATE experimentResult SET checks = ? WHERE no = ?', outcomes, row.no);
    }
    return toExperiment(chain, storedExperiment(chain, experimentId));
  });
}

const newExperiment = (chain: WriteChain, experimentId: string) => ({
  no: chain.db.insert('experiment', { project: chain.project, experimentId, createdAt: chain.clock() }).rowId,
});

const addVersion = (chain: WriteChain, experiment: number, definition: Definition): void =>
  void chain.db.insert('experimentVersion', { experiment, at: chain.clock(), definition: JSON.stringify(definition) });

/** The experiments that are not removed, most recently saved first. */
export const listExperiments = (chain: ReadChain): ExperimentRow[] => storedExperiments(chain).map((stored) => toRow(chain, stored));

/** @throws NOT_FOUND for an unknown experiment. */
export const getExperiment = (chain: ReadChain, experimentId: string): Experiment => toExperiment(chain, storedExperiment(chain, experimentId));

/** Removes an experiment from the list, by a new version. Saving it again brings it back. @throws NOT_FOUND */
export function removeExperiment(chain: WriteChain, experimentId: string): void {
  const { no, definition } = storedExperiment(chain, experimentId);
  addVersion(chain, no, { ...definition, removed: true });
}

/** Records a person's verdict on a reply. Earlier verdicts stay recorded. @throws NOT_FOUND */
export function judgeResult(chain: WriteChain, input: InputOf<'experiment.judge'>): ExperimentResult {
  const row = resultRow(chain, input.resultId);
  const { by, verdict, note = row.note } = input;
  chain.db.insert('experimentVerdict', { result: row.no, at: chain.clock(), by, verdict, note });
  return toResult(chain, resultRow(chain, input.resultId));
}

/**
 * Runs the cases one after the other, as `turn.rerun` does: every reply is a branch and a row. A failed case is a row with its
 * problem. When stopped, it keeps the rows that are complete. With `onlyMissing`, replies to the same case are not made again.
 * @throws NOT_FOUND for an unknown experiment; BAD_REQUEST for a case that it does not have.
 */
export async function* runExperiment(
  chain: WriteChain,
  input: { experimentId: string; caseIds?: readonly string[] | undefined; onlyMissing?: boolean | undefined },
  providers: readonly ModelProvider[],
  signal?: AbortSignal,
): AsyncGenerator<ExperimentPart, { round: number; results: ExperimentResult[] }> {
  const stored = storedExperiment(chain, input.experimentId);
  const { cases, checks } = stored.definition;
  const unknown = input.caseIds?.find((id) => !cases.some((each) => each.caseId === id));
  if (unknown !== undefined) throw badRequest('caseIds', `the experiment has no case ${unknown}`);
  const wanted = input.caseIds ? cases.filter((each) => input.caseIds?.includes(each.caseId)) : cases;
  if (!wanted.length) throw badRequest('cases', 'the experiment has no cases yet: rerun a turn and keep it as a case');
  const round = 1 + (chain.db.value<number | null>('SELECT MAX(round) FROM experimentResult WHERE experiment = ?', stored.no) ?? 0);
  const results: ExperimentResult[] = [];
  const keep = (ran: ExperimentCase, sample: number, outcome: { commit?: string; problem?: string }): void => {
    const resultId = chain.newId();
    const context = outcome.commit === undefined ? null : findCommit(chain, outcome.commit as ExperimentResult['turnId']).seq;
    chain.db.insert('experimentResult', {
      project: chain.project,
      resultId,
      experiment: stored.no,
      caseId: ran.caseId,
      round,
      sample,
      at: chain.clock(),
      ran: JSON.stringify(ran),
      context,
      problem: outcome.problem,
      checks: JSON.stringify(context === null ? [] : checkReply(replyOf(chain, { context }), checks)),
    });
    results.push(toResult(chain, resultRow(chain, resultId)));
  };
  for (const each of wanted) {
    if (signal?.aborted) break;
    const seen = new Set<number>();
    const { caseId, title: _, ...asked } = each;
    const samples = input.onlyMissing ? missingOf(chain, stored.no, each) : asked.samples;
    if (samples === 0) continue;
    const made = (sample: number, commit: string): void => {
      seen.add(sample);
      keep(each, sample, { commit });
    };
    try {
      for await (const part of rerunTurn(chain, { ...asked, samples, made }, providers, signal)) {
        if (part.kind === 'failed') {
          seen.add(part.sample);
          keep(each, part.sample, { problem: part.delta });
        }
        yield { caseId, part };
      }
    } catch (error) {
      // Failed samples have their own rows. Without any row, the case did not run at all.
      if (!seen.size) keep(each, 0, { problem: error instanceof Error ? error.message : String(error) });
    }
  }
  return { round, results };
}

/** The question of a case as a string, without its title and number of samples. */
const askedBy = ({ title: _, samples: __, ...asked }: ExperimentCase): string => canonicalJson(asked as unknown as Json);

function missingOf(chain: ReadChain, experiment: number, each: ExperimentCase): number {
  const same = resultRows(chain, experiment).filter(
    ({ caseId, problem, ran }) => caseId === each.caseId && problem === null && askedBy(JSON.parse(ran) as ExperimentCase) === askedBy(each),
  );
  return Math.max(0, (each.samples ?? 1) - same.length);
}

/** The cases of an experiment, the number of replies that each lacks, and a key that changes with what it asks. */
const statesOf = (chain: ReadChain, { no, experimentId, definition }: StoredExperiment) =>
  definition.cases.map((of) => ({ experimentId, of, missing: missingOf(chain, no, of), key: `${of.samples ?? 1} ${askedBy(of)}` }));

/** The cases of the experiments with this id or title that lack replies. */
export const missingCases = (chain: ReadChain, name: string) =>
  storedExperiments(chain)
    .filter(({ experimentId, definition }) => experimentId === name || definition.title === name)
    .flatMap((stored) => statesOf(chain, stored))
    .filter(({ missing }) => missing > 0);

/** @throws NOT_FOUND for an unknown experiment or case */
export function caseNamed(chain: ReadChain, experimentId: string, caseId: string) {
  const found = statesOf(chain, storedExperiment(chain, experimentId)).find(({ of }) => of.caseId === caseId);
  if (!found) throw notFound(caseId, `The experiment ${experimentId} has no case ${caseId}.`);
  return found;
}

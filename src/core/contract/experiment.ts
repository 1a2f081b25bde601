import { eventIterator } from '@orpc/contract';
import { contextId, count, damaged, flag, line, list, matching, name, procedure, timestamp, upTo } from './scalars.js';
import { replyPart, rerunFields } from './turn.js';
import * as z from './z.js';

const words = z.string().min(1).max(10_000);
const absent = flag('Negate the check.');

/** A condition on a reply. A check is no command, because Stemma executes nothing that a transcript contains (P5). */
export const replyCheck = z.discriminatedUnion('kind', [
  z.strictObject({
    kind: z.literal('contains').describe('The reply contains a text.'),
    text: words.describe('The text.'),
    ignoreCase: flag('Ignore case.'),
    absent,
  }),
  z.strictObject({
    kind: z.literal('matches').describe('The reply matches a regular expression. The check fails if matching takes too long.'),
    pattern: z.string().min(1).max(1_000).describe('A JavaScript regular expression.'),
    flags: matching(/^[imsu]{0,4}$/, 'flags are i, m, s and u')
      .optional()
      .describe('The flags of the expression: i, m, s and u.'),
    absent,
  }),
  z.strictObject({
    kind: z.literal('json').describe('The reply, or its only fenced block, is JSON that matches a schema.'),
    schema: z.record(line, z.unknown()).describe('A JSON Schema without patterns.'),
  }),
  z.strictObject({
    kind: z.literal('calls').describe('The reply calls a tool.'),
    toolName: name.describe('The name of the tool.'),
    with: z.record(line, z.unknown()).optional().describe('Arguments that the call must contain.'),
    absent,
  }),
  z.strictObject({
    kind: z.literal('short').describe('The reply is short.'),
    tokens: upTo(100_000_000).describe('The most tokens of the reply.'),
  }),
]);
export type ReplyCheck = z.output<typeof replyCheck>;

const caseFields = { title: z.string().max(400).describe('The title of the case.'), ...rerunFields };

/** How to run a turn again. A case runs unattended, so it ends at a tool call without a recorded result. */
export const experimentCase = z.object({ caseId: name, ...caseFields });
export type ExperimentCase = z.output<typeof experimentCase>;

export const outcomes = ['pass', 'fail', 'unjudged', 'problem'] as const;
export type Outcome = (typeof outcomes)[number];

export const experimentResult = z.object({
  damaged,
  resultId: name,
  caseId: name,
  /** The number of this run of the experiment, from 1. */
  round: count,
  sample: count,
  at: timestamp,
  title: z.string(),
  provider: name,
  model: z.string().nullable(),
  /** The settings and edits as a sentence; empty if there are none. */
  settings: z.string(),
  edits: z.string(),
  turnId: contextId,
  commit: contextId.nullable(),
  /** The beginning of the reply. */
  head: z.string(),
  tokens: z.object({ input: count.nullable(), output: count.nullable() }),
  cost: z.number().nullable(),
  ms: count.nullable(),
  outcome: z.enum(outcomes),
  /** Who judged it. A person takes precedence over the checks. */
  judgedBy: z.enum(['person', 'checks']).nullable(),
  note: z.string().nullable(),
  checks: z.array(z.object({ words: z.string(), passed: z.boolean(), why: z.string().optional() })),
  problem: z.string().nullable(),
});
export type ExperimentResult = z.output<typeof experimentResult>;

const about = {
  experimentId: name,
  title: z.string().min(1).max(400),
  note: z.string().max(100_000),
  createdAt: timestamp,
  updatedAt: timestamp,
};
export const experimentRow = z.object({ ...about, damaged, cases: count, results: count, passed: count, failed: count });
export type ExperimentRow = z.output<typeof experimentRow>;

/** An experiment. Results are ordered by round, newest first, then by case and sample. */
export const experiment = z.object({
  ...about,
  damaged,
  /** True if it was removed from the list. */
  removed: z.boolean(),
  checks: z.array(replyCheck),
  cases: z.array(experimentCase),
  results: z.array(experimentResult),
});
export type Experiment = z.output<typeof experiment>;

export const experimentPart = z.object({ caseId: name, part: replyPart });
export type ExperimentPart = z.output<typeof experimentPart>;

const verdict = z.enum(['pass', 'fail']).nullable();

const experimentId = name.describe('The id of the experiment.');

export const experimentContract = {
  save: procedure('Creates an experiment or changes one. Its results stay and are judged by the new checks.', {
    experimentId: name.optional().describe('The experiment to change. Without it, a new one is created.'),
    title: about.title.describe('The title.'),
    note: about.note.optional().describe('What the experiment is about.'),
    checks: list(replyCheck, 100).optional().describe('Conditions that every reply must meet.'),
    cases: list(
      z.strictObject({ caseId: name.optional().describe('The case to keep. Without it, the case is new.'), ...caseFields }),
      1_000,
    ).describe('The cases, in place of the present ones.'),
  }).returns(experiment),
  list: procedure('Lists the experiments.').returns(z.array(experimentRow)),
  get: procedure('Returns an experiment with its cases and results.', { experimentId }).returns(experiment),
  remove: procedure('Removes an experiment from the list. Saving it again restores it. The branches of its replies stay.', { experimentId }).returns(
    {},
  ),
  run: procedure(
    'Runs every case, or the named cases, one after the other. Each reply becomes a branch and a row of the results. A failed case has the error in its row, and the next case runs. Ending the stream ends the run; complete replies stay.',
    { experimentId, caseIds: list(name, 1_000).min(1).optional().describe('The cases to run. The default is all.') },
  ).returns(eventIterator(experimentPart, z.object({ round: count, results: z.array(experimentResult) }))),
  judge: procedure("Records a person's verdict on a reply, which takes precedence over the checks. Null removes it.", {
    resultId: name.describe('The result to judge.'),
    verdict: verdict.describe('The verdict, or null to remove it.'),
    note: z.string().max(100_000).optional().describe('The reason.'),
    by: name.optional().describe('Who judges.'),
  }).returns(experimentResult),
  export: procedure('Exports the results as a table for people or for spreadsheets: as text, or to a new file.', {
    experimentId,
    format: z.enum(['csv', 'markdown']).describe('The format of the table.'),
    path: line.min(1).optional().describe('The new file to write. It must not exist.'),
  }).returns({ path: z.string().optional(), text: z.string().optional(), bytes: count }),
};

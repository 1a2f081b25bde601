import { eventIterator, oc } from '@orpc/contract';
import { z } from 'zod';
import { contextId, count, name, timestamp } from './scalars.js';
import { replyPart, rerunFields } from './turn.js';

const words = z.string().min(1).max(10_000);

/**
 * What a reply must be, said and never run: nothing of a transcript is executed, so a check is no command. Text is what the model said;
 * `absent` turns a check around.
 */
export const replyCheck = z.discriminatedUnion('kind', [
  z.strictObject({ kind: z.literal('contains'), text: words, ignoreCase: z.boolean().optional(), absent: z.boolean().optional() }),
  /** A regular expression of JavaScript; one that takes too long over a reply fails. */
  z.strictObject({
    kind: z.literal('matches'),
    pattern: z.string().min(1).max(1_000),
    flags: z
      .string()
      .regex(/^[imsu]{0,4}$/, 'flags are i, m, s and u')
      .optional(),
    absent: z.boolean().optional(),
  }),
  /** The text, or the one fenced block in it, is JSON of this shape: a JSON Schema without patterns. */
  z.strictObject({ kind: z.literal('json'), schema: z.record(z.string(), z.unknown()) }),
  /** A tool is called, with at least these arguments. */
  z.strictObject({
    kind: z.literal('calls'),
    toolName: name,
    with: z.record(z.string(), z.unknown()).optional(),
    absent: z.boolean().optional(),
  }),
  /** The reply has at most so many tokens. */
  z.strictObject({ kind: z.literal('short'), tokens: z.number().int().min(1).max(100_000_000) }),
]);
export type ReplyCheck = z.output<typeof replyCheck>;

const caseFields = { title: z.string().max(400), ...rerunFields };

/** A turn, run again in one way: who is asked, and what is other than it was. Nobody sits beside it: at a call without an answer it ends. */
export const experimentCase = z.object({ caseId: name, ...caseFields });
export type ExperimentCase = z.output<typeof experimentCase>;

export const outcomes = ['pass', 'fail', 'unjudged', 'problem'] as const;
export type Outcome = (typeof outcomes)[number];

export const experimentResult = z.object({
  resultId: name,
  caseId: name,
  /** How often the experiment had been run, this time included. */
  round: count,
  sample: count,
  at: timestamp,
  title: z.string(),
  provider: name,
  model: z.string().nullable(),
  /** Settings and edits in words; empty where there are none. */
  settings: z.string(),
  edits: z.string(),
  turnId: contextId,
  commit: contextId.nullable(),
  /** The beginning of what was said. */
  head: z.string(),
  tokens: z.object({ input: count.nullable(), output: count.nullable() }),
  cost: z.number().nullable(),
  ms: count.nullable(),
  outcome: z.enum(outcomes),
  /** Who says so: a person goes before the checks. */
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
export const experimentRow = z.object({ ...about, cases: count, results: count, passed: count, failed: count });
export type ExperimentRow = z.output<typeof experimentRow>;

/** Results the newest round first, then by case and sample. */
export const experiment = z.object({
  ...about,
  /** It was taken from the list. */
  removed: z.boolean(),
  checks: z.array(replyCheck),
  cases: z.array(experimentCase),
  results: z.array(experimentResult),
});
export type Experiment = z.output<typeof experiment>;

export const experimentPart = z.object({ caseId: name, part: replyPart });
export type ExperimentPart = z.output<typeof experimentPart>;

const verdict = z.enum(['pass', 'fail']).nullable();

export const experimentContract = {
  /** Makes an experiment, or saves it anew: results stay, and are held against the checks as they are then. */
  save: oc
    .input(
      z.strictObject({
        experimentId: name.optional(),
        title: about.title,
        note: about.note.optional(),
        checks: z.array(replyCheck).max(100).optional(),
        /** A case without an id is a new one. */
        cases: z.array(z.strictObject({ caseId: name.optional(), ...caseFields })).max(1_000),
      }),
    )
    .output(experiment),
  list: oc.input(z.object({})).output(z.array(experimentRow)),
  get: oc.input(z.object({ experimentId: name })).output(experiment),
  /** Takes it from the list; saving it again brings it back. The branches of its replies stay in any case. */
  remove: oc.input(z.object({ experimentId: name })).output(z.object({})),
  /**
   * Runs every case, or those that are named, one after the other: each reply is a branch and a row of the table. A case that fails
   * says so in its row, and the others go on. Ending the stream ends the run; whole replies stay.
   */
  run: oc
    .input(z.object({ experimentId: name, caseIds: z.array(name).min(1).max(1_000).optional() }))
    .output(eventIterator(experimentPart, z.object({ round: count, results: z.array(experimentResult) }))),
  /** What a person says of a reply; null takes it back. */
  judge: oc
    .input(z.strictObject({ resultId: name, verdict, note: z.string().max(100_000).optional(), by: name.optional() }))
    .output(experimentResult),
  /** The table for people and for spreadsheets: as text, or written to a path where nothing is yet. */
  export: oc
    .input(z.object({ experimentId: name, format: z.enum(['csv', 'markdown']), path: z.string().min(1).optional() }))
    .output(z.object({ path: z.string().optional(), text: z.string().optional(), bytes: count })),
};

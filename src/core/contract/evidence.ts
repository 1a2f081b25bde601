import { count, flag, line, list, matching, name, procedure, timestamp } from './scalars.js';
import * as z from './z.js';

const maxKey = 20_000;

/** What a check of a pack found. */
export const verified = z.object({
  ok: z.boolean(),
  /** The Merkle root of the manifest; null if it cannot be read. */
  digest: z.string().nullable(),
  /** The public key of the signature, and whether it holds; null for a pack without one. */
  signature: z.object({ publicKey: z.string(), valid: z.boolean() }).nullable(),
  createdAt: timestamp.nullable(),
  items: z.array(z.object({ kind: z.string(), count })),
  problems: z.array(z.object({ path: z.string(), message: z.string() })),
});
export type Verified = z.output<typeof verified>;

export const evidenceContract = {
  pack: procedure(
    'Writes a file that proves what contexts, calls and tickets held: each commit with its history and objects, requests with digests and proofs, tickets and sources, under a manifest with a Merkle root. Never overwrites a file.',
    {
      ids: list(name, 1_000).min(1).describe('Commits, calls (`request.list`), tickets and sources (`source.list`), by their ids.'),
      path: line.min(1).describe('The new file. It must not exist.'),
      key: z.string().max(maxKey).optional().describe('An Ed25519 private key in PEM, or the path of its file: it signs the manifest.'),
    },
  ).returns({ path: z.string(), bytes: count, digest: z.string(), items: count, signed: z.boolean() }),
  verify: procedure('Checks a pack of evidence. It needs nothing but the file.', { path: line.min(1).describe('The file.') }).returns(verified),
};

const span = z.object({
  /** The first and the last line, from 1. */
  start: count,
  end: count,
  turnId: z.string().nullable(),
  sessionId: z.string().nullable(),
  basis: z.enum(['replayed', 'unknown']),
  /** The agent, and the time of the edit. */
  agent: z.string().optional(),
  model: z.string().optional(),
  at: timestamp.optional(),
});
export type BlameSpan = z.output<typeof span>;

const gitCommit = matching(/^[0-9a-f]{7,64}$/i, 'a commit of git is 7 to 64 hex digits', 64);

const blamed = z.strictObject({
  path: line.min(1).describe('The file, relative to the repository or absolute.'),
  repository: line.min(1).optional().describe('The folder of the repository. The default is the one that contains the file.'),
});

export const blameContract = {
  file: procedure(
    'Names the turn that wrote each line of a file, where the edits of recorded sessions, carried out again, lead to the lines that the file has now. Everything else is unknown.',
    blamed,
  ).returns(z.array(span)),
  trace: procedure('Returns what `blame.file` finds as an Agent Trace record, which other tools read.', blamed).returns({
    record: z.record(z.string(), z.unknown()),
  }),
  notes: procedure(
    'Returns the note of a commit of git with what `blame.trace` returns of a file, beside the files that the note has. With `write`, git writes it to refs/notes/stemma.',
    blamed.extend({
      commit: gitCommit.optional().describe('The commit that has the file as it is. The default is the one that is checked out.'),
      write: flag('Lets git write the note. Without it, nothing is written.'),
    }),
  ).returns({
    ref: z.string(),
    repository: z.string(),
    commit: z.string(),
    /** Null if no line of the file has a known turn. */
    note: z.string().nullable(),
    /** The note that the commit has. */
    before: z.string().nullable(),
    written: z.boolean(),
  }),
  commit: procedure('Finds the sessions that made a commit of git, where its message or the tool calls of a session say so.', {
    commit: gitCommit.describe('The commit of git.'),
    message: z.string().max(100_000).optional().describe('Its message, whose trailers may name a session.'),
  }).returns(
    z.array(
      z.object({
        sessionId: z.string(),
        turnId: z.string().nullable(),
        basis: z.enum(['trailer', 'tool']),
        at: timestamp.nullable(),
      }),
    ),
  ),
};

import { badRequest, type ContextId } from '../base/index.js';
import { type Chain, type ContextRow, commitOf, fork } from '../chain/index.js';
import type { Edit, Entry, EntryDraft, ReplyPart } from '../contract/index.js';
import { type ModelProvider, providerOf } from './providers.js';
import { asked, recordedReplies, type Said } from './reply.js';
import { deltaEntries, ownInput } from './turns.js';

export interface Rerun {
  readonly turnId: ContextId;
  readonly provider: string;
  readonly model?: string | undefined;
  readonly edits?: readonly Edit[] | undefined;
  readonly samples?: number | undefined;
}

export interface Reran {
  /** One reply each, as a branch that stands on `base`. */
  readonly commits: ContextId[];
  /** The input of the turn, with the edits: what the replies answer. */
  readonly base: ContextId;
}

/**
 * Runs a turn again: its input, edited, is asked of a provider, and each reply becomes a branch. Tool calls that the
 * turn made as well are answered from its recording; at any other the run stops with the call open, for a person to answer.
 * @throws BAD_REQUEST for an unknown provider, or for edits that are asked of the recording.
 */
export async function* rerunTurn(
  chain: Chain,
  input: Rerun,
  providers: readonly ModelProvider[],
  signal?: AbortSignal,
): AsyncGenerator<ReplyPart, Reran> {
  const row = commitOf(chain, input.turnId, 'turnId');
  const own = deltaEntries(chain, row);
  const given = ownInput(own);
  const provider = providerOf(providers, input.provider);
  if (!provider && input.edits?.length)
    throw badRequest('edits', 'the recording answers what was asked, not what was changed: choose a model to ask');
  const base = baseOf(chain, row, given, input.edits ?? []);
  const recording = own.slice(given.length);
  const commits: ContextId[] = [];
  for (let sample = 0; sample < (input.samples ?? 1); sample++) {
    const said = (part: Said): ReplyPart => ({ sample, ...part });
    const replies: EntryDraft[] = [];
    const question = { row, base, model: input.model, isEdited: Boolean(input.edits?.length) };
    yield* provider ? asked(chain, { ...question, recording, provider }, replies, said, signal) : recordedReplies(recording, replies, said, signal);
    if (replies.length) commits.push(answerOn(chain, base, replies, `${input.provider}${input.model ? ` (${input.model})` : ''}`));
  }
  return { commits, base: base.id };
}

/** The input of the turn as a commit: the turn cut before its reply, with the edits; or what it stands on, where it had no input of its own. */
function baseOf(chain: Chain, row: ContextRow, given: readonly Entry[], edits: readonly Edit[]): ContextRow {
  const last = given.at(-1);
  if (!last && row.parentId === null) throw badRequest('turnId', `${row.id} begins with a reply: there is nothing that it answers`);
  const made = last ? fork(chain, { id: row.id, at: last.key, edits }) : fork(chain, { id: row.parentId, edits });
  return commitOf(chain, made.id);
}

const answerOn = (chain: Chain, base: ContextRow, replies: readonly EntryDraft[], who: string): ContextId =>
  fork(chain, { id: base.id, edits: replies.map((entry) => ({ op: 'append' as const, entry })), summary: `Run again: ${who}` }).id;

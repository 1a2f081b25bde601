import type { ContextId } from '../base/index.js';
import type { WriteChain } from '../chain/index.js';
import { untrusted } from '../composer/index.js';
import { type AgentTurn, z } from '../contract/index.js';

/** Who calls a tool. A tool acts only in this name, regardless of its arguments. */
export interface Actor {
  /** An agent, an entity of a space, or a person of a ticket, by its id or name. */
  readonly who: string;
  /** The run in a space that the work belongs to. */
  readonly runId: string | null;
  /** Whether the profile permits to read cards and boxes of others. */
  readonly readsProject: boolean;
  /** The newest commit of the work, which is recorded with everything that the actor writes. */
  context(): ContextId | undefined;
}

/** The turns that a tool dispatched and that the job carries out. `wait`: the answers of the turns become the tool's result. */
export interface Handed {
  readonly turns: readonly AgentTurn[];
  readonly wait: boolean;
  readonly batchId?: string | undefined;
}

export interface Done {
  readonly result?: unknown;
  readonly handed?: Handed | undefined;
  /** True if the run now waits for an answer. The conversation then pauses. */
  readonly pauses?: boolean | undefined;
}

export interface Tool {
  readonly name: string;
  readonly description: string;
  readonly schema: z.ZodType;
  /** True if the result can quote what other people and agents wrote. It then begins with `untrusted`. */
  readonly quotes: boolean;
  run(chain: WriteChain, actor: Actor, input: unknown): Done;
}

/** Tools whose results hold only ids and states that Stemma makes. */
const quotesNobody: ReadonlySet<string> = new Set([
  ...['delegate_async', 'launch_principal', 'write_cards', 'create_box', 'append_to_box'],
  ...['send_message', 'ticket_discuss'],
]);

/** A result that quotes others, after the note. */
export const quoted = (result: unknown): unknown => {
  if (typeof result === 'string') return `${untrusted}\n\n${result}`;
  if (Array.isArray(result)) return { note: untrusted, results: result };
  return typeof result === 'object' && result !== null ? { note: untrusted, ...result } : result;
};

/** Defines a tool. */
export const tool = <Input>(
  name: string,
  description: string,
  schema: z.ZodType<Input>,
  run: (chain: WriteChain, actor: Actor, input: Input) => Done,
): Tool => ({ name, description, schema, quotes: !quotesNobody.has(name), run: (chain, actor, input) => run(chain, actor, input as Input) });

/** The schema of a text in the input of a tool. */
export const text = (what: string) => z.string().min(1).max(1_000_000).describe(what);

/** The most cards, entries, messages or hits that one result holds. */
export const maxResults = 50;

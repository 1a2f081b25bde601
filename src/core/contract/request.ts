import { oc } from '@orpc/contract';
import { z } from 'zod';
import { diffLine, fieldChange, hunk, stop } from './context.js';
import { causes } from './kinds.js';
import { contextId, contextPrefix, count, entryKey, name, timestamp } from './scalars.js';

export const providers = ['anthropic', 'openai', 'gemini'] as const;
/** The kinds of bodies that calls have: OpenAI has two, chat completions and responses. */
export const wires = ['anthropic', 'openai', 'responses', 'gemini'] as const;
export type Wire = (typeof wires)[number];
export const proofs = ['digest', 'recorded', 'rebuilt'] as const;
/**
 * Who knows what a call was: a recorder on the wire, a runtime in records of its own or in its conversation, Stemma where it
 * called itself, or nobody: then its entries tell.
 */
export const callSources = ['wire', 'claude-code', 'codex', 'gemini', 'pi', 'opencode', 'langgraph', 'stemma', 'entries'] as const;
export type CallSource = (typeof callSources)[number];
export type Provider = (typeof providers)[number];
/** What the body of a call rests on: see `request.get`. */
export type Proof = (typeof proofs)[number];

/** Tokens as the provider counted them; null is "not recorded". */
export const requestTokens = z.object({
  input: count.nullable(),
  output: count.nullable(),
  cacheRead: count.nullable(),
  cacheWrite: count.nullable(),
});
export type RequestTokens = z.output<typeof requestTokens>;

/** One call to a model. */
export const requestRow = z.object({
  requestId: name,
  at: timestamp,
  /** The commit that holds the reply, or, where none came, what the call followed; null where no commit holds either. */
  commit: contextId.nullable(),
  /** The first entry of the reply; null where none came. */
  replyKey: entryKey.nullable(),
  /** The subagent that called. */
  agentId: z.string().optional(),
  sessionId: z.string().optional(),
  source: z.enum(callSources),
  model: z.string().nullable(),
  messageCount: count,
  tokens: requestTokens,
  proof: z.enum(proofs),
  /** Why a recorded call is not proved. */
  problem: z.string().optional(),
});
export type RequestRow = z.output<typeof requestRow>;

export const request = z.object({
  requestId: name,
  provider: z.enum(providers),
  /** The body as it went over the wire, without what `missing` names; a message that cannot be had is null in its place. */
  body: z.record(z.string(), z.unknown()),
  /** Headers that shape the reply, such as the names of beta features. Never a key. */
  headers: z.record(z.string(), z.string()),
  /** SHA-256 of the rebuilt body as the runtime counts it, in hex; null where parts are missing that it covers. */
  digest: z.string().nullable(),
  recordedDigest: z.string().nullable(),
  /**
   * `digest`: rebuilt, and equal to the digest that the runtime wrote down. `recorded`: all that `missing` does not name was
   * written down by the runtime. `rebuilt`: put together from entries by the runtime's rules.
   */
  proof: z.enum(proofs),
  missing: z.array(z.string()),
  problem: z.string().optional(),
});
export type Request = z.output<typeof request>;

export const requestDiff = z.object({
  system: z.object({ same: z.boolean(), changes: z.array(fieldChange) }),
  /** Tools by name; `reordered` where the same tools stand in another order, which a provider's cache does not forgive. */
  tools: z.object({ same: z.boolean(), reordered: z.boolean(), changes: z.array(fieldChange) }),
  params: z.object({ same: z.boolean(), changes: z.array(fieldChange) }),
  /** Hunks are of messages, by their content without cache marks. */
  messages: z.object({ same: z.boolean(), a: count, b: count, hunks: z.array(hunk) }),
  /** What a provider's cache can use again of `a` for `b`: its order is tools, system, messages. Tokens are approximate. */
  cache: z.object({
    prefix: z.object({ messages: count, tokens: count }),
    /** The first place at which `b` is not what `a` was; null where `b` only goes on. */
    brokenAt: z.string().nullable(),
  }),
});
export type RequestDiff = z.output<typeof requestDiff>;

/** One call of a series. */
export const requestPoint = z.object({
  requestId: name,
  at: timestamp,
  agentId: z.string().optional(),
  model: z.string().nullable(),
  messageCount: count,
  /** Tokens that the provider counted as read, cached or not; null where not recorded. */
  counted: count.nullable(),
  output: count.nullable(),
  /** Approximate tokens of the body by cause. */
  causes: z.record(z.enum(causes), count),
});
export type RequestPoint = z.output<typeof requestPoint>;

/** A system prompt or a set of tools that calls of the project were sent with. */
export const requestPartRow = z.object({
  /** Of its content: the same in every project. */
  partId: name,
  kind: z.enum(['system', 'tools']),
  /** Who called with it, in the runtime's words, such as `sdk` or `agent:builtin:general-purpose`. */
  agents: z.array(z.string()),
  versions: z.array(z.string()),
  first: timestamp,
  last: timestamp,
  /** Approximate. */
  tokens: count,
  calls: count,
  sessions: count,
  sections: count,
  head: z.string(),
});
export type RequestPartRow = z.output<typeof requestPartRow>;

/** A block of a system prompt, or one tool. */
const partSection = z.object({ name: z.string(), text: z.string(), tokens: count });
export type PartSection = z.output<typeof partSection>;
export const requestPart = requestPartRow.extend({ sections: z.array(partSection) });
export type RequestPart = z.output<typeof requestPart>;

export const partDiff = z.object({
  a: requestPartRow,
  b: requestPartRow,
  same: z.boolean(),
  /** What both have stands in another order. */
  reordered: z.boolean(),
  /** Lines are of sections that differ; those of `a` that are gone, and those of `b` that are new, among the ones that stayed. */
  sections: z.array(z.object({ name: z.string(), op: z.enum(['same', 'added', 'removed', 'changed']), lines: z.array(diffLine) })),
});
export type PartDiff = z.output<typeof partDiff>;

/** Far more than any provider takes. */
const longestBody = 64 * 1024 * 1024;

/** A call as a recorder on the wire saw it. Nothing that says who asks is kept of it. */
export const capturedCall = z.object({
  provider: z.enum(providers),
  /** Without the query, which may hold a key. */
  path: z.string().max(2_000),
  at: timestamp,
  /** By lower-case name. Only those are kept that shape the reply. */
  headers: z.record(z.string(), z.string()),
  /** JSON, as it was sent. */
  body: z.string().max(longestBody),
  /** The answer's HTTP status; null where the connection broke before it. */
  status: count.nullable(),
  /** The answer as far as it came: JSON, or server-sent events. It is read for its ids and usage, and not kept. */
  reply: z.string().max(longestBody),
  sessionId: name.optional(),
  /** Parts that the recorder took out of the body because they were secret. */
  withheld: z.array(z.string()).optional(),
});
export type CapturedCall = z.output<typeof capturedCall>;

const requestFilter = z.object({
  id: contextPrefix.optional(),
  stop: stop.optional(),
  turnId: contextPrefix.optional(),
  sessionId: name.optional(),
});

export const requestContract = {
  /**
   * Calls in the order sent: those whose reply a commit holds (with `stop`, those of its whole walk), those of a session
   * with its subagents, or all of the project. A turn is named by its commit.
   */
  list: oc.input(requestFilter).output(z.array(requestRow)),
  /** What filled the window, call by call, in the order sent, of the calls that `list` gives for the same input. Proves nothing. */
  series: oc.input(requestFilter).output(z.array(requestPoint)),
  get: oc.input(z.object({ requestId: name })).output(request),
  /** What changed from call `a` to call `b`, both request ids. */
  diff: oc.input(z.object({ a: name, b: name })).output(requestDiff),
  /** The distinct system prompts and tool sets of the project's calls, the latest used first. */
  parts: oc.input(z.object({})).output(z.array(requestPartRow)),
  part: oc.input(z.object({ partId: name })).output(requestPart),
  /** What changed from part `a` to part `b`. */
  partDiff: oc.input(z.object({ a: name, b: name })).output(partDiff),
  /** Takes in a call that was seen on the wire; it joins the transcript that holds its answer, now or when that is imported. */
  capture: oc.input(capturedCall).output(z.object({ requestId: name })),
};

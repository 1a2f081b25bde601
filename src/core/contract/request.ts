import { diffLine, fieldChange, hunk, stop } from './context.js';
import { causes, maxRequests, providers } from './kinds.js';
import { contextId, contextPrefix, count, entryKey, flag, line, list, most, name, procedure, timestamp } from './scalars.js';
import * as z from './z.js';

/** The kinds of request bodies. OpenAI has two: chat completions and responses. */
export const wires = ['anthropic', 'openai', 'responses', 'gemini'] as const;
export type Wire = (typeof wires)[number];
/** The provider of a previewed call. */
export const previewOf = {
  wire: z.enum(wires).optional().describe('The wire format of the provider. With it, the preview has the `body` of the request.'),
  model: line.optional().describe('The model to name in the body.'),
};
/** Whether the blocks of a previewed call are sent, as `runner.start` can say. */
export const previewShared = flag(
  'Whether the shared context is sent. The default is what the job says that does this work now, else the profile, else the project.',
);
/** What a job decides about a previewed call, as `runner.start` can say. */
export const previewAs = {
  tools: list(name, 200)
    .optional()
    .describe(
      'The tools of Stemma that may be offered, by name. The default is those of the job that does this work now, else all that are permitted.',
    ),
  enableShareContext: previewShared,
};
/** The body of the request exactly as the provider gets it, if the preview names a wire. */
export const previewBody = z.record(z.string(), z.unknown()).optional();
export const proofs = ['digest', 'recorded', 'rebuilt'] as const;
/**
 * The source of the facts about a call: a recorder on the wire, the agent's own records, Stemma if it made the call, or only the entries of the
 * conversation.
 */
export const callSources = ['wire', 'claude-code', 'codex', 'gemini', 'pi', 'opencode', 'langgraph', 'stemma', 'entries'] as const;
export type CallSource = (typeof callSources)[number];
/** How well the body of a call is known. `request.proof` explains the values. */
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
  /** The commit that contains the reply, or the commit that the call followed if no reply came; null if neither exists. */
  commit: contextId.nullable(),
  /** The first entry of the reply; null if no reply came. */
  replyKey: entryKey.nullable(),
  /** The subagent that made the call. */
  agentId: z.string().optional(),
  sessionId: z.string().optional(),
  source: z.enum(callSources),
  model: z.string().nullable(),
  messageCount: count,
  tokens: requestTokens,
  proof: z.enum(proofs),
  /** Why a recorded call is not verified. */
  problem: z.string().optional(),
});
export type RequestRow = z.output<typeof requestRow>;

export const request = z.object({
  requestId: name,
  provider: z.enum(providers),
  /** The body as it was sent, without the parts in `missing`. An unknown message is null. */
  body: z.record(z.string(), z.unknown()),
  /** Headers that affect the reply, such as the names of beta features. Never contains a key. */
  headers: z.record(z.string(), z.string()),
  /** SHA-256 of the rebuilt body in hex, computed as the agent does; null if parts that it covers are missing. */
  digest: z.string().nullable(),
  recordedDigest: z.string().nullable(),
  /**
   * `digest`: rebuilt, and equal to the digest that the agent recorded. `recorded`: recorded by the agent, except for the parts in
   * `missing`. `rebuilt`: assembled from entries by the agent's rules.
   */
  proof: z.enum(proofs),
  missing: z.array(z.string()),
  problem: z.string().optional(),
});
export type Request = z.output<typeof request>;

export const requestDiff = z.object({
  system: z.object({ same: z.boolean(), changes: z.array(fieldChange) }),
  /** The compared tools by name. `reordered`: both calls have the same tools in a different order, which breaks a provider's cache. */
  tools: z.object({ same: z.boolean(), reordered: z.boolean(), changes: z.array(fieldChange) }),
  params: z.object({ same: z.boolean(), changes: z.array(fieldChange) }),
  /** Hunks of messages, compared by content without cache marks. */
  messages: z.object({ same: z.boolean(), a: count, b: count, hunks: z.array(hunk) }),
  /** The part of `a` that a provider's cache can reuse for `b`, in the order tools, system, messages. Tokens are estimates. */
  cache: z.object({
    prefix: z.object({ messages: count, tokens: count }),
    /** The first place at which `b` differs from `a`; null if `b` only continues `a`. */
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
  /** Input tokens that the provider counted, cached or not; null if not recorded. */
  counted: count.nullable(),
  output: count.nullable(),
  /** Estimated tokens of the body by cause. */
  causes: z.record(z.enum(causes), count),
});
export type RequestPoint = z.output<typeof requestPoint>;

/** A system prompt or a set of tools that calls of the project contained. */
export const requestPartRow = z.object({
  /** Computed from the content, so the same part has the same id in every project. */
  partId: name,
  kind: z.enum(['system', 'tools']),
  /** The callers, as the agent names them, such as `sdk` or `agent:builtin:general-purpose`. */
  agents: z.array(z.string()),
  versions: z.array(z.string()),
  first: timestamp,
  last: timestamp,
  /** Estimated. */
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
  /** True if the sections that both parts have are in a different order. */
  reordered: z.boolean(),
  /** All sections of both parts. Only sections that differ have lines. */
  sections: z.array(z.object({ name: z.string(), op: z.enum(['same', 'added', 'removed', 'changed']), lines: z.array(diffLine) })),
});
export type PartDiff = z.output<typeof partDiff>;

/** The largest recorded body in bytes: far more than any provider accepts. */
const maxBodyBytes = 64 * 1024 * 1024;

/** A call as recorded on the wire. Its credentials are not stored (R5). */
export const capturedCall = z.strictObject({
  provider: z.enum(providers).describe('The provider that was called.'),
  path: z.string().max(2_000).describe('The path of the request, without the query, which may contain a key.'),
  at: timestamp.describe('When the call was sent.'),
  headers: z.record(line, z.string().max(most.text)).describe('The headers by lower-case name. Only headers that affect the reply are stored.'),
  body: z.string().max(maxBodyBytes).describe('The body as it was sent: JSON.'),
  status: count.nullable().describe('The HTTP status of the reply; null if the connection broke before it.'),
  reply: z
    .string()
    .max(maxBodyBytes)
    .describe('The received part of the reply: JSON or server-sent events. Stemma reads its ids and usage, and does not store it.'),
  sessionId: name.optional().describe('The session that made the call.'),
  withheld: list(line).optional().describe('Parts that the recorder removed from the body because they were secret.'),
});
export type CapturedCall = z.output<typeof capturedCall>;

const requestFilter = z.strictObject({
  id: contextPrefix
    .optional()
    .describe('Only calls whose reply this commit contains; with `stop`, the calls of all commits on the walk toward the root.'),
  stop: stop.optional(),
  turnId: contextPrefix.optional().describe('Only calls of this turn, named by its commit.'),
  sessionId: name.optional().describe('Only calls of this session and its subagents.'),
});

/** The editable parts of a turn's request. */
export const turnRequest = z.object({
  /** The recorded call; null if none is known. */
  requestId: name.nullable(),
  model: z.string().nullable(),
  system: z.array(z.string()),
  tools: z.array(z.unknown()),
  settings: z.record(z.string(), z.unknown()),
});
export type TurnRequest = z.output<typeof turnRequest>;

export const requestContract = {
  list: procedure(
    'Lists calls to models in the order in which they were sent: of a commit, of a turn, of a session with its subagents, or of the whole project.',
    requestFilter.extend({
      offset: count.optional().describe('How many calls to skip.'),
      limit: z.int().min(1).max(maxRequests).optional().describe(`The largest number of calls. The default is ${maxRequests}.`),
    }),
  ).returns({ total: count, requests: z.array(requestRow) }),
  series: procedure(
    'Returns how much each kind of content filled the context window at each call of `request.list`. Does not verify the bodies.',
    requestFilter,
  ).returns(z.array(requestPoint)),
  get: procedure('Returns a call with its rebuilt body, and says whether the body is verified.', {
    requestId: name.describe('The id of the call.'),
  }).returns(request),
  diff: procedure("Compares two calls: system prompt, tools, parameters, messages, and how much of the provider's cache the second can reuse.", {
    a: name.describe('The id of the first call.'),
    b: name.describe('The id of the second call.'),
  }).returns(requestDiff),
  parts: procedure('Lists the distinct system prompts and tool sets of the calls in the project, most recently used first.').returns(
    z.array(requestPartRow),
  ),
  part: procedure('Returns a system prompt or a tool set with its sections.', { partId: name.describe('The id of the part.') }).returns(requestPart),
  partDiff: procedure('Compares two system prompts or two tool sets, section by section.', {
    a: name.describe('The id of the first part.'),
    b: name.describe('The id of the second part.'),
  }).returns(partDiff),
  capture: procedure(
    'Stores a call that was recorded on the wire. Stemma matches the call with the transcript that contains its reply, now or when that transcript is imported.',
    capturedCall,
  ).returns({ requestId: name }),
};

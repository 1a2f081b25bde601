import type { ContextId, ReplyPart, RequestTokens } from '../../core/contract/index.js';

/** A part of a reply as the window shows it. Consecutive pieces of text form one part. */
export interface SamplePart {
  readonly kind: 'text' | 'thinking' | 'tool_call' | 'tool_result' | 'notice';
  readonly text: string;
  readonly toolName?: string | undefined;
  readonly from?: 'recording' | 'person' | undefined;
}

export interface Sample {
  readonly state: 'waiting' | 'streaming' | 'limited' | 'asking' | 'done' | 'failed' | 'stopped';
  readonly parts: readonly SamplePart[];
  /** Set while the provider limits the rate: its reason, and the time of the next attempt (window clock, milliseconds). */
  readonly limit?: { readonly reason: string; readonly until: number } | undefined;
  readonly question?: { readonly id: string; readonly toolName: string; readonly input: string } | undefined;
  readonly tokens: RequestTokens | undefined;
  readonly cost: number | undefined;
  readonly startedAt?: number | undefined;
  readonly endedAt?: number | undefined;
  readonly commit?: ContextId | undefined;
  readonly problem?: string | undefined;
}

export const unbegun: Sample = { state: 'waiting', parts: [], tokens: undefined, cost: undefined };

/** The samples of a run after one more part has arrived; `now` is the window clock in milliseconds. */
export const samplesAfter = (samples: readonly Sample[], part: ReplyPart, now: number): readonly Sample[] =>
  samples.map((sample, number) => (number === part.sample ? sampleAfter(sample, part, now) : sample));

function sampleAfter(before: Sample, part: ReplyPart, now: number): Sample {
  const sample = { ...before, startedAt: before.startedAt ?? now, limit: undefined, question: undefined };
  switch (part.kind) {
    case 'text':
    case 'thinking': {
      const last = sample.parts.at(-1);
      const continues = last?.kind === part.kind;
      const grown = { kind: part.kind, text: (continues ? last.text : '') + part.delta };
      return { ...sample, state: 'streaming', parts: [...(continues ? sample.parts.slice(0, -1) : sample.parts), grown] };
    }
    case 'tool_call':
    case 'tool_result':
    case 'notice':
      return {
        ...sample,
        state: 'streaming',
        parts: [...sample.parts, { kind: part.kind, text: part.delta, toolName: part.toolName, from: part.from }],
      };
    case 'question':
      return { ...sample, state: 'asking', question: { id: part.questionId ?? '', toolName: part.toolName ?? 'Tool', input: part.delta } };
    case 'waiting':
      return { ...sample, state: 'limited', limit: { reason: part.delta, until: now + (part.ms ?? 0) } };
    case 'usage':
      return {
        ...sample,
        tokens: part.tokens && added(sample.tokens, part.tokens),
        cost: part.cost === undefined ? sample.cost : (sample.cost ?? 0) + part.cost,
      };
    case 'failed':
      return { ...sample, state: 'failed', problem: part.delta, endedAt: now };
    case 'commit':
      return { ...sample, state: 'done', commit: part.delta as ContextId, endedAt: now };
  }
}

/** The sample after the person stopped the run. A finished sample stays as it is. */
export const stopped = (sample: Sample): Sample =>
  sample.state === 'done' || sample.state === 'failed' ? sample : { ...sample, state: 'stopped', limit: undefined, question: undefined };

/** The finished sample of a recording. Without a stored branch, no other event marks the end of the sample. */
export const shownWhole = (sample: Sample): Sample => (sample.state === 'streaming' ? { ...sample, state: 'done' } : sample);

function added(a: RequestTokens | undefined, b: RequestTokens): RequestTokens {
  const sum = (part: keyof RequestTokens): number | null => (a?.[part] == null && b[part] === null ? null : (a?.[part] ?? 0) + (b[part] ?? 0));
  return { input: sum('input'), output: sum('output'), cacheRead: sum('cacheRead'), cacheWrite: sum('cacheWrite') };
}

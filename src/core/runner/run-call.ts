import { type ContextId, picked, stringAt } from '../base/index.js';
import { profileNamed } from '../cards/index.js';
import { findCommit, type ReadChain } from '../chain/index.js';
import type { ComposedCall } from '../composer/index.js';
import type { Card, InputOf, OutputOf, RoleMessage, Run, Wire } from '../contract/index.js';
import type { WritableEntry } from '../formats/index.js';
import { callSettings, dataOf, profileRules, sharedCall, toMemory, toMessages } from '../handover/index.js';
import { callMessages, getRun, lastRunCommit, nextCall, previewTimeline, type RunShown, runMessages, runTimeline } from '../timeline/index.js';
import { composeContext, stepBody } from '../turns/index.js';
import { decidedBy, givenOr, tipOfWork } from './jobs.js';
import { offeredTo } from './offered.js';
import type { RunnerParts } from './parts.js';
import { conversationTools } from './tools.js';

/** The key of the work of one invocation of a run. */
export const runKey = ({ runId, invokedAt }: Pick<Run, 'runId' | 'invokedAt'>): string => `run:${runId}:${invokedAt}`;

/** The profile of an agent of spaces: the one with its name. */
export const profileOfEntity = (chain: ReadChain, entityId: string): Card | undefined => {
  const name = chain.db.value<string>('SELECT name FROM entity WHERE project = ? AND entityId = ?', chain.project, entityId);
  return name === undefined ? undefined : profileNamed(chain, name)?.card;
};

/** What a job, or a preview of one, decides about the calls of a run. */
export interface RunOptions {
  readonly chain: ReadChain;
  readonly tools?: readonly string[] | undefined;
  readonly layers?: RunnerParts['layers'];
  readonly sharing?: boolean | undefined;
  readonly budget?: number | undefined;
  readonly wire?: Wire | undefined;
  readonly model?: string | undefined;
}

/** How the context of a run is sent: its profile, the tools that it is offered, and the form of its history. */
export function shownRun({ chain, tools, budget }: RunOptions, entityId: string): RunShown & { profile: Card | undefined; tools: readonly string[] } {
  const profile = profileOfEntity(chain, entityId);
  return { profile, tools: offeredTo(profile, 'run', tools), asRoles: dataOf(profile).history === 'roles', budget };
}

/** Composes the next call of a run: its blocks as they are now, and what the invocation has said so far. */
export function composeRun(options: RunOptions, runId: string, tip: ContextId | undefined): ComposedCall {
  const { chain, layers, sharing } = options;
  const { entityId } = getRun(chain, runId);
  const { profile, ...shown } = shownRun(options, entityId);
  const messages = runMessages(chain, runId, shown);
  if (tip === undefined) return firstCall(options, profile, { entityId, runId, messages });
  const { permitted, sharing: own } = profileRules(profile);
  const sources = permitted.length > 0 ? layers?.(tip) : undefined;
  const how = { kind: 'run', systemPrompt: messages[0]?.content, permitted, sharing: sharing ?? own, sources } as const;
  return composeContext(chain, findCommit(chain, tip), how);
}

/** The first call of an invocation, which begins with the blocks of the run. */
function firstCall(
  { chain, layers, sharing }: RunOptions,
  profile: Card | undefined,
  { entityId, runId, messages }: { readonly entityId: string; readonly runId?: string; readonly messages: readonly RoleMessage[] },
): ComposedCall {
  const [system, ...memory] = messages;
  // The snapshot of the call is committed on that of the run's earlier call, else of the agent's last run.
  const before = (): ContextId | null =>
    (runId === undefined ? undefined : tipOfWork(chain, `run:${runId}:`, true)) ?? lastRunCommit(chain, entityId) ?? null;
  const sources = layers && (() => layers(before(), entityId));
  return sharedCall(chain, { profile, sharing, sources }, { kind: 'run', systemPrompt: system?.content, memory: memory.map(toMemory) });
}

/** The context of a run and its next call, exactly as a model would get it. Writes nothing. @throws NOT_FOUND */
export function previewRun(given: RunOptions, runId: string): OutputOf<'run.timeline'> {
  const { chain } = given;
  const run = getRun(chain, runId);
  const work = runKey(run);
  const options = { ...given, ...givenOr(given, decidedBy(chain, work)) };
  const shown = shownRun(options, run.entityId);
  const timeline = runTimeline(chain, runId, picked(shown, 'budget', 'tools'));
  const tip = run.status === 'running' ? tipOfWork(chain, work) : undefined;
  return { ...timeline, ...prepareCall(options, shown, composeRun(options, runId, tip), tip) };
}

/**
 * The next call of an agent in a space: that of its run that is to be performed, else the one that a message would start. Then a note says why
 * nothing starts it now. @throws BAD_REQUEST for an entity or a message that starts no run; CONFLICT if no message would
 */
export function previewStart(options: RunOptions, input: InputOf<'run.preview'>): OutputOf<'run.preview'> {
  const { chain } = options;
  const next = nextCall(chain, input);
  if ('runId' in next) return { ...previewRun(options, next.runId), runId: next.runId, note: null };
  const shown = shownRun(options, input.entityId);
  const { message, ...timeline } = previewTimeline(chain, next, picked(shown, 'budget', 'tools'));
  const composed = firstCall(options, shown.profile, { entityId: input.entityId, messages: callMessages(timeline, message, shown.asRoles) });
  return { ...timeline, ...prepareCall(options, shown, composed), runId: null, note: next.note };
}

function prepareCall(
  { chain, wire, model }: RunOptions,
  { profile, tools }: ReturnType<typeof shownRun>,
  composed: ComposedCall,
  tip?: ContextId | undefined,
) {
  const offered = conversationTools(tools);
  const parameters = callSettings(profile);
  const step = wire && { wire, model: model ?? stringAt(parameters, 'model'), tools: offered, parameters, composed, isOwn: true };
  const said = composed.messages.flatMap(({ role, content }): WritableEntry[] =>
    role === 'human' || role === 'ai' ? [{ role: role === 'ai' ? 'assistant' : 'user', kind: 'text', text: content }] : [],
  );
  return {
    ...(step && { body: tip === undefined ? stepBody(chain, undefined, step, said) : stepBody(chain, findCommit(chain, tip), step) }),
    ...shownCall(composed, offered, parameters),
  };
}

/** A composed call as its preview shows it. */
export const shownCall = (composed: ComposedCall, tools: Record<string, unknown>[], parameters: Record<string, unknown>) => ({
  messages: toMessages(composed, []),
  layers: composed.messages.map(({ layer }) => layer),
  tools: tools.length > 0 ? tools : null,
  parameters,
  dropped: composed.dropped,
});

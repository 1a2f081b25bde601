import { type ContextId, stringAt } from '../base/index.js';
import { profileNamed } from '../cards/index.js';
import { findCommit, type ReadChain } from '../chain/index.js';
import type { ComposedCall } from '../composer/index.js';
import type { Card, InputOf, OutputOf, Run, Wire } from '../contract/index.js';
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
  const entity = chain.db.one<{ name: string }>('SELECT name FROM entity WHERE project = ? AND entityId = ?', chain.project, entityId);
  return entity && profileNamed(chain, entity.name)?.card;
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
  const [system, ...messages] = runMessages(chain, runId, shown);
  const sources = layers && (() => (tip === undefined ? layers(contextBefore(chain, entityId, runId), entityId) : layers(tip)));
  if (tip === undefined)
    return sharedCall(chain, { profile, sharing, sources }, { kind: 'run', systemPrompt: system?.content, memory: messages.map(toMemory) });
  const rules = profileRules(profile);
  return composeContext(chain, findCommit(chain, tip), {
    kind: 'run',
    systemPrompt: system?.content,
    permitted: rules.permitted,
    sharing: sharing ?? rules.sharing,
    ...(rules.permitted.length > 0 && sources && { sources: sources() }),
  });
}

/** The context of a run and its next call, exactly as a model would get it. Writes nothing. @throws NOT_FOUND */
export function previewRun(given: RunOptions, runId: string): OutputOf<'run.timeline'> {
  const { chain } = given;
  const run = getRun(chain, runId);
  const work = runKey(run);
  const options = { ...given, ...givenOr(given, decidedBy(chain, work)) };
  const { profile, tools, budget } = shownRun(options, run.entityId);
  const timeline = runTimeline(chain, runId, { budget, tools });
  const tip = run.status === 'running' ? tipOfWork(chain, work) : undefined;
  return { ...timeline, ...prepareCall(options, { profile, tools, tip }, composeRun(options, runId, tip)) };
}

/**
 * The next call of an agent in a space: that of its run that is to be performed, else the one that a message would start. Then a note says why
 * nothing starts it now. @throws BAD_REQUEST for an entity or a message that starts no run; CONFLICT if no message would
 */
export function previewStart(options: RunOptions, input: InputOf<'run.preview'>): OutputOf<'run.preview'> {
  const { chain, layers, sharing } = options;
  const next = nextCall(chain, input);
  if ('runId' in next) return { ...previewRun(options, next.runId), runId: next.runId, note: null };
  const { profile, tools, asRoles, budget } = shownRun(options, input.entityId);
  const { message, ...timeline } = previewTimeline(chain, next, { budget, tools });
  const [system, ...messages] = callMessages(timeline, message, asRoles);
  const sources = layers && (() => layers(contextBefore(chain, input.entityId), input.entityId));
  const call = { kind: 'run', systemPrompt: system?.content, memory: messages.map(toMemory) } as const;
  const composed = sharedCall(chain, { profile, sharing, sources }, call);
  return { ...timeline, ...prepareCall(options, { profile, tools, tip: undefined }, composed), runId: null, note: next.note };
}

/** The context on which the snapshot of a call is committed: that of the run's earlier call, else of the agent's last run. */
const contextBefore = (chain: ReadChain, entityId: string, runId?: string): ContextId | null =>
  (runId === undefined ? undefined : tipOfWork(chain, `run:${runId}:`, { isPrefix: true })) ?? lastRunCommit(chain, entityId) ?? null;

interface Previewed {
  readonly profile: Card | undefined;
  readonly tools: readonly string[];
  readonly tip: ContextId | undefined;
}

function prepareCall({ chain, wire, model }: RunOptions, { profile, tools, tip }: Previewed, composed: ComposedCall) {
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

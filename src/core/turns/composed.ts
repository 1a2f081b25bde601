import type { CommitSeq } from '../base/index.js';
import { backwards, type ContextRow, commitAt, entries, isShared, type ReadChain, readSettings, templateText } from '../chain/index.js';
import { type Call, type ComposedCall, composeCall, recordedLayers, textOf } from '../composer/index.js';
import type { Entry } from '../contract/index.js';
import { pairedCalls } from '../formats/index.js';
import { callsOfTurn, turnsOfCommits } from '../handover/index.js';
import { commitsWithCalls, type LayerText } from '../requests/index.js';
import { turnRequest } from './request.js';

/** The number of commits to search for a recorded call, whose system prompt, tools and settings are reused. */
const nearCalls = 32;

/** The commit with the nearest call of a context that a runtime recorded. */
export function nearestCall(chain: ReadChain, base: ContextRow): ContextRow | undefined {
  if (!chain.db.one('SELECT 1 FROM request WHERE project = ? LIMIT 1', chain.project)) return undefined;
  const near = commitsNear(chain, base);
  const called = commitsWithCalls(chain, near);
  const seq = near.find((each) => called.has(each));
  return seq === undefined ? undefined : commitAt(chain, seq);
}

/** The last commits of a context, newest first. It reads no others. */
function commitsNear(chain: ReadChain, base: ContextRow): CommitSeq[] {
  const near: CommitSeq[] = [];
  for (const { seq } of backwards(chain, base)) if (near.push(seq) === nearCalls) break;
  return near;
}

/**
 * The system prompt of a context: the content of its template, if the project stores this template (K4), else the one of the nearest recorded call,
 * without the blocks of Stemma, else the one in its entries.
 */
export function systemPromptOf(chain: ReadChain, base: ContextRow, recorded: readonly Entry[]): string {
  return templateText(chain, base.template) ?? recordedPrompt(chain, base) ?? textOf(recorded);
}

function recordedPrompt(chain: ReadChain, base: ContextRow): string | undefined {
  const call = nearestCall(chain, base);
  const texts = call ? turnRequest(chain, call, 'anthropic').system : [];
  return texts.length > 0 ? texts.join('\n\n') : cardPrompt(chain, base);
}

function cardPrompt(chain: ReadChain, base: ContextRow): string | undefined {
  const near = commitsNear(chain, base);
  const turns = turnsOfCommits(chain, near);
  const last = near.find((seq) => turns.has(seq));
  const turn = last === undefined ? undefined : turns.get(last);
  return turn && (callsOfTurn(chain, turn).at(-1)?.systemPrompt || undefined);
}

/** How a context is composed, beyond its own content. */
export type ContextCall = Pick<Call, 'kind' | 'finding' | 'permitted' | 'sources' | 'sharing' | 'query'> & {
  /** In place of the context's system prompt. */
  readonly systemPrompt?: string | undefined;
};

/** Composes the next call on a context, for the call itself and for its preview. Its system prompt and its summaries become layers of their own. */
export function composeContext(chain: ReadChain, base: ContextRow, how: ContextCall): ComposedCall {
  const recorded = recordedLayers(pairedCalls(entries(chain, { id: base.id }).entries));
  const { systemPrompt = systemPromptOf(chain, base, [...recorded.systemPrompt]), sharing = readSettings(chain).enableShareContext } = how;
  return composeCall({
    ...how,
    systemPrompt,
    sharing,
    isShared: isShared(chain),
    memory: recorded.memory.map(({ message }) => message),
    additions: textOf(recorded.framework),
    summary: textOf(recorded.summaries),
  });
}

/** The texts of the system messages of a call, with their layers. */
export const systemTexts = ({ messages }: Pick<ComposedCall, 'messages'>): LayerText[] =>
  messages.flatMap(({ role, layer, content }) => (role === 'system' && content !== '' ? [{ layer, text: content }] : []));

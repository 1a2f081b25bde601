import { badRequest, type ContextId, type JsonObject, StemmaError } from '../base/index.js';
import { type ContextRow, entries, findCommit, isShared, keep, type ReadChain, recalled } from '../chain/index.js';
import {
  type Compared,
  compareMessages,
  composeCall,
  type Preview,
  type PreviewRequest,
  previewContext,
  shownRow,
  systemPromptsIn,
} from '../composer/index.js';
import type { ComposedRows, InputOf, OutputOf, Process } from '../contract/index.js';
import { discussedIn } from '../tickets/index.js';
import { askedBody, nearestCall, type PreviewOf, recordedWire, stepBody, systemPromptOf, systemTexts, turnRequest } from '../turns/index.js';
import { type TextCall, textBody } from './ask.js';
import { compactionCall } from './compaction.js';
import { judgmentCall } from './judge.js';
import { projectServices } from './retrievers.js';
import { summaryOfCommitCall } from './summaries.js';

interface Place {
  readonly dir: string;
  readonly chain: ReadChain;
}
type Request = PreviewRequest & { readonly id: ContextId };

/**
 * Composes a commit's context for a process, or the call of another task about the commit. Stores nothing.
 * @throws NOT_FOUND for an unknown commit; BAD_REQUEST for a field that the task does not have; CONFLICT if the task makes no call
 */
export function composition(project: Place, { id: given, ...request }: Request): OutputOf<'compose.preview'> {
  const { chain } = project;
  const base = findCommit(chain, given);
  refuseOtherFields(request);
  if (request.task !== undefined) return taskCall(chain, base, request.task, request);
  const all = entries(chain, { id: base.id }).entries;
  const isAnswer = [request.query, request.humanMessage].every((text) => text === undefined) && (request.process ?? 'sequential') === 'sequential';
  const sources = {
    finding: isAnswer ? discussedIn(chain, base) : undefined,
    systemPrompt: systemPromptOf(chain, base, systemPromptsIn(all)),
    isShared: isShared(chain),
    permitted: request.layers ?? [],
    services: projectServices(project, base.id),
  };
  const call = nearestCall(chain, base);
  const { tools, settings } = turnRequest(chain, call, request.wire ?? (call && recordedWire(chain, call)) ?? 'anthropic');
  const preview = previewContext(all, sources, request);
  const { wire, model, process: kind = 'sequential' } = request;
  const body = wire && bodyOf(chain, base, preview, { wire, model, kind });
  return { ...preview, tools: tools.length > 0 ? tools : null, parameters: settings, ...(body && { body }) };
}

type Task = NonNullable<PreviewRequest['task']>;

/** The calls that Stemma makes about a commit, beside the next one on its context. */
const taskCalls: Readonly<Record<Task, (chain: ReadChain, request: Request) => TextCall | undefined>> = {
  summarize: (chain, { id }) => summaryOfCommitCall(chain, id),
  compact: compactionCall,
  judge: judgmentCall,
};
const noCall: Readonly<Record<Task, string>> = {
  summarize: 'contains no text to summarize',
  compact: 'has nothing to shorten',
  judge: 'lost nothing',
};

/** The fields of every task. The router adds the project's switch for sharing to each request. */
const ofTask = ['wire', 'model', 'enableShareContext'];
const ofCompaction = ['keepLast', 'budgetTokens'];

function refuseOtherFields({ task, ...request }: PreviewRequest): void {
  const given = Object.entries(request).flatMap(([name, value]) => (value === undefined ? [] : [name]));
  const isOther = (name: string): boolean => (ofCompaction.includes(name) ? task !== 'compact' : task !== undefined && !ofTask.includes(name));
  const other = given.find(isOther);
  if (other !== undefined)
    throw badRequest(other, task === undefined ? `${other} needs the task compact.` : `${other} has no effect on the task ${task}. Leave it out.`);
}

function taskCall(chain: ReadChain, { id }: ContextRow, task: Task, { wire, model, ...request }: PreviewRequest): OutputOf<'compose.preview'> {
  const text = taskCalls[task](chain, { ...request, id });
  if (!text) throw new StemmaError('CONFLICT', `Stemma makes no call: ${id} ${noCall[task]}.`, { id, task });
  const composed = composeCall(text.call);
  return {
    messages: composed.messages,
    dropped: composed.dropped,
    problems: [...composed.problems],
    layers: [],
    messageOrigins: composed.messages.map(() => []),
    tools: null,
    parameters: { ...text.parameters },
    ...(wire && { body: textBody(composed, text, { wire, model }) }),
  };
}

/** The request of a question with this composition. A process without memory asks on a chain of its own. */
function bodyOf(chain: ReadChain, base: ContextRow, preview: Preview, { wire, model, kind }: PreviewOf & { kind: Process }): JsonObject {
  const added = preview.messages.filter(({ layer }) => layer === 'query' || layer === 'human_message').map(({ content }) => content);
  if (!kind.startsWith('mapreduce')) return askedBody(chain, base, { wire, model, system: systemTexts(preview), text: added[0] });
  const asked = added.map((text) => ({ role: 'user' as const, kind: 'text' as const, text }));
  return stepBody(chain, undefined, { wire, model, tools: [], composed: { ...preview, problems: [] } }, asked);
}

interface Composition {
  readonly recorded: Preview;
  readonly now: Preview;
  readonly rows: readonly Compared[];
}

const maxRows = 200;

/**
 * A composition in pages, compared with the recorded one. The first page composes again; later pages belong to the same composition.
 * @throws NOT_FOUND for an unknown commit.
 */
export function composedRows(
  project: Place,
  request: Request,
  { offset = 0, limit = maxRows, longest = Number.MAX_SAFE_INTEGER }: Pick<InputOf<'compose.rows'>, 'offset' | 'limit' | 'longest'>,
): ComposedRows {
  const key = JSON.stringify(request);
  // The pages after the first one come from the latest composition.
  const known = offset > 0 ? recalled<Composition>(project.chain, 'composition', '', key) : undefined;
  const { recorded, now, rows } = known ?? composeAgain(project, request, key);
  const texts = (preview: Preview) =>
    Object.fromEntries(preview.messages.flatMap(({ layer, role, content }) => (role === 'system' ? [[layer, content]] : [])));
  return {
    total: rows.length,
    messages: now.messages.length,
    tokens: now.messages.reduce((sum, message) => sum + message.tokens, 0),
    added: rows.filter(({ change }) => change === 'new').length,
    removed: rows.filter(({ change }) => change === 'gone').length,
    firstChange: rows.findIndex(({ change }) => change !== 'same'),
    rows: rows.slice(offset, offset + limit).map((row) => shownRow(row, now, longest)),
    ...(offset === 0 && { layers: now.layers, dropped: now.dropped, problems: now.problems, texts: { recorded: texts(recorded), now: texts(now) } }),
  };
}

function composeAgain(project: Place, request: Request, key: string): Composition {
  const recorded = composition(project, { id: request.id });
  const isRecorded = Object.entries(request).every(([name, value]) => name === 'id' || value === asRecorded[name]);
  const now = isRecorded ? recorded : composition(project, request);
  const made = { recorded, now, rows: compareMessages(recorded.messages, now.messages) };
  const bytes = [recorded, now].reduce((sum, { messages }) => sum + messages.reduce((size, { content }) => size + 2 * content.length, 0), 0);
  keep(project.chain, 'composition', '', made, bytes, key);
  return made;
}

/** The default request of `previewContext`. */
const asRecorded: Readonly<Record<string, unknown>> = { process: 'sequential', enableShareContext: true };

import { badRequest, type ContextId, conflict, type JsonObject } from '../base/index.js';
import { type ContextRow, contextSize, entries, findCommit, isShared, keep, type ReadChain, recalled } from '../chain/index.js';
import {
  asComposed,
  type Compared,
  compareMessages,
  composeCall,
  type Preview,
  type PreviewRequest,
  previewRecorded,
  type RecordedLayers,
  recordedLayers,
  shownRow,
} from '../composer/index.js';
import { type ComposedRow, type ComposedRows, type InputOf, most, type OutputOf, type Process } from '../contract/index.js';
import { pairedCalls } from '../formats/index.js';
import { discussedIn } from '../tickets/index.js';
import { askedBody, nearestCall, type PreviewOf, recordedWire, stepBody, systemPromptOf, systemTexts, turnRequest } from '../turns/index.js';
import { type TextCall, textBody } from './ask.js';
import { compactionCall } from './compaction.js';
import { judgmentCall } from './judge.js';
import { type LongMemory, longMemory } from './long-memory.js';
import { projectServices } from './retrievers.js';
import { summaryOfCommitCall } from './summaries.js';

type Place = Parameters<typeof projectServices>[0];
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
  // A message has at least one entry, or stands in for one that is missing.
  if (contextSize(chain, base.id).total > most.list) refuseManyMessages(chain, base, request);
  const recorded = recordedLayers(pairedCalls(entries(chain, { id: base.id }).entries));
  if (recorded.memory.length > most.list) refuseManyMessages(chain, base, request);
  const preview = previewOf(project, base, recorded, request);
  const call = nearestCall(chain, base);
  const { tools, settings } = turnRequest(chain, call, request.wire ?? (call && recordedWire(chain, call)) ?? 'anthropic');
  const { wire, model, process: kind = 'sequential' } = request;
  const body = wire && bodyOf(chain, base, preview, { wire, model, kind });
  return { ...preview, tools: tools.length > 0 ? tools : null, parameters: settings, ...(body && { body }) };
}

/** @throws BAD_REQUEST for a context with more messages than an answer holds. */
function refuseManyMessages(chain: ReadChain, base: ContextRow, { process: kind }: PreviewRequest): void {
  const { messages = 0 } = kind?.startsWith('mapreduce') ? {} : (longMemory(chain, base)?.recorded.whole ?? {});
  if (messages > most.list)
    throw badRequest('id', `This context has ${messages} messages, and one answer holds at most ${most.list}. Read them in pages with compose.rows.`);
}

function previewOf(project: Place, base: ContextRow, recorded: RecordedLayers, request: PreviewRequest): Preview {
  const { chain } = project;
  const isAnswer = [request.query, request.humanMessage].every((text) => text === undefined) && (request.process ?? 'sequential') === 'sequential';
  const sources = {
    finding: isAnswer ? discussedIn(chain, base) : undefined,
    systemPrompt: systemPromptOf(chain, base, recorded.systemPrompt),
    isShared: isShared(chain),
    permitted: request.layers ?? [],
    services: projectServices(project, base.id),
  };
  return previewRecorded(recorded, sources, request);
}

type Task = NonNullable<PreviewRequest['task']>;

/** The calls that Stemma makes about a commit, beside the next one on its context. */
const taskCalls: Readonly<Record<Task, (chain: ReadChain, request: Request) => TextCall | undefined>> = {
  summarize: (chain, { id }) => summaryOfCommitCall(chain, id),
  compact: compactionCall,
  judge: judgmentCall,
};
const noCall: Record<Task, string> = { summarize: 'contains no text to summarize', compact: 'has nothing to shorten', judge: 'lost nothing' };

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
  if (!text) throw conflict(`Stemma makes no call: ${id} ${noCall[task]}.`, { id, task });
  const composed = composeCall(text.call);
  const { messages, dropped, problems } = composed;
  return {
    messages,
    dropped,
    problems: [...problems],
    layers: [],
    messageOrigins: messages.map(() => []),
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
  /** A long memory, for all of which the row of one message stands. */
  readonly long: LongMemory | undefined;
}

const maxRows = 200;

/** A composition in pages, compared with the recorded one. Only the first page composes again. @throws NOT_FOUND for an unknown commit. */
export function composedRows(
  project: Place,
  request: Request,
  { offset = 0, limit = maxRows, longest = Number.MAX_SAFE_INTEGER }: Pick<InputOf<'compose.rows'>, 'offset' | 'limit' | 'longest'>,
): ComposedRows {
  const key = JSON.stringify(request);
  // The pages after the first one come from the latest composition.
  const known = offset > 0 ? recalled<Composition>(project.chain, 'composition', '', key) : undefined;
  const composed = known ?? composeAgain(project, request, key);
  const { recorded, now, rows } = composed;
  const { size, firstOf, page } = openRows(composed);
  const texts = (preview: Preview) =>
    Object.fromEntries(preview.messages.flatMap(({ layer, role, content }) => (role === 'system' ? [[layer, content]] : [])));
  const sumOf = (all: readonly Compared[], one: (row: Compared) => number): number => all.reduce((sum, row) => sum + one(row), 0);
  const inNow = rows.filter(({ change }) => change !== 'gone');
  return {
    total: sumOf(rows, (row) => size(row).messages),
    messages: sumOf(inNow, (row) => size(row).messages),
    tokens: sumOf(inNow, (row) => size(row).tokens),
    added: sumOf(rows, (row) => (row.change === 'new' ? size(row).messages : 0)),
    removed: sumOf(rows, (row) => (row.change === 'gone' ? size(row).messages : 0)),
    firstChange: firstOf(rows.findIndex(({ change }) => change !== 'same')),
    rows: page(offset, limit, longest),
    ...(offset === 0 && { layers: now.layers, dropped: now.dropped, problems: now.problems, texts: { recorded: texts(recorded), now: texts(now) } }),
  };
}

/** The rows of a composition, with all messages of a long memory in the place of the one that stands for them. */
function openRows({ rows, now, long }: Composition) {
  const isMemory = ({ message }: Compared): boolean => long !== undefined && message.layer === 'checkpoint_messages';
  const size = (row: Compared): { readonly messages: number; readonly tokens: number } =>
    long && isMemory(row) ? long.recorded.whole : { messages: 1, tokens: row.message.tokens };
  const place = rows.findIndex(isMemory);
  const { messages } = long?.recorded.whole ?? { messages: 0 };
  const firstOf = (row: number): number => (place >= 0 && row > place ? row + messages - 1 : row);
  const page = (offset: number, limit: number, longest: number): ComposedRow[] => {
    const shown = (some: readonly Compared[]): ComposedRow[] => some.map((row) => shownRow(row, now, longest));
    const memory = rows[place];
    if (!long || !memory) return shown(rows.slice(offset, offset + limit));
    const [from, to] = [Math.max(0, offset - place), Math.max(0, offset + limit - place)];
    return [
      ...shown(rows.slice(0, place).slice(offset, offset + limit)),
      ...long.slice(from, to).map(({ message, from: [first] }): ComposedRow => {
        const row = shownRow({ ...memory, message: asComposed(message, 'checkpoint_messages'), place: undefined }, now, longest);
        return memory.place === undefined || !first ? row : { ...row, entryKey: first.key };
      }),
      ...shown(rows.slice(place + 1).slice(Math.max(0, from - messages), Math.max(0, to - messages))),
    ];
  };
  return { size, firstOf, page };
}

function composeAgain(project: Place, request: Request, key: string): Composition {
  const { chain } = project;
  const base = findCommit(chain, request.id);
  refuseOtherFields(request);
  // A query may name any message.
  const long = request.turnId === undefined && request.task === undefined ? longMemory(chain, base) : undefined;
  const compose = (asked: Request): Preview => (long ? previewOf(project, base, long.recorded, asked) : composition(project, asked));
  const recorded = compose({ id: request.id });
  const isRecorded = Object.entries(request).every(([name, value]) => name === 'id' || value === asRecorded[name]);
  const now = isRecorded ? recorded : compose(request);
  const made = { recorded, now, rows: compareMessages(recorded.messages, now.messages), long };
  const bytes = [recorded, now].reduce((sum, { messages }) => sum + messages.reduce((size, { content }) => size + 2 * content.length, 0), 0);
  keep(chain, 'composition', '', made, bytes + (long ? bytesPerCommit * base.depth : 0), key);
  return made;
}

const bytesPerCommit = 500;

/** The default request of `previewRecorded`. */
const asRecorded: Readonly<Record<string, unknown>> = { process: 'sequential', enableShareContext: true };

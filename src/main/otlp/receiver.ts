import { createHash } from 'node:crypto';
import { appendFileSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { privateFile, privateFolder } from '../../core/files/index.js';
import { type ReceivedItem, RefusedExport, type Signal, signals } from './decode.js';

export interface ReceiverOptions {
  /** The folder for received spans, with one file for each conversation. The path of the file becomes the path of the source. */
  readonly folder: string;
  /** Imports a file after spans were added to it. */
  readonly importFile: (path: string) => Promise<unknown>;
  readonly problem: (error: Error) => void;
}

/** Keeps spans and their logs until their trace is complete, then stores and imports them. */
export interface Receiver {
  /** Takes an export of this many bytes. @throws Refused if too much of earlier exports is not stored yet. */
  take(signal: Signal, received: readonly ReceivedItem[], bytes: number): void;
  /** Stores all that waits. */
  flush(): Promise<void>;
}

/** The time without new spans after which a trace is stored, in milliseconds: `complete` after its outermost span came, `open` before. */
const quiet = { complete: 500, open: 20_000 } as const;
/** The most spans and logs that wait for their traces, and their bytes. Above them, everything is stored at once. */
const maxWaiting = { items: 20_000, bytes: 64 * 1024 * 1024 } as const;
/** The most bytes of exports that are not stored yet. Further ones are refused until then. */
const maxHeldBytes = 128 * 1024 * 1024;

/** The attributes that name a conversation, as the reader of spans knows them. */
const conversationNames = ['gen_ai.conversation.id', 'session.id', 'langfuse.session.id', 'copilot_chat.chat_session_id'];
/** Attributes of the current and earlier GenAI conventions. */
const genAi = /^(?:gen_ai|llm|openinference|copilot_chat)\./;

interface Trace {
  readonly spans: ReceivedItem[];
  /** The logs of the spans, because some tools record messages as logs. */
  readonly logs: ReceivedItem[];
  /** Their part of the bytes that were received. */
  bytes: number;
  conversation: string | undefined;
  isGenAi: boolean;
  /** Whether its outermost span has come. */
  isComplete: boolean;
  timer: NodeJS.Timeout | undefined;
}

const newTrace = (): Trace => ({ spans: [], logs: [], bytes: 0, conversation: undefined, isGenAi: false, isComplete: false, timer: undefined });

/**
 * Opens a receiver. A trace is usually one turn: its outermost span comes last. Traces of one conversation go to one file, so that the conversation
 * grows by turns. Traces without a GenAI attribute are dropped, and so are logs that belong to no span. Logs that arrive after their trace was stored
 * are added to its conversation.
 */
export function openReceiver({ folder, importFile, problem }: ReceiverOptions): Receiver {
  const traces = new Map<string, Trace>();
  /** The conversation of each stored trace, for spans that arrive later. */
  const conversations = new Map<string, string>();
  const waiting = { items: 0, bytes: 0 };
  let storing = 0;
  let work: Promise<unknown> = Promise.resolve();

  const store = (id: string): void => {
    const trace = traces.get(id);
    if (!trace) return;
    clearTimeout(trace.timer);
    traces.delete(id);
    waiting.items -= trace.spans.length + trace.logs.length;
    waiting.bytes -= trace.bytes;
    const conversation = trace.conversation ?? conversations.get(id);
    if (trace.spans.length === 0 && !conversations.has(id)) {
      if (trace.isGenAi) problem(new Error(`Logs of the trace ${id} came without its spans, so they were not stored.`));
      return;
    }
    if (!trace.isGenAi && conversation === undefined) return;
    const name = conversation ?? id;
    remember(conversations, id, name);
    const path = join(folder, `${fileName(name)}.jsonl`);
    storing += trace.bytes;
    work = work
      .then(() => {
        mkdirSync(folder, { recursive: true, mode: privateFolder });
        appendFileSync(path, `${JSON.stringify(documentOf(trace))}\n`, { mode: privateFile });
        return importFile(path);
      })
      .catch(problem)
      .finally(() => {
        storing -= trace.bytes;
      });
  };

  const flush = async (): Promise<void> => {
    for (const id of [...traces.keys()]) store(id);
    await work;
  };

  return {
    take(signal, all, bytes) {
      if (waiting.bytes + storing > maxHeldBytes) throw new RefusedExport(503, 'Earlier spans are not stored yet. Send these again later.');
      for (const received of all) {
        const { item } = received;
        const id = typeof item.traceId === 'string' ? item.traceId : '';
        if (signal === 'logs' && (id === '' || !item.spanId)) continue;
        const trace = traces.get(id) ?? newTrace();
        traces.set(id, trace);
        trace[signal].push(received);
        trace.bytes += bytes / all.length;
        waiting.items += 1;
        waiting.bytes += bytes / all.length;
        const attributes = attributesOf(item);
        trace.isGenAi ||= attributes.some(({ key }) => genAi.test(key));
        trace.conversation ??= conversationNames.flatMap((name) => attributes.find(({ key }) => key === name)?.text ?? [])[0];
        const isLate = trace.spans.length === 0 && conversations.has(id);
        trace.isComplete ||= signal === 'spans' && !item.parentSpanId;
        clearTimeout(trace.timer);
        trace.timer = setTimeout(store, isLate || trace.isComplete ? quiet.complete : quiet.open, id);
        trace.timer.unref();
      }
      if (waiting.items > maxWaiting.items || waiting.bytes > maxWaiting.bytes) void flush();
    },
    flush,
  };
}

const rememberedTraces = 10_000;

function remember(map: Map<string, string>, id: string, name: string): void {
  map.set(id, name);
  if (map.size > rememberedTraces) map.delete(map.keys().next().value as string);
}

function attributesOf({ attributes }: ReceivedItem['item']): readonly { readonly key: string; readonly text: string | undefined }[] {
  return (Array.isArray(attributes) ? (attributes as unknown[]) : []).flatMap((attribute) => {
    const { key, value } = (attribute ?? {}) as { key?: unknown; value?: { stringValue?: unknown } };
    const text = value?.stringValue;
    return typeof key === 'string' ? [{ key, text: typeof text === 'string' && text !== '' ? text : undefined }] : [];
  });
}

/** A name that every file system accepts and that differs for each conversation. */
const fileName = (conversation: string): string =>
  `${conversation.replace(/[^A-Za-z0-9-]+/g, '-').slice(0, 60)}-${createHash('sha256').update(conversation).digest('hex').slice(0, 8)}`;

/** One export with these spans and logs, as OTLP JSON. */
function documentOf({ spans, logs }: Trace): object {
  if (spans.length === 0)
    return listsOf(
      'spans',
      logs.map((log) => ({ ...log, item: lateSpan(log.item) })),
    );
  return { ...listsOf('spans', spans), ...(logs.length > 0 && listsOf('logs', logs)) };
}

/** Turns a late log into an event of a child of its span, which is stored already. The reader adds the messages and counts no further call. */
function lateSpan(log: ReceivedItem['item']): ReceivedItem['item'] {
  const { traceId, spanId, timeUnixNano = log.observedTimeUnixNano, eventName, attributes = [], body } = log;
  const told = (body as { readonly kvlistValue?: { readonly values?: readonly object[] } } | undefined)?.kvlistValue?.values;
  const id = createHash('sha256').update(JSON.stringify(log)).digest('hex').slice(0, 16);
  const own = told ?? (body === undefined ? [] : [{ key: 'body', value: body }]);
  const named = (attributes as readonly { readonly key?: unknown; readonly value?: { readonly stringValue?: unknown } }[]).find(
    ({ key }) => key === 'event.name',
  );
  return {
    ...{ traceId, spanId: id, parentSpanId: spanId, name: 'chat', startTimeUnixNano: timeUnixNano, endTimeUnixNano: timeUnixNano },
    attributes: [
      { key: 'gen_ai.operation.name', value: { stringValue: 'chat' } },
      { key: 'stemma.late', value: { boolValue: true } },
    ],
    events: [{ name: eventName ?? named?.value?.stringValue, timeUnixNano, attributes: [...own, ...(attributes as readonly object[])] }],
  };
}

function listsOf(signal: Signal, received: readonly ReceivedItem[]): object {
  const { resources, scopes, items } = signals[signal];
  // The spans of an export share their resource, which can be large.
  const texts = new Map<unknown, string | undefined>();
  const serialize = (value: unknown): string | undefined => {
    if (!texts.has(value)) texts.set(value, JSON.stringify(value));
    return texts.get(value);
  };
  const by = (one: 'resource' | 'scope', some: readonly ReceivedItem[]): ReceivedItem[][] => [
    ...Map.groupBy(some, (each) => serialize(each[one])).values(),
  ];
  return {
    [resources]: by('resource', received).map((ofResource) => ({
      resource: ofResource[0]?.resource,
      [scopes]: by('scope', ofResource).map((ofScope) => ({ scope: ofScope[0]?.scope, [items]: ofScope.map(({ item }) => item) })),
    })),
  };
}

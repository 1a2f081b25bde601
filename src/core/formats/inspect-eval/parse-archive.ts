import { createHash } from 'node:crypto';
import { attempt, decodeText, isObject, type Json, type JsonObject, parseJson, stringAt } from '../../base/index.js';
import type { DocumentReader, FileBytes, Member } from '../format.js';
import { objectsIn } from '../shared/drafts.js';
import { hasTooManyValues } from '../shared/expansion.js';
import { valueAt, valuesInFile } from '../shared/json-items.js';
import { isDeep } from '../shared/jsonl.js';
import { lastRead } from '../shared/last-read.js';
import { hasMembers } from '../shared/top-members.js';
import { wrapLines } from '../shared/wrapped.js';
import { type ZipEntry, zipEntries } from '../shared/zip.js';
import { type Conversation, conversationsOf } from './parse-sample.js';

export const formatId = 'inspect-eval-v1';

/** A log: an archive, or a JSON document. Samples are read one at a time. */
export const document: DocumentReader = {
  keeps: true,
  endings: ['.eval'],
  recognize: (head) => {
    if (head[0] === 0x50 && head[1] === 0x4b && head[2] === 3 && head[3] === 4)
      return /(?:_journal\/|header\.json|samples\/|summaries\.json)/.test(decodeText(head));
    const text = decodeText(head);
    // A list of events without a log, as in the timelines of Inspect Scout.
    if (hasMembers(text, { events: /^\[\s*\{[\s\S]*?"event"\s*:\s*"/ })) return true;
    return hasMembers(text, { version: /^\d+$/, status: /^(?:started|success|cancelled|error)$/ }) && /"eval"\s*:/.test(text);
  },
  members(bytes) {
    if (bytes[0] === 0x50) return inArchive(bytes);
    const log = parseJson(decodeText(bytes));
    if (!isObject(log) || isDeep(log)) return undefined;
    if (log.samples === undefined && Array.isArray(log.events)) return eventList(log, bytes);
    const keep = keepLast();
    return objectsIn(log.samples).flatMap((sample) => readMembers(log, idOf(sample), () => sample, keep));
  },
  membersInFile(file) {
    if (file.subarray(0, 1)[0] === 0x50) return inArchive(file);
    const [first] = valuesInFile(file, (path) => path === 'samples');
    const log = first?.shell;
    if (!isObject(log) || log.samples === undefined) return undefined;
    const keep = keepLast();
    return first?.lists
      .flatMap(({ items }) => items)
      .flatMap((range) => {
        const read = (): JsonObject | undefined => objectsIn([valueAt(file, range) ?? null])[0];
        const sample = read();
        return sample ? readMembers(log, idOf(sample), read, keep) : [];
      });
  },
};

/** The conversations of a list of events. The list has no name, so it is named by its content. */
function eventList(log: JsonObject, bytes: Uint8Array): readonly Member[] {
  const id = createHash('sha256').update(bytes).digest('hex').slice(0, 16);
  const spec = { eval: { eval_id: 'events', task: stringAt(log, 'description') ?? 'Events' } };
  const sample = { events: log.events ?? [] };
  return readMembers(spec, `${id}_epoch_1`, () => sample, keepLast());
}

const idOf = (sample: JsonObject): string => `${String(sample.id ?? 'sample')}_epoch_${String(sample.epoch ?? 1)}`;

/** The conversations of a sample and of its failed earlier tries. A single conversation is read only when its lines are read. */
function readMembers(
  log: JsonObject,
  id: string,
  read: () => JsonObject | undefined,
  keep: ReturnType<typeof keepLast>,
  mayHaveMore = true,
): readonly Member[] {
  const spec = isObject(log.eval) ? log.eval : {};
  const task = stringAt(spec, 'task');
  const title = `${task ?? 'Inspect'} · ${id.replace(/_epoch_(\d+)$/, ', epoch $1')}`;
  const session = `${stringAt(spec, 'eval_id') ?? stringAt(spec, 'run_id') ?? `${task ?? ''}:${stringAt(spec, 'created') ?? ''}`}:${id}`;
  const model = stringAt(spec, 'model') ?? null;
  const conversations = (): ReadonlyMap<string, Titled> =>
    keep(read, () => {
      const found = new Map<string, Titled>();
      for (const one of titledIn(read(), session, title)) if (!found.has(one.id)) found.set(one.id, one);
      return found;
    });
  const memberOf = ({ id: name, agent, title: own }: Omit<Titled, 'records'>): Member => ({
    id: `${id}${name.slice(session.length)}`,
    title: own,
    lines: () => {
      const records = conversations().get(name)?.records ?? [{ id: 'unread', record: { note: 'unread sample', value: id } }];
      return wrapLines(formatId, name, { sessionId: name, model, ...(agent === undefined ? { title: own } : { agent, startedIn: name }) }, records);
    },
  });
  const first = memberOf({ id: session, title });
  return mayHaveMore ? [first, ...[...conversations().values()].slice(1).map(memberOf)] : [first];
}

type Titled = Conversation & { readonly title: string };

/** Returns the conversations of a sample, and keeps those of the last one: a sample may have thousands, and each is read by itself. */
const keepLast = lastRead<ReadonlyMap<string, Titled>>;

function titledIn(sample: JsonObject | undefined, session: string, title: string): readonly Titled[] {
  if (!sample) return [];
  const titled = (conversations: readonly Conversation[], more = ''): readonly Titled[] =>
    conversations.map((one) => ({ ...one, title: one.agent ?? `${title}${more}` }));
  const tries = objectsIn(sample.error_retries).flatMap((one, at): readonly Titled[] => {
    if (!Array.isArray(one.events) || one.events.length === 0) return [];
    return titled(conversationsOf({ ...shared(sample), events: one.events, error: one }, `${session}/try-${at + 1}`), `, try ${at + 1}`);
  });
  return [...titled(conversationsOf(sample, session)), ...tries];
}

/** The data that the tries of a sample refer to. */
const shared = ({ attachments, attached, pool, events_data: data }: JsonObject): JsonObject => ({
  ...{ attachments: attachments ?? {}, attached: attached ?? [], pool: pool ?? [], events_data: data ?? {} },
});

function inArchive(bytes: FileBytes): readonly Member[] | undefined {
  const entries = zipEntries(bytes);
  if (!entries) return undefined;
  const log = jsonAt(entries, 'header.json') ?? jsonAt(entries, '_journal/start.json') ?? {};
  const samples = namesBySample(entries);
  if (samples.size === 0 && !entries.has('header.json') && !entries.has('_journal/start.json')) return undefined;
  const keep = keepLast();
  return [...samples]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .flatMap(([id, names]) => readMembers(isObject(log) ? log : {}, id, () => sampleAt(entries, id, names), keep, mayHaveMore(entries, names)));
}

/** The names of the entries of each sample. An archive may have tens of thousands. An empty entry is no sample: it costs nothing in an archive. */
function namesBySample(entries: ReadonlyMap<string, ZipEntry>): ReadonlyMap<string, string[]> {
  const samples = new Map<string, string[]>();
  for (const [name, { length }] of entries) {
    const id = sampleIn(name);
    if (id === undefined || length === 0) continue;
    const names = samples.get(id) ?? [];
    names.push(name);
    samples.set(id, names);
  }
  return samples;
}

const samplesFolder = 'samples/';

/** The id of the sample that an entry belongs to: `samples/ID.json`, or anything in `samples/ID/`. A name may be long, so it is read once. */
function sampleIn(name: string): string | undefined {
  if (!name.startsWith(samplesFolder)) return undefined;
  const own = name.slice(samplesFolder.length);
  const slash = own.indexOf('/', 1);
  if (slash > 0 && slash < own.length - 1) return own.slice(0, slash);
  return own.length > 5 && own.endsWith('.json') ? own.slice(0, -5) : undefined;
}

/** Whether the bytes of a sample suggest that it contains started agents or earlier tries. */
const mayHaveMore = (entries: ReadonlyMap<string, ZipEntry>, names: readonly string[]): boolean =>
  names.some((name) => {
    if (/\/(?:messages|attachments|calls)\/\d+\.json$/.test(name)) return false;
    const bytes = Buffer.from(bytesAt(entries, name) ?? []);
    const tries = bytes.indexOf('"error_retries"');
    return bytes.includes('"agent"') || (tries >= 0 && /^"error_retries"\s*:\s*\[\s*\{/.test(bytes.toString('latin1', tries, tries + 40)));
  });

/** The bytes of an entry. A damaged entry is skipped, and the other samples are read. */
const bytesAt = (entries: ReadonlyMap<string, ZipEntry>, name: string): Uint8Array | undefined => attempt(() => entries.get(name)?.read());

function jsonAt(entries: ReadonlyMap<string, ZipEntry>, name: string): Json | undefined {
  const bytes = bytesAt(entries, name);
  const value = bytes && !hasTooManyValues(bytes) ? parseJson(decodeText(bytes)) : undefined;
  return isDeep(value) ? undefined : value;
}

/** A sample in one entry, or in chunks of messages, events and attachments. */
function sampleAt(entries: ReadonlyMap<string, ZipEntry>, id: string, names: readonly string[]): JsonObject | undefined {
  const whole = jsonAt(entries, `samples/${id}.json`);
  if (isObject(whole)) return whole;
  const shell = jsonAt(entries, `samples/${id}/sample.json`);
  if (!isObject(shell)) return undefined;
  const metadata = jsonAt(entries, `samples/${id}/metadata.json`);
  return {
    ...shell,
    ...(isObject(metadata) && shell.metadata === undefined && { metadata }),
    pool: chunksOf(entries, `samples/${id}/messages/`, names),
    events: chunksOf(entries, `samples/${id}/events/`, names),
    attached: chunksOf(entries, `samples/${id}/attachments/`, names),
  };
}

/** The items of all chunks, in order. A chunk is named by the index of its first item. */
function chunksOf(entries: ReadonlyMap<string, ZipEntry>, folder: string, names: readonly string[]): readonly Json[] {
  const starts = names.flatMap((name) => (name.startsWith(folder) ? (/^(\d+)\.json$/.exec(name.slice(folder.length))?.[1] ?? []) : []));
  return starts
    .sort((a, b) => Number(a) - Number(b))
    .flatMap((start) => {
      const chunk = jsonAt(entries, `${folder}${start}.json`);
      return Array.isArray(chunk) ? chunk : [];
    });
}

import { isObject, type Json, type JsonObject, parseJson, stringAt, textOf } from '../../base/index.js';
import type { DocumentReader, Member } from '../format.js';
import { objectsIn } from '../shared/drafts.js';
import { hasTooManyValues } from '../shared/expansion.js';
import { isDeep } from '../shared/jsonl.js';
import { wrapLines } from '../shared/wrapped.js';
import { type ZipEntry, zipEntries } from '../shared/zip.js';
import { recordsOf } from './parse-sample.js';

export const formatId = 'inspect-eval-v1';

/** A log: an archive, or a JSON document. Samples are read one at a time. */
export const document: DocumentReader = {
  keeps: true,
  endings: ['.eval'],
  recognize: (head) => {
    if (head[0] === 0x50 && head[1] === 0x4b && head[2] === 3 && head[3] === 4)
      return /(?:_journal\/|header\.json|samples\/|summaries\.json)/.test(textOf(head));
    const text = textOf(head);
    return /^\s*\{\s*"version"\s*:\s*\d+\s*,\s*"status"\s*:\s*"(?:started|success|cancelled|error)"/.test(text) && /"eval"\s*:/.test(text);
  },
  members(bytes) {
    if (bytes[0] === 0x50) return inArchive(bytes);
    const log = parseJson(textOf(bytes));
    if (!isObject(log) || isDeep(log)) return undefined;
    return objectsIn(log.samples).map((sample) => memberOf(log, idOf(sample), () => sample));
  },
};

const idOf = (sample: JsonObject): string => `${String(sample.id ?? 'sample')}_epoch_${String(sample.epoch ?? 1)}`;

function memberOf(log: JsonObject, id: string, read: () => JsonObject | undefined): Member {
  const spec = isObject(log.eval) ? log.eval : {};
  const task = stringAt(spec, 'task');
  const title = `${task ?? 'Inspect'} · ${id.replace(/_epoch_(\d+)$/, ', epoch $1')}`;
  const session = `${stringAt(spec, 'eval_id') ?? stringAt(spec, 'run_id') ?? `${task ?? ''}:${stringAt(spec, 'created') ?? ''}`}:${id}`;
  return {
    id,
    title,
    lines: () => {
      const sample = read();
      const records = sample ? recordsOf(sample) : [{ id: 'unread', record: { note: 'unread sample', value: id } }];
      return wrapLines(formatId, session, { sessionId: session, title, model: stringAt(spec, 'model') ?? null }, records);
    },
  };
}

function inArchive(bytes: Uint8Array): readonly Member[] | undefined {
  const entries = zipEntries(bytes);
  if (!entries) return undefined;
  const log = jsonAt(entries, 'header.json') ?? jsonAt(entries, '_journal/start.json') ?? {};
  const samples = namesBySample(entries);
  if (samples.size === 0 && !entries.has('header.json') && !entries.has('_journal/start.json')) return undefined;
  return [...samples]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([id, names]) => memberOf(isObject(log) ? log : {}, id, () => sampleAt(entries, id, names)));
}

/** The names of the entries of each sample. An archive may have tens of thousands. */
function namesBySample(entries: ReadonlyMap<string, ZipEntry>): ReadonlyMap<string, string[]> {
  const samples = new Map<string, string[]>();
  for (const name of entries.keys()) {
    const id = /^samples\/(.+?)(?:\.json|\/.+)$/.exec(name)?.[1];
    if (id === undefined) continue;
    const names = samples.get(id) ?? [];
    names.push(name);
    samples.set(id, names);
  }
  return samples;
}

function jsonAt(entries: ReadonlyMap<string, ZipEntry>, name: string): Json | undefined {
  try {
    const bytes = entries.get(name)?.read();
    const value = bytes && !hasTooManyValues(bytes) ? parseJson(textOf(bytes)) : undefined;
    return isDeep(value) ? undefined : value;
  } catch {
    // A damaged entry: the other samples are read.
    return undefined;
  }
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

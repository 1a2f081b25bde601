import { type Json, type JsonObject, parseJson, textOf } from '../../base/index.js';
import type { Mapping } from '../../contract/index.js';
import type { DocumentReader, Member } from '../format.js';
import { clip } from '../shared/headline.js';
import { isDeep } from '../shared/jsonl.js';
import { type Wrapped, wrapLines } from '../shared/wrapped.js';
import { type Applied, applied, asRecord } from './apply.js';

export const formatId = 'mapped-v1';

/** The document that a mapping reads: the value of a JSON file, or the values of the lines of a JSONL file. Lines that are no JSON are left out. */
export function documentIn(bytes: Uint8Array): Json | undefined {
  const text = textOf(bytes);
  const whole = parseJson(text);
  if (whole !== undefined) return isDeep(whole) ? undefined : whole;
  const lines = text.split('\n').flatMap((line): Json[] => {
    const value = line.trim() === '' ? undefined : parseJson(line);
    return value === undefined || isDeep(value) ? [] : [value];
  });
  return lines.length > 0 ? lines : undefined;
}

/** The conversations of a document by a mapping; undefined where the document does not belong to it. */
export function membersBy(mapping: Mapping, prepared: Applied, bytes: Uint8Array, path = ''): readonly Member[] | undefined {
  const document = documentIn(bytes);
  if (document === undefined || !prepared.recognizes(document)) return undefined;
  const sessions = prepared.sessions(document);
  const fileName = path.replace(/^.*[/\\]/, '').replace(/\.(?:jsonl?|traj)+$/, '');
  const taken = new Set<string>();
  return sessions.flatMap((session, number): Member[] => {
    const own = prepared.about(session, 'id') ?? (sessions.length === 1 && fileName !== '' ? fileName : `${fileName}${number + 1}`);
    const id = taken.has(own) ? `${own}-${number + 1}` : own;
    taken.add(id);
    const records = recordsOf(prepared, session);
    if (!records.some(({ record }) => (record.entries as readonly Json[]).length > 0)) return [];
    const [title, cwd] = [prepared.about(session, 'title'), prepared.about(session, 'cwd')];
    const about: JsonObject = {
      sessionId: id,
      agent: mapping.name,
      ...(title !== undefined && { title: clip(title) ?? title.slice(0, 100) }),
      ...(cwd !== undefined && { cwd }),
    };
    return [{ id, lines: () => wrapLines(formatId, id, about, records), ...(title !== undefined && { title }), ...(cwd !== undefined && { cwd }) }];
  });
}

/** Each record of a session with the entries that the mapping makes of it. Ids that repeat get a number. */
function recordsOf(prepared: Applied, session: Json): readonly Wrapped[] {
  const seen = new Map<string, number>();
  return prepared.records(session).map((value, position): Wrapped => {
    const { id: own, parent, at } = prepared.place(value);
    const name = own ?? String(position);
    const count = seen.get(name) ?? 0;
    seen.set(name, count + 1);
    return {
      id: count === 0 ? name : `${name}~${count}`,
      record: { entries: prepared.entries(value), source: asRecord(value) } as JsonObject,
      ...(parent !== undefined && { parent }),
      ...(at !== undefined && { at }),
    };
  });
}

/** A mapping that Stemma brings along, and how the files of its tool begin. */
export interface BuiltIn {
  readonly mapping: Mapping;
  readonly begins: (head: string, path: string) => boolean;
}

/** A reader of the documents of these mappings. */
export function readerOfMappings(mappings: readonly BuiltIn[], endings: readonly string[]): DocumentReader {
  const ready = new Map<BuiltIn, Applied>();
  const preparedOf = (one: BuiltIn): Applied => {
    const known = ready.get(one) ?? applied(one.mapping);
    ready.set(one, known);
    return known;
  };
  return {
    keeps: true,
    endings,
    recognize: (head, path = '') => {
      const text = textOf(head);
      return mappings.some(({ begins }) => begins(text, path));
    },
    members(document, path = '') {
      const head = textOf(document.subarray(0, 4_096));
      for (const one of mappings) {
        if (!one.begins(head, path)) continue;
        const members = membersBy(one.mapping, preparedOf(one), document, path);
        if (members && members.length > 0) return members;
      }
      return undefined;
    },
  };
}

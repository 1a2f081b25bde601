import { type ArtifactNo, type EntryKey, orUndefined } from '../base/index.js';
import { deltaKey, encodedOutline, type ReadChain, readParsed } from '../chain/index.js';
import { kinds } from '../contract/index.js';
import { entryNumbers, type ParsedEntry, recordOfKey, type StoredEntry, storedEntries } from '../formats/index.js';

type Value = string | number | bigint | Uint8Array | null;

/** Places in an entry of an outline. */
const kindAt = 2;
const headAt = 5;
const callIdAt = 6;
const toolCall = kinds.indexOf('tool_call');
const toolResult = kinds.indexOf('tool_result');

const deltaOf = (artifact: Value, format: Value) => ({ artifact: Number(artifact) as ArtifactNo, format: String(format) });

/** Functions of the views that read stored content. Content that is damaged, expired or elsewhere is null. */
export function contentFunctions(chain: ReadChain): Readonly<Record<string, (...values: Value[]) => Value>> {
  let last: { readonly name: string; readonly entries: ReadonlyMap<EntryKey, ParsedEntry> } | undefined;
  /** The entries of a delta by their keys. Neighboring rows are of the same delta. */
  const byKey = (delta: ReturnType<typeof deltaOf>): ReadonlyMap<EntryKey, ParsedEntry> => {
    const name = deltaKey(delta);
    if (last?.name !== name) last = { name, entries: new Map(readParsed(chain, delta).entries.map((entry) => [entry.key, entry])) };
    return last.entries;
  };
  let outline: Outline | undefined;
  /** The outline of a delta. Neighboring rows are of the same delta, so no name is made of both values. */
  const outlineOf = (artifact: Value, format: Value): Outline => {
    if (outline?.artifact !== artifact || outline.format !== format) {
      const encoded = orUndefined(() => encodedOutline(chain, deltaOf(artifact, format)));
      outline = { artifact, format, entries: encoded === undefined ? [] : storedEntries(encoded) };
    }
    return outline;
  };
  const entryOf = (artifact: Value, format: Value, key: Value): ParsedEntry | undefined =>
    orUndefined(() => byKey(deltaOf(artifact, format)).get(String(key) as EntryKey));
  return {
    stemma_record: (key) => recordOfKey(String(key) as EntryKey),
    stemma_numbers: (artifact, format) => entryNumbers(outlineOf(artifact, format).entries),
    stemma_part: (artifact, format, index, part) => outlineOf(artifact, format).entries[Number(index)]?.[Number(part)] || null,
    stemma_tool: (artifact, format, index) => toolAt(outlineOf(artifact, format), Number(index)),
    stemma_text: (artifact, format, key) => searchedText(entryOf(artifact, format, key)),
    stemma_at: (artifact, format, key) => {
      const at = entryOf(artifact, format, key)?.at;
      return at === undefined ? null : Date.parse(at);
    },
    stemma_arguments: (artifact, format, key) => writtenArguments(entryOf(artifact, format, key)),
    stemma_result: (artifact, format, callId) => {
      if (callId === null) return null;
      const entries = orUndefined(() => readParsed(chain, deltaOf(artifact, format)).entries);
      return searchedText(entries?.find(({ kind, toolCallId }) => kind === 'tool_result' && toolCallId === callId));
    },
  };
}

interface Outline {
  readonly artifact: Value;
  readonly format: Value;
  readonly entries: readonly StoredEntry[];
  /** The tools of the calls, by the ids of the calls. */
  tools?: ReadonlyMap<unknown, string>;
}

/** The tool of a call, or of a result in the delta of its call. */
function toolAt(outline: Outline, index: number): string | null {
  const entry = outline.entries[index];
  if (entry?.[kindAt] === toolCall) return entry[headAt] || null;
  if (entry?.[kindAt] !== toolResult || entry[callIdAt] === 0) return null;
  outline.tools ??= new Map(
    outline.entries.flatMap((one) => (one[kindAt] === toolCall && one[headAt] ? [[one[callIdAt], one[headAt]] as const] : [])),
  );
  return outline.tools.get(entry[callIdAt]) ?? null;
}

const searchedText = (entry: ParsedEntry | undefined): string | null => entry?.text ?? writtenArguments(entry);

const writtenArguments = (entry: ParsedEntry | undefined): string | null =>
  entry?.arguments === undefined ? null : typeof entry.arguments === 'string' ? entry.arguments : JSON.stringify(entry.arguments);

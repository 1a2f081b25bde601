import { type ArtifactNo, type EntryKey, StemmaError } from '../base/index.js';
import { encodedOutline, parsedOf, type ReadChain } from '../chain/index.js';
import { type ParsedEntry, recordOfKey } from '../formats/index.js';

type Value = string | number | bigint | Uint8Array | null;

/** Functions of the views that read stored content. Content that is damaged, expired or elsewhere is null. */
export function contentFunctions(chain: ReadChain): Readonly<Record<string, (...values: Value[]) => Value>> {
  let last: { readonly name: string; readonly entries: ReadonlyMap<EntryKey, ParsedEntry> } | undefined;
  /** The entries of a delta by their keys. Neighboring rows are of the same delta. */
  const byKey = (artifact: ArtifactNo, format: string): ReadonlyMap<EntryKey, ParsedEntry> => {
    const name = `${artifact}:${format}`;
    if (last?.name !== name) last = { name, entries: new Map(parsedOf(chain, artifact, format).entries.map((entry) => [entry.key, entry])) };
    return last.entries;
  };
  const entryOf = (artifact: Value, format: Value, key: Value): ParsedEntry | undefined =>
    unlessGone(() => byKey(Number(artifact) as ArtifactNo, String(format)).get(String(key) as EntryKey));
  return {
    stemma_record: (key) => recordOfKey(String(key) as EntryKey),
    stemma_outline: (artifact, format) => unlessGone(() => encodedOutline(chain, Number(artifact) as ArtifactNo, String(format))) ?? '[[]]',
    stemma_text: (artifact, format, key) => textOf(entryOf(artifact, format, key)),
    stemma_at: (artifact, format, key) => {
      const at = entryOf(artifact, format, key)?.at;
      return at === undefined ? null : Date.parse(at);
    },
    stemma_arguments: (artifact, format, key) => {
      const given = entryOf(artifact, format, key)?.arguments;
      return given === undefined ? null : typeof given === 'string' ? given : JSON.stringify(given);
    },
    stemma_result: (artifact, format, callId) =>
      unlessGone(() =>
        callId === null
          ? null
          : textOf(
              parsedOf(chain, Number(artifact) as ArtifactNo, String(format)).entries.find(
                ({ kind, toolCallId }) => kind === 'tool_result' && toolCallId === callId,
              ),
            ),
      ) ?? null,
  };
}

const textOf = (entry: ParsedEntry | undefined): string | null =>
  entry?.text ?? (entry?.arguments === undefined ? null : typeof entry.arguments === 'string' ? entry.arguments : JSON.stringify(entry.arguments));

function unlessGone<T>(work: () => T): T | undefined {
  try {
    return work();
  } catch (error) {
    if (error instanceof StemmaError) return undefined;
    throw error;
  }
}

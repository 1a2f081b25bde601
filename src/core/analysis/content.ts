import { type ArtifactNo, type EntryKey, StemmaError } from '../base/index.js';
import { encodedOutline, type ReadChain, readParsed } from '../chain/index.js';
import { type ParsedEntry, recordOfKey } from '../formats/index.js';

type Value = string | number | bigint | Uint8Array | null;

type OutlineRow = readonly [key: string, role: number, kind: number, tokens: number, flags: number, ...texts: (string | 0)[]];

/** Functions of the views that read stored content. Content that is damaged, expired or elsewhere is null. */
export function contentFunctions(chain: ReadChain): Readonly<Record<string, (...values: Value[]) => Value>> {
  let last: { readonly name: string; readonly entries: ReadonlyMap<EntryKey, ParsedEntry> } | undefined;
  /** The entries of a delta by their keys. Neighboring rows are of the same delta. */
  const byKey = (artifact: ArtifactNo, format: string): ReadonlyMap<EntryKey, ParsedEntry> => {
    const name = `${artifact}:${format}`;
    if (last?.name !== name) last = { name, entries: new Map(readParsed(chain, artifact, format).entries.map((entry) => [entry.key, entry])) };
    return last.entries;
  };
  let lastOutline: { readonly name: string; readonly rows: readonly OutlineRow[] } | undefined;
  /** The outlines of the entries of a delta. */
  const outlinesOf = (artifact: Value, format: Value): readonly OutlineRow[] => {
    const name = `${artifact}:${format}`;
    if (lastOutline?.name !== name) {
      const encoded = unlessGone(() => encodedOutline(chain, Number(artifact) as ArtifactNo, String(format)));
      lastOutline = { name, rows: encoded === undefined ? [] : (JSON.parse(encoded) as [OutlineRow[]])[0] };
    }
    return lastOutline.rows;
  };
  const entryOf = (artifact: Value, format: Value, key: Value): ParsedEntry | undefined =>
    unlessGone(() => byKey(Number(artifact) as ArtifactNo, String(format)).get(String(key) as EntryKey));
  return {
    stemma_record: (key) => recordOfKey(String(key) as EntryKey),
    // A number for each entry: its tokens, flags, role and kind. SQLite sorts and groups numbers in a tenth of the memory of texts.
    stemma_outline: (artifact, format) =>
      JSON.stringify(
        outlinesOf(artifact, format).map(([, role, kind, tokens, flags]) => tokens * 65_536 + (flags & 255) * 256 + (role & 15) * 16 + (kind & 15)),
      ),
    stemma_part: (artifact, format, index, part) => outlinesOf(artifact, format)[Number(index)]?.[Number(part)] || null,
    stemma_text: (artifact, format, key) => searchedText(entryOf(artifact, format, key)),
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
          : searchedText(
              readParsed(chain, Number(artifact) as ArtifactNo, String(format)).entries.find(
                ({ kind, toolCallId }) => kind === 'tool_result' && toolCallId === callId,
              ),
            ),
      ) ?? null,
  };
}

const searchedText = (entry: ParsedEntry | undefined): string | null =>
  entry?.text ?? (entry?.arguments === undefined ? null : typeof entry.arguments === 'string' ? entry.arguments : JSON.stringify(entry.arguments));

function unlessGone<T>(work: () => T): T | undefined {
  try {
    return work();
  } catch (error) {
    if (error instanceof StemmaError) return undefined;
    throw error;
  }
}

import type { OutputOf } from '../contract/index.js';
import { type FoundFile, ioReason, openFile, unlessUnreadable } from './files.js';
import { isDatabaseFile } from './members.js';
import { type AgentRoot, sessionFiles } from './places.js';

/** Bytes that are searched in one step. Other calls of the engine run between two steps. */
const part = 2 * 1024 * 1024;
const maxHits = 200;
/** Limits of one search. It begins with the latest histories. */
const maxBytes = 2 * 1024 * 1024 * 1024;
const before = 40;
const after = 120;

/**
 * Searches the histories on this machine that are not imported, ignoring case. Transcripts are read as bytes and never parsed. Each step
 * reads a part of a file.
 */
export function* searchOutside(
  places: readonly AgentRoot[],
  imported: (path: string, bytes: number) => boolean,
  text: string,
): Generator<undefined, OutputOf<'library.search'>> {
  const needles = [...new Set([text, JSON.stringify(text).slice(1, -1)])].map((one) => one.toLowerCase());
  const files = places
    .flatMap((place) => unlessUnreadable(() => sessionFiles(place)) ?? [])
    .filter(({ path, bytes }) => !imported(path, bytes))
    .sort((a, b) => b.modifiedAt - a.modifiedAt);
  const hits: OutputOf<'library.search'>['hits'] = [];
  let bytes = 0;
  let searched = 0;
  for (const file of files) {
    if (hits.length >= maxHits || bytes >= maxBytes) break;
    bytes += file.bytes;
    try {
      if (isDatabaseFile(file)) continue;
      const snippet = yield* firstIn(file, needles);
      if (snippet !== undefined) hits.push({ path: file.path, snippet });
      searched++;
    } catch (error) {
      // The file was deleted or cannot be read. An import reports it.
      ioReason(error);
    }
  }
  return { hits, searched, unread: files.length - searched };
}

/** The text around the first match; undefined without one. Parts overlap, so that a match across two parts is found. */
function* firstIn(file: FoundFile, needles: readonly string[]): Generator<undefined, string | undefined> {
  const open = openFile(file, { held: 0 });
  try {
    const overlap = 4 * Math.max(...needles.map((needle) => needle.length)) + before;
    for (let start = 0; start < file.bytes; start += part) {
      const content = new TextDecoder().decode(open.bytes.subarray(start, Math.min(file.bytes, start + part + overlap)));
      const lower = content.toLowerCase();
      const at = needles.map((needle) => lower.indexOf(needle)).find((place) => place >= 0);
      if (at !== undefined) return snippetAt(content, at);
      yield;
    }
    return undefined;
  } finally {
    open.close();
  }
}

/** The text around a match, without the escapes of JSON. */
const snippetAt = (content: string, at: number): string =>
  content
    .slice(Math.max(0, at - before), at + after)
    .replace(/\\[nrt]/g, ' ')
    .replace(/\\(["\\/])/g, '$1')
    .replace(/\s+/g, ' ')
    .trim();

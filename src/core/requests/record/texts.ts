import { type ArtifactNo, type ByteRange, decodeText, encodeText, onceFor, parseJson } from '../../base/index.js';
import type { ReadChain, WriteChain } from '../../chain/index.js';
import type { RecordedText } from '../runtimes/claude-code/records.js';
import { orderWithHash, shapeHash } from '../shared/canonical.js';
import { membersAt } from '../shared/json-ranges.js';
import { openPage, type PageText, pageLimit, textAt, writePage } from '../shared/pages.js';

/** A part of the file at `at` that an artifact holds, so that it need not be stored again with the file. */
export interface StoredRange {
  readonly at: number;
  readonly artifact: ArtifactNo;
  readonly start: number;
  readonly length: number;
}

export interface ArtifactRange {
  readonly artifact: ArtifactNo;
  readonly start: number;
}

/** Collects the texts that one import stores: messages in pages, shapes and record lines in artifacts. */
export type Texts = ReturnType<typeof openTexts>;

export interface ShapeRow {
  readonly hash: Buffer;
  readonly system: ArtifactNo | null;
  readonly tools: ArtifactNo | null;
  readonly rest: string | null;
}

const pageType = 'application/x-stemma-messages';
const linesType = 'application/jsonl';
/** Record lines are stored in large blocks, which compress well because lines resemble each other. Lines are read rarely and one at a time. */
const linesLimit = 256 * 1024;

/** The keys of a message in hex: its hash, and one with another byte for a plain string, which hashes treat as a text block. */
export const messageKeys = (hash: string): readonly [blocks: string, string: string] => [hash, `${hash}00`];

function messageKey(hash: string, { text, order }: PageText): string {
  const [blocks, string] = messageKeys(hash);
  // A message with an order has blocks: reordering its bytes never gives the canonical form of a string content.
  const content = order ? undefined : membersAt(text, 0, ['content'])?.get('content');
  return content && text[content.start] === 0x22 ? string : blocks;
}

interface Kept {
  readonly no: number;
  readonly text: Uint8Array;
  place: ArtifactRange | undefined;
}

/** Opens the store for the texts of one import. */
export function openTexts(chain: WriteChain, file: Uint8Array) {
  const { db, project, artifacts } = chain;
  const kept = new Map<string, Kept>();
  const uses: { readonly at: number; readonly length: number; readonly place: () => ArtifactRange | undefined }[] = [];
  const stored: StoredRange[] = [];
  const pages: { readonly first: number; readonly count: number; readonly artifact: ArtifactNo }[] = [];
  let collected: { readonly kept: Kept; readonly message: PageText }[] = [];
  let size = 0;
  let next = db.value<number>('SELECT first + count FROM requestPage ORDER BY first DESC LIMIT 1') ?? 1;
  const storedPlace = storedPlaceFinder(chain);

  const flush = (): void => {
    if (!collected.length) return;
    const { no: artifact } = artifacts.put(writePage(collected.map(({ message }) => message)), { contentType: pageType, bulk: true });
    pages.push({ first: (collected[0] as { kept: Kept }).kept.no, count: collected.length, artifact });
    let start = 0;
    for (const { kept: one } of collected) {
      one.place = { artifact, start };
      start += one.text.length;
    }
    [collected, size] = [[], 0];
  };

  const use = (range: ByteRange | undefined, place: () => ArtifactRange | undefined): void => {
    if (range) uses.push({ at: range.start, length: range.end - range.start, place });
  };

  return {
    has: (hash: string): boolean => kept.has(hash),
    /** The number of the message with this hash. Stores the message if needed. The caller has checked the hash. */
    keepMessage(hash: string, message: PageText, range: ByteRange | undefined): number {
      const key = messageKey(hash, message);
      const now = kept.get(key);
      if (now && Buffer.compare(now.text, message.text) === 0) use(range, () => now.place);
      if (now) return now.no;
      const name = Buffer.from(key, 'hex');
      if (!db.run('INSERT OR IGNORE INTO requestMessage (project, hash, no) VALUES (?, ?, ?)', project, name, next).changes) {
        const known = db.value<number>('SELECT no FROM requestMessage WHERE project = ? AND hash = ?', project, name);
        if (known === undefined) throw new Error(`message ${hash} is stored and not found`);
        use(range, () => storedPlace(known, message.text));
        return known;
      }
      const one: Kept = { no: next, text: message.text, place: undefined };
      next += 1;
      kept.set(key, one);
      collected.push({ kept: one, message });
      size += message.text.length;
      use(range, () => one.place);
      if (size >= pageLimit) flush();
      return one.no;
    },
    keepShape({ hash, text, range }: RecordedText): ShapeRow | string {
      if (!text) return 'the recorded system prompt and tools are larger than any request';
      const named = Buffer.from(hash, 'hex');
      if (!orderWithHash(text, named)) {
        const found = shapeHash(text);
        if (!found) return 'the recorded system prompt and tools are not JSON';
        if (!found.equals(named)) return `the recorded system prompt and tools have the hash ${found.toString('hex')}, not the one that names them`;
      }
      return { hash: named, ...storeShape(chain, stored, text, range) };
    },
    /** Writes the texts still in memory, and the record lines without the messages and shapes in them. Returns the place of each line. */
    finish(lines: readonly ByteRange[]): ReadonlyMap<ByteRange, ArtifactRange> {
      flush();
      for (const { at, length, place } of uses) {
        const where = place();
        if (where) stored.push({ at, length, ...where });
      }
      stored.sort((a, b) => a.at - b.at);
      return storeLines(chain, file, stored, lines);
    },
    /** The parts of the file that are stored so far. */
    ranges: (): readonly StoredRange[] => stored,
    /** Writes the rows that refer to the stored artifacts. */
    save(source: number): void {
      for (const { first, count, artifact } of pages)
        db.run('INSERT INTO requestPage (first, project, source, count, artifact) VALUES (?, ?, ?, ?, ?)', first, project, source, count, artifact);
    },
  };
}

/** Finds the place of a message that an earlier import stored, if its bytes are equal. */
function storedPlaceFinder({ db, artifacts }: ReadChain): (no: number, text: Uint8Array) => ArtifactRange | undefined {
  const pageAt = onceFor((artifact: ArtifactNo) => openPage(artifacts.read(artifact)));
  const select = 'SELECT first, artifact FROM requestPage WHERE first <= ? ORDER BY first DESC LIMIT 1';
  return (no, text) => {
    const { first, artifact } = db.one<{ first: number; artifact: ArtifactNo }>(select, no) ?? {};
    if (first === undefined || artifact === undefined) return undefined;
    const page = pageAt(artifact);
    return Buffer.compare(textAt(page, no - first), text) === 0 ? { artifact, start: page.starts[no - first] as number } : undefined;
  };
}

/** Stores the parts of a shape and adds them to `stored`. */
function storeShape({ artifacts }: WriteChain, stored: StoredRange[], text: Uint8Array, range: ByteRange | undefined): Omit<ShapeRow, 'hash'> {
  const keepPart = (bytes: Uint8Array, at: number | undefined): ArtifactNo => {
    const { no } = artifacts.put(bytes, { contentType: 'application/json', bulk: true });
    if (at !== undefined) stored.push({ at, artifact: no, start: 0, length: bytes.length });
    return no;
  };

  const asRecorded = membersAt(text, 0);
  const compact = asRecorded ? text : encodeText(JSON.stringify(parseJson(decodeText(text))));
  const members = asRecorded ?? membersAt(compact, 0) ?? new Map<string, ByteRange>();
  const part = (key: string): ArtifactNo | null => {
    const place = members.get(key);
    return place ? keepPart(compact.subarray(place.start, place.end), asRecorded && range && range.start + place.start) : null;
  };
  const rest = [...members]
    .filter(([key]) => key !== 'system' && key !== 'tools')
    .map(([key, place]) => `${JSON.stringify(key)}:${decodeText(compact.subarray(place.start, place.end))}`);
  return { system: part('system'), tools: part('tools'), rest: rest.length ? `{${rest.join(',')}}` : null };
}

/** Stores record lines without the parts that `stored` has already, and adds them to `stored`. */
function storeLines({ artifacts }: WriteChain, file: Uint8Array, stored: StoredRange[], lines: readonly ByteRange[]) {
  const parts = [...stored];
  const places = new Map<ByteRange, ArtifactRange>();
  let chunk: { readonly line: ByteRange; readonly pieces: readonly ByteRange[] }[] = [];
  let chunkSize = 0;
  const close = (): void => {
    if (!chunk.length) return;
    const bytes = Buffer.concat(chunk.flatMap(({ pieces }) => pieces.map(({ start, end }) => file.subarray(start, end))));
    const { no: artifact } = artifacts.put(bytes, { contentType: linesType, bulk: true });
    let start = 0;
    for (const { line, pieces } of chunk) {
      places.set(line, { artifact, start });
      for (const piece of pieces) {
        stored.push({ at: piece.start, artifact, start, length: piece.end - piece.start });
        start += piece.end - piece.start;
      }
    }
    chunk = [];
    chunkSize = 0;
  };
  let part = 0;
  for (const line of lines) {
    const pieces: ByteRange[] = [];
    let at = line.start;
    while (part < parts.length && (parts[part] as StoredRange).at < line.start) part += 1;
    for (; part < parts.length && (parts[part] as StoredRange).at < line.end; part += 1) {
      const { at: start, length } = parts[part] as StoredRange;
      if (start > at) pieces.push({ start: at, end: start });
      at = start + length;
    }
    const end = file[line.end] === 0x0a ? line.end + 1 : line.end;
    if (end > at) pieces.push({ start: at, end });
    chunk.push({ line, pieces });
    chunkSize += pieces.reduce((sum, piece) => sum + piece.end - piece.start, 0);
    if (chunkSize >= linesLimit) close();
  }
  close();
  return places;
}

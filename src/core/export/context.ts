import { blake3Of } from '../artifacts/index.js';
import { badRequest, decodeText, encodeText, toTimestamp } from '../base/index.js';
import {
  type Assembled,
  type AssembleOptions,
  assemble,
  type ContextRow,
  findCommit,
  kept,
  lineage,
  type ReadChain,
  seededIds,
  walk,
  writable,
} from '../chain/index.js';
import type { InputOf, OutputOf, Stop, Tier } from '../contract/index.js';
import { writeNewParts } from '../files/index.js';
import {
  entriesIn,
  type Format,
  type FormatLosses,
  isSealed,
  joinLosses,
  lossCounter,
  lossesOf,
  type ParsedEntry,
  promptAt,
  unsealedLosses,
} from '../formats/index.js';
import { databaseBytes } from '../store/index.js';
import { callsKnown } from './called.js';
import { type DocumentContent, readContent } from './content.js';
import { type DocumentKind, type ExportTarget, idOf, requireTarget } from './documents.js';
import {
  type Findings,
  type NamedText,
  noteWritten,
  type Redactor,
  redactArray,
  redactJson,
  redactor,
  redactText,
  replaceIn,
  textsIn,
} from './redact/index.js';

export type ExportInput = InputOf<'export.context'>;

export type Exported = OutputOf<'export.context'>;

/** Exports a context as text or to a new file. @throws NOT_FOUND for the commit, BAD_REQUEST for the format, CONFLICT if the file exists. */
export function exportContext(chain: ReadChain, input: ExportInput): Exported {
  const target = requireTarget(input.format);
  const source = sourceOf(chain, target, input);
  return deliver(chain, source.doc ? renderDocument(source) : renderWhole(rendered(chain, source.format, input)), target, input);
}

/**
 * As `exportContext`, with secrets of known patterns, home folders and e-mail addresses replaced. Also returns the list of placeholders. The chain
 * does not change. @throws BAD_REQUEST also for a format that is neither text, JSON nor CBOR.
 */
export async function exportRedacted(chain: ReadChain, input: ExportInput): Promise<Exported> {
  const target = requireTarget(input.format);
  const redact = redactor(findingsOf(chain), { ipAddresses: input.redactIps === true });
  const source = sourceOf(chain, target, input);
  const rendering = source.doc ? await redactDocument(source, redact) : await redactWhole(chain, source.format, input, redact);
  const written = new Map<string, number>();
  function* noted(): Generator<string | Uint8Array> {
    for (const part of rendering.parts) {
      noteWritten(typeof part === 'string' ? part : Buffer.from(part.buffer, part.byteOffset, part.byteLength).toString('latin1'), written);
      yield part;
    }
  }
  const delivered = deliver(chain, { ...rendering, parts: noted() }, target, input);
  return { ...delivered, redactions: redact.made(written) };
}

/** The number of bytes that findings may take: they are kept because an export is previewed before it is written, and the second run does not search again. */
const findingsBytes = 8 * 1024 * 1024;
const noFindings = (): Findings => new Map();
const findingsOf = (chain: ReadChain): Findings => kept(chain, 'findings', '', '', noFindings, () => findingsBytes);

/** The content to write, in parts. The losses are complete after the last part. */
interface Rendering {
  readonly parts: Iterable<string | Uint8Array>;
  readonly tier: Tier;
  losses(): FormatLosses;
}

interface DocumentExport {
  readonly doc: DocumentKind;
  readonly content: DocumentContent;
}

/** The document or the format to write. A context that is in the format of a document already is no document: its bytes are copied. */
function sourceOf(
  chain: ReadChain,
  target: ExportTarget,
  { id, stop }: ExportInput,
): DocumentExport | { readonly doc?: undefined; readonly format: Format } {
  if (!target.doc) return target;
  const { doc, format } = target;
  const way = walk(chain, findCommit(chain, id), stop);
  return format && way.contributing.every((step) => step.format === format.id) ? { format } : { doc, content: readContent(chain, way) };
}

function renderDocument({ doc, content }: DocumentExport): Rendering {
  const counter = lossCounter(doc);
  const counted: DocumentContent = {
    ...content,
    *steps() {
      for (const step of content.steps()) {
        if (!step.repeats) counter.add(step.entries);
        yield step;
      }
    },
  };
  return { parts: doc.parts(counted), tier: doc.tier, losses: counter.losses };
}

const renderWhole = ({ bytes, tier, losses, lossCounts }: Assembled): Rendering => ({ parts: [bytes], tier, losses: () => ({ losses, lossCounts }) });

/** Reads the context twice: first to find the texts to replace, then to write it. */
async function redactDocument({ doc, content }: DocumentExport, redact: Redactor): Promise<Rendering> {
  const { steps, ...about } = content;
  function* texts(): Generator<NamedText> {
    yield* textsIn(about);
    for (const step of steps()) yield* textsIn(step);
  }
  await redact.look(texts());
  return renderDocument({
    doc,
    content: {
      ...replaceIn(about, redact),
      *steps() {
        for (const step of steps()) yield replaceIn(step, redact);
      },
    },
  });
}

/** Reads the context twice. Entries are redacted before a translation could hide secrets, and the copied parts of the result after it. */
async function redactWhole(chain: ReadChain, format: Format, input: ExportInput, redact: Redactor): Promise<Rendering> {
  const { contentType, id, seals } = format;
  const sessionId = chain.newId();
  const translated: ParsedEntry[] = [];
  const first = rendered(chain, format, input, {
    sessionId,
    change: (entries) => {
      translated.push(...entries);
      return entries;
    },
  });
  const lost: FormatLosses[] = [];
  await redact.look(textsIn(translated));
  const change = (entries: readonly ParsedEntry[]): readonly ParsedEntry[] => {
    const changed = replaceIn(entries, redact).map((entry, at) => (isStale(entry, entries[at]) ? withoutSeal(entry) : entry));
    if (format.holds.includes('signature') && format.holds.includes('unsignedThinking')) lost.push(unsealedLosses(entries, changed));
    return changed;
  };
  const made = translated.length === 0 ? first : rendered(chain, format, input, { sessionId, change });
  const redacted = async (): Promise<Uint8Array> => {
    if (contentType.endsWith('cbor')) return redactArray(made.bytes, redact);
    if (contentType.includes('json')) return encodeText(await redactJson(decodeText(made.bytes), redact, seals));
    if (contentType.startsWith('text/')) return encodeText(await redactText(decodeText(made.bytes), redact));
    throw badRequest(
      'redact',
      `text, JSON and CBOR can be redacted, and ${id} is ${contentType}: choose another format, or export without redaction`,
    );
  };
  const bytes = await redacted();
  const about = { ...made, ...joinLosses([made, ...lost]) };
  return renderWhole(redact.made().length > 0 ? unsealed(about, bytes, format) : { ...about, bytes });
}

/** Whether thinking has a signature over another text than its own. */
const isStale = (entry: ParsedEntry, before: ParsedEntry | undefined): boolean =>
  entry.kind === 'thinking' && isSealed(entry) && entry.text !== before?.text;

/**
 * Removes signatures of thinking that redaction changed, and counts them as losses. In formats with lines, the change has removed the
 * signature already; others are written again without it. A format that cannot hold unsigned thinking leaves the thinking out.
 */
function unsealed(made: Assembled, bytes: Uint8Array, format: Format): Assembled {
  const before = entriesIn(format, made.bytes);
  const after = entriesIn(format, bytes);
  const stale = after.some((entry, at) => isStale(entry, before[at]));
  const entries = stale ? after.map((entry, at) => (isStale(entry, before[at]) ? withoutSeal(entry) : entry)) : after;
  const lost = unsealedLosses(before, entries);
  if (lost.lossCounts.length === 0) return { ...made, bytes };
  const written = stale ? rewritten(format, entries) : bytes;
  return { ...made, bytes: written, ...joinLosses([made, format.holds.includes('unsignedThinking') ? lost : lossesOf(entries, format)]) };
}

/** The entries in the format. If the files of the format are documents, as a document. */
function rewritten(format: Format, entries: readonly ParsedEntry[]): Uint8Array {
  const options = { newId: seededIds(format.id), now: toTimestamp(0) };
  const lines = format.write(entries.map(writable), options);
  return format.namesCalls && format.session ? format.session(lines, { ...options, sessionId: options.newId() }) : lines;
}

const withoutSeal = ({ result: _, marks, ...entry }: ParsedEntry): ParsedEntry => ({
  ...entry,
  marks: marks?.filter((mark) => mark !== 'signed' && mark !== 'redacted') ?? [],
});

function deliver(chain: ReadChain, rendering: Rendering, target: ExportTarget, input: ExportInput): Exported {
  let bytes = 0;
  function* counted(): Generator<Uint8Array> {
    for (const part of inDatabase(chain, rendering.parts, target, input)) {
      const content = typeof part === 'string' ? Buffer.from(part) : part;
      bytes += content.length;
      yield content;
    }
  }
  const delivered = writeOrReturn(counted(), target, input);
  return { ...delivered, bytes, format: idOf(target), tier: rendering.tier, ...rendering.losses() };
}

/** Puts the lines of a runtime whose sessions are databases into a new database, so that nothing redacted remains in it. */
function* inDatabase(chain: ReadChain, parts: Rendering['parts'], { format }: ExportTarget, { id }: ExportInput): Generator<string | Uint8Array> {
  if (!format?.sessionTables && !format?.pack) return yield* parts;
  const lines = Buffer.concat([...parts].map((part) => (typeof part === 'string' ? Buffer.from(part) : part)));
  const sessionId = chain.newId();
  const ids = { sessionId, newId: seededIds(`${id}\0${sessionId}`) };
  if (format.pack) {
    const tip = findCommit(chain, id);
    yield format.pack(lines, { ...ids, now: toTimestamp(tip.createdAt), ...callsKnown(chain, tip) });
  } else if (format.sessionTables) yield databaseBytes(format.sessionTables(lines, { ...ids, now: toTimestamp(chain.clock()) }));
}

function writeOrReturn(parts: Iterable<Uint8Array>, target: ExportTarget, { path, dryRun }: ExportInput): Pick<Exported, 'path' | 'text' | 'data'> {
  if (dryRun) {
    for (const _ of parts);
    return {};
  }
  if (path !== undefined) {
    writeNewParts(path, parts);
    return { path };
  }
  const whole = Buffer.concat([...parts]);
  return isText(target) ? { text: decodeText(whole) } : { data: whole.toString('base64') };
}

const isBinary = (format: Format | undefined): boolean => format?.pack !== undefined && format.about.extension === 'eval';

/** Whether a target can be redacted: text, JSON and CBOR can. */
export const canRedact = ({ doc, format }: ExportTarget): boolean => /json|cbor|^text\//.test((doc ?? format).contentType);

const isText = ({ doc, format }: ExportTarget): boolean =>
  !format?.sessionTables && !isBinary(format) && /json|^text\//.test((doc ?? format).contentType);

function rendered(chain: ReadChain, format: Format, input: ExportInput, how: { sessionId: string } & AssembleOptions = { sessionId: chain.newId() }) {
  const tip = findCommit(chain, input.id);
  const { sessionId, ...options } = how;
  if (format.session !== undefined || format.sessionTables !== undefined)
    return writeSession(chain, tip, format, { stop: input.stop, sessionId, options });
  const assembled = assemble(chain, walk(chain, tip, input.stop), format, options);
  return { ...assembled, bytes: closed(format, assembled.bytes) };
}

/** A session, and the prompt that was removed from its end. */
type Session = Assembled & { readonly prompt?: string };

/**
 * A session file that the format's agent can resume. With `takesPrompt`, a prompt at its end is returned apart and not in the file; with `mayBeEmpty`
 * also if nothing is left for the file. Without a stop it holds the whole chain with the compactions in their places, as the agent's own files do.
 * With a stop it holds the context that this stop materializes.
 */
export function writeSession(
  chain: ReadChain,
  tip: ContextRow,
  format: Format,
  how: {
    stop?: Stop | undefined;
    sessionId: string;
    cwd?: string | undefined;
    takesPrompt?: boolean;
    mayBeEmpty?: boolean;
    options?: AssembleOptions;
  },
): Session {
  const materialized = walk(chain, tip, how.stop);
  const whole =
    how.stop === undefined ? lineage(chain, tip).filter((step) => step.type !== 'snapshot' || step.parent === null) : materialized.contributing;
  // Only files of the same runtime can hold compactions in their places. Another runtime gets the context after the compaction.
  const way = whole.every((step) => step.format === format.id) ? { tip, contributing: whole, stop: 'root' as const } : materialized;
  const assembled = assemble(chain, way, format, how.options);
  const taken = how.takesPrompt ? withoutPrompt(format, assembled.bytes, how.mayBeEmpty) : undefined;
  if (taken?.bytes.length === 0) return { ...assembled, ...taken };
  const session = format.session?.(taken?.bytes ?? assembled.bytes, {
    sessionId: how.sessionId,
    newId: seededIds(`${tip.id}\0${how.sessionId}`),
    now: toTimestamp(chain.clock()),
    // A session that goes back to its agent needs a new id. A file for a person may stay as it was imported, unless a fork repaired its links.
    isUnchanged: how.cwd === undefined && tip.forked === 0 && isImported(chain, assembled.bytes, format),
    ...(format.namesCalls && callsKnown(chain, tip)),
    ...(how.cwd !== undefined && { cwd: how.cwd }),
  });
  return { ...assembled, bytes: session ?? assembled.bytes, ...(session && taken && { prompt: taken.prompt }) };
}

/** The conversation with open calls, or a request that the model begins, closed for formats whose readers refuse them. Else unchanged. */
function closed(format: Format, bytes: Uint8Array): Uint8Array {
  if (!format.close) return bytes;
  const all = entriesIn(format, bytes);
  const results = new Set(all.flatMap(({ kind, toolCallId }) => (kind === 'tool_result' ? [toolCallId] : [])));
  const isOpen = all.some(({ kind, toolCallId }) => kind === 'tool_call' && !results.has(toolCallId));
  const isBegun = format.isRequest === true && all.find(({ role }) => role !== 'system')?.role === 'assistant';
  return isOpen || isBegun ? format.close(bytes) : bytes;
}

/** Maximum length of a prompt on a command line. Longer ones do not work on every system. */
const maxPromptLength = 30_000;

/** Splits off the prompts at the end, joined into one. Undefined without one, or if nothing precedes it and the rest may not be empty. */
function withoutPrompt(format: Format, bytes: Uint8Array, mayBeEmpty = false): { readonly bytes: Uint8Array; readonly prompt: string } | undefined {
  const entries = format.parse(bytes).entries.filter(({ marks }) => !marks?.includes('hidden'));
  // Reminders and other texts that the agent added before a prompt stay in the file.
  const at = entries.findLastIndex((each) => each.kind !== 'text' || promptAt([{ ...each, head: each.text ?? '' }]) === undefined);
  const before = entries[at];
  const prompts = entries.slice(at + 1);
  const prompt = prompts.map(({ text }) => text).join('\n\n');
  if (prompt === '' || prompt.length > maxPromptLength) return undefined;
  if (!before) return mayBeEmpty ? { bytes: new Uint8Array(), prompt } : undefined;
  // An image is part of what a person asked, and a command cannot pass it.
  if (before.role === 'user' && before.kind !== 'text') return undefined;
  return { bytes: format.cut(bytes, before.key), prompt };
}

const isImported = (chain: ReadChain, bytes: Uint8Array, format: Format): boolean =>
  chain.db.one('SELECT 1 FROM source WHERE project = ? AND format = ? AND hash = ?', chain.project, format.id, blake3Of(bytes)) !== undefined;

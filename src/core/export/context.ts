import { blake3Of } from '../artifacts/index.js';
import { badRequest, bytesOf, type ContextId, textOf, timestampOf } from '../base/index.js';
import { type Assembled, assemble, type Chain, type ContextRow, commitOf, idsOf, lineage, walk, writable } from '../chain/index.js';
import type { Stop, Tier } from '../contract/index.js';
import {
  entriesIn,
  type Format,
  isSealed,
  joinLosses,
  type Losses,
  lossCounter,
  lossesOf,
  type ParsedEntry,
  unsealedLosses,
} from '../formats/index.js';
import { writeNewParts } from '../intake/index.js';
import { databaseBytes } from '../store/index.js';
import { type Document, idOf, type Target, targetOf } from './documents.js';
import {
  type Findings,
  noteWritten,
  type Redaction,
  type Redactor,
  redactArray,
  redactJson,
  redactor,
  redactText,
  replaceIn,
  textsIn,
} from './redact.js';
import { type Told, tell } from './told.js';

export interface ExportInput {
  readonly id: ContextId;
  readonly stop?: Stop | undefined;
  readonly format: string;
  readonly path?: string | undefined;
  /** Nothing is written and no content returned: only what the export would be. */
  readonly dryRun?: boolean | undefined;
}

export interface Exported extends Losses {
  readonly path?: string;
  readonly text?: string;
  /** In base64, where the format is no text. */
  readonly data?: string;
  readonly bytes: number;
  readonly format: string;
  readonly tier: Tier;
  readonly redactions?: readonly Redaction[];
}

/** A context in another system's form: returned as text, or written to a path where nothing is yet. */
export function exportContext(chain: Chain, input: ExportInput): Exported {
  const target = targetOf(input.format);
  const told = inParts(chain, target, input);
  return handOut(chain, told ? renderDocument(told) : renderWhole(rendered(chain, formatIn(target), input)), target, input);
}

/**
 * The same without secrets, homes and e-mail addresses, and a list of what stands instead. The chain keeps its bytes.
 * Forms that are neither text nor CBOR are refused.
 */
export async function exportRedacted(chain: Chain, input: ExportInput): Promise<Exported> {
  const target = targetOf(input.format);
  const redact = redactor(findingsOf(chain));
  const told = inParts(chain, target, input);
  const rendering = told ? await redactDocument(told, redact) : await redactWhole(chain, formatIn(target), input, redact);
  if (!told) return { ...handOut(chain, rendering, target, input), redactions: redact.made() };
  const written = new Map<string, number>();
  function* noted(): Generator<string | Uint8Array> {
    for (const part of rendering.parts) {
      if (typeof part === 'string') noteWritten(part, written);
      yield part;
    }
  }
  const handed = handOut(chain, { ...rendering, parts: noted() }, target, input);
  return { ...handed, redactions: redact.made(written) };
}

/** An export is looked at before it is written: the second time it is not searched again. */
const findings = new WeakMap<Chain, Findings>();
function findingsOf(chain: Chain): Findings {
  const known = findings.get(chain) ?? new Map();
  findings.set(chain, known);
  return known;
}

/** What is to be written, a part at a time; what was lost is known when the last part is drawn. */
interface Rendering {
  readonly parts: Iterable<string | Uint8Array>;
  readonly tier: Tier;
  losses(): Losses;
}

interface InParts {
  readonly doc: Document;
  readonly told: Told;
}

/** Documents are told as they are written, unless all of the context is in that form already. */
function inParts(chain: Chain, { doc, format }: Target, { id, stop }: ExportInput): InParts | undefined {
  if (!doc) return undefined;
  const way = walk(chain, commitOf(chain, id), stop);
  if (format && way.contributing.every((step) => step.format === format.id)) return undefined;
  return { doc, told: tell(chain, way) };
}

/** A target without a document is a format. */
function formatIn({ doc, format }: Target): Format {
  if (!format) throw new Error(`${doc?.id} is told in parts`);
  return format;
}

function renderDocument({ doc, told }: InParts): Rendering {
  const counter = lossCounter(doc);
  const counted: Told = {
    ...told,
    *steps() {
      for (const step of told.steps()) {
        if (!step.repeats) counter.add(step.entries);
        yield step;
      }
    },
  };
  return { parts: doc.parts(counted), tier: doc.tier, losses: counter.losses };
}

const renderWhole = ({ bytes, tier, losses, lossCounts }: Assembled): Rendering => ({ parts: [bytes], tier, losses: () => ({ losses, lossCounts }) });

/** The context is read twice: to find what is taken out, and to write the rest. */
async function redactDocument({ doc, told }: InParts, redact: Redactor): Promise<Rendering> {
  const { steps, ...about } = told;
  function* texts(): Generator<string> {
    yield* textsIn(about);
    for (const step of steps()) yield* textsIn(step);
  }
  await redact.look(texts());
  return renderDocument({
    doc,
    told: {
      ...replaceIn(about, redact),
      *steps() {
        for (const step of steps()) yield replaceIn(step, redact);
      },
    },
  });
}

async function redactWhole(chain: Chain, format: Format, input: ExportInput, redact: Redactor): Promise<Rendering> {
  const { contentType, id, seals } = format;
  const made = rendered(chain, format, input);
  const redacted = async (): Promise<Uint8Array> => {
    if (contentType.endsWith('cbor')) return redactArray(made.bytes, redact);
    if (contentType.includes('json')) return bytesOf(await redactJson(textOf(made.bytes), redact, seals));
    if (contentType.startsWith('text/')) return bytesOf(await redactText(textOf(made.bytes), redact));
    throw badRequest(
      'redact',
      `secrets can be taken out of text, JSON and CBOR, and ${id} is ${contentType}: ask for another format, or export it whole`,
    );
  };
  const bytes = await redacted();
  return renderWhole(redact.made().length > 0 ? unsealed(made, bytes, format) : { ...made, bytes });
}

/**
 * Thinking that changed has no signature anymore: a format's lines lost it with the change, other formats are written anew without it.
 * One that has no place for unsigned thinking leaves it out. What was lost is said.
 */
function unsealed(made: Assembled, bytes: Uint8Array, format: Format): Assembled {
  const before = entriesIn(format, made.bytes);
  const after = entriesIn(format, bytes);
  const isStale = (entry: ParsedEntry, at: number): boolean => entry.kind === 'thinking' && isSealed(entry) && entry.text !== before[at]?.text;
  const stale = after.some(isStale);
  const entries = stale ? after.map((entry, at) => (isStale(entry, at) ? withoutSeal(entry) : entry)) : after;
  const lost = unsealedLosses(before, entries);
  if (lost.lossCounts.length === 0) return { ...made, bytes };
  const written = stale ? format.write(entries.map(writable), { newId: idsOf(format.id), now: timestampOf(0) }) : bytes;
  return { ...made, bytes: written, ...joinLosses([made, format.holds.includes('unsignedThinking') ? lost : lossesOf(entries, format)]) };
}

const withoutSeal = ({ result: _, marks, ...entry }: ParsedEntry): ParsedEntry => ({
  ...entry,
  marks: marks?.filter((mark) => mark !== 'signed' && mark !== 'redacted') ?? [],
});

function handOut(chain: Chain, rendering: Rendering, target: Target, input: ExportInput): Exported {
  let bytes = 0;
  function* counted(): Generator<Uint8Array> {
    for (const part of inDatabase(chain, rendering.parts, target, input)) {
      const content = typeof part === 'string' ? Buffer.from(part) : part;
      bytes += content.length;
      yield content;
    }
  }
  const content = placed(counted(), target, input);
  return { ...content, bytes, format: idOf(target), tier: rendering.tier, ...rendering.losses() };
}

/** A runtime whose sessions are databases gets the lines as one of its own: what was taken out of them is not in it. */
function* inDatabase(chain: Chain, parts: Rendering['parts'], { format }: Target, { id }: ExportInput): Generator<string | Uint8Array> {
  if (!format?.sessionTables) return yield* parts;
  const lines = Buffer.concat([...parts].map((part) => (typeof part === 'string' ? Buffer.from(part) : part)));
  const sessionId = chain.newId();
  yield databaseBytes(format.sessionTables(lines, { sessionId, newId: idsOf(`${id}\0${sessionId}`), now: timestampOf(chain.clock()) }));
}

function placed(parts: Iterable<Uint8Array>, target: Target, { path, dryRun }: ExportInput): Pick<Exported, 'path' | 'text' | 'data'> {
  if (dryRun) {
    for (const _ of parts);
    return {};
  }
  if (path !== undefined) {
    writeNewParts(path, parts);
    return { path };
  }
  const whole = Buffer.concat([...parts]);
  return isText(target) ? { text: textOf(whole) } : { data: whole.toString('base64') };
}

/** Whether what is secret can be taken out of it: of text, JSON and CBOR. */
export const canRedact = ({ doc, format }: Target): boolean => /json|cbor|^text\//.test((doc ?? format).contentType);

const isText = ({ doc, format }: Target): boolean => !format?.sessionTables && /json|^text\//.test((doc ?? format).contentType);

function rendered(chain: Chain, format: Format, input: ExportInput): Assembled {
  const tip = commitOf(chain, input.id);
  return format.session === undefined && format.sessionTables === undefined
    ? assemble(chain, walk(chain, tip, input.stop), format)
    : sessionOf(chain, tip, format, { stop: input.stop, sessionId: chain.newId() });
}

/**
 * A session file that the format's agent resumes. Without a stop it holds the whole chain, compactions in their places, as the
 * agents' own files do; with one it holds the context as that stop materializes it.
 */
export function sessionOf(
  chain: Chain,
  tip: ContextRow,
  format: Format,
  how: { stop?: Stop | undefined; sessionId: string; cwd?: string | undefined },
): Assembled {
  const materialized = walk(chain, tip, how.stop);
  const whole =
    how.stop === undefined ? lineage(chain, tip).filter((step) => step.type !== 'snapshot' || step.parent === null) : materialized.contributing;
  // Compactions keep their places in their own runtime's files alone: for another one what counts is the context that they leave.
  const way = whole.every((step) => step.format === format.id) ? { tip, contributing: whole, stop: 'root' as const } : materialized;
  const assembled = assemble(chain, way, format);
  const session = format.session?.(assembled.bytes, {
    sessionId: how.sessionId,
    newId: idsOf(`${tip.id}\0${how.sessionId}`),
    now: timestampOf(chain.clock()),
    // Handed to its agent a second time, a file needs an id of its own; as a file for somebody it may stay what it is.
    isUnchanged: how.cwd === undefined && isImported(chain, assembled.bytes, format),
    ...(how.cwd !== undefined && { cwd: how.cwd }),
  });
  return { ...assembled, bytes: session ?? assembled.bytes };
}

/** Whether the bytes are those of a file that was imported. */
const isImported = (chain: Chain, bytes: Uint8Array, format: Format): boolean =>
  chain.db.one('SELECT 1 FROM source WHERE project = ? AND format = ? AND hash = ?', chain.project, format.id, blake3Of(bytes)) !== undefined;

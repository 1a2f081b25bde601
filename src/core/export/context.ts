import { blake3Of } from '../artifacts/index.js';
import { badRequest, type ContextId, textOf, timestampOf } from '../base/index.js';
import { type Assembled, assemble, type Chain, type ContextRow, commitOf, idsOf, lineage, walk } from '../chain/index.js';
import type { Stop, Tier } from '../contract/index.js';
import { type Format, formatOf, type Losses } from '../formats/index.js';
import { writeNew } from '../intake/index.js';
import { type Findings, type Redaction, redact } from './redact.js';

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
export const exportContext = (chain: Chain, input: ExportInput): Exported => handOut(rendered(chain, input), input);

/**
 * The same without secrets, homes and e-mail addresses, and a list of what stands instead. The chain keeps its bytes.
 * Formats that are no text are refused.
 */
export async function exportRedacted(chain: Chain, input: ExportInput): Promise<Exported> {
  const { contentType } = formatOf(input.format);
  const form = contentType.includes('json') ? 'json' : contentType.startsWith('text/') ? 'plain' : undefined;
  if (form === undefined)
    throw badRequest(
      'redact',
      `secrets can be taken out of text alone, and ${input.format} is ${contentType}: ask for another format, or export it whole`,
    );
  const made = rendered(chain, input);
  const known = findings.get(chain) ?? new Map();
  findings.set(chain, known);
  const { text, redactions } = await redact(textOf(made.bytes), form, known);
  return { ...handOut({ ...made, bytes: new TextEncoder().encode(text) }, input), redactions };
}

/** An export is looked at before it is written: the second time it is not searched again. */
const findings = new WeakMap<Chain, Findings>();

function handOut({ bytes, tier, losses, lossCounts }: Assembled, input: ExportInput): Exported {
  const about = { bytes: bytes.length, format: input.format, tier, losses, lossCounts };
  if (input.dryRun) return about;
  if (input.path !== undefined) {
    writeNew(input.path, bytes);
    return { path: input.path, ...about };
  }
  const isText = !formatOf(input.format).contentType.endsWith('cbor');
  return { ...(isText ? { text: textOf(bytes) } : { data: Buffer.from(bytes).toString('base64') }), ...about };
}

function rendered(chain: Chain, input: ExportInput): Assembled {
  const format = formatOf(input.format);
  const tip = commitOf(chain, input.id);
  return format.session === undefined
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

import { type ArtifactNo, StemmaError } from '../base/index.js';
import {
  countTokens,
  decodeOutline,
  type Elision,
  encodeOutline,
  type Outline,
  outlineOfParsed,
  type ParsedDelta,
  readerOf,
} from '../formats/index.js';
import type { Chain } from './chain.js';

/** Raised when an outline holds other things than before, so that stored ones are made again. */
const parserVersion = 1;

/** The outline of a stored delta: kept, or made from its content and kept. */
export function outlineOf(chain: Chain, artifact: ArtifactNo, format: string): Outline {
  const name = `${artifact}:${format}`;
  const recent = chain.outlines.get(name);
  if (recent) return recent;
  const stored = readableOutline(chain, artifact, format);
  const outline = stored ?? outlineOfParsed(parsedOf(chain, artifact, format));
  if (!stored && !chain.db.readonly) saveOutline(chain, artifact, format, encodeOutline(outline));
  chain.outlines.set(name, outline, outline.entries.length + 1);
  return outline;
}

/** Outlines of many deltas. Those that are not kept yet are, in one transaction: a sync for each would take longer than all else. */
export function outlinesOf(chain: Chain, deltas: readonly { readonly artifact: ArtifactNo; readonly format: string }[]): Outline[] {
  const isKept = ({ artifact, format }: (typeof deltas)[number]): boolean =>
    chain.outlines.get(`${artifact}:${format}`) !== undefined || readableOutline(chain, artifact, format) !== undefined;
  const all = (): Outline[] => deltas.map(({ artifact, format }) => outlineOf(chain, artifact, format));
  return chain.db.readonly || deltas.every(isKept) ? all() : chain.db.transaction(all);
}

/** The outline that is kept, unless it does not read as one: then it is made again like one that is not there. */
function readableOutline(chain: Chain, artifact: ArtifactNo, format: string): Outline | undefined {
  try {
    return storedOutline(chain, artifact, format);
  } catch (error) {
    if (error instanceof StemmaError) throw error;
    return undefined;
  }
}

/** The outline that is kept, if this parser made it. @throws where it does not read as one. */
export function storedOutline(chain: Chain, artifact: ArtifactNo, format: string): Outline | undefined {
  const stored = chain.db.one<{ data: string }>(
    'SELECT data FROM outline WHERE artifact = ? AND format = ? AND parser = ?',
    artifact,
    format,
    parserVersion,
  );
  return stored && decodeOutline(stored.data);
}

/** Keeps an outline as it is stored (`encodeOutline`, or `outlined` by a planner). */
export function saveOutline(chain: Chain, artifact: ArtifactNo, format: string, data: string): void {
  chain.db.run('INSERT OR REPLACE INTO outline (artifact, format, parser, data) VALUES (?, ?, ?, ?)', artifact, format, parserVersion, data);
}

/** A stored delta as its format reads it; one of a format that is not known is one text that says so. */
export function parsedOf(chain: Chain, artifact: ArtifactNo, format: string): ParsedDelta {
  const name = `${artifact}:${format}`;
  const recent = chain.parsed.get(name);
  if (recent) return recent;
  const bytes = chain.artifacts.read(artifact);
  const parsed = readerOf(format).parse(bytes);
  chain.parsed.set(name, parsed, bytes.length);
  return parsed;
}

/** Tokens that an elided result still costs. */
export const elidedTokens = (elision: Elision): number => countTokens(elision.text);

import type { ArtifactNo, EntryKey } from '../base/index.js';
import { type Kind, kinds, type Role, roles } from '../contract/index.js';
import { countTokens, type Elision, type ParsedDelta, type ParsedEntry, readerOf } from '../formats/index.js';
import type { Chain } from './chain.js';

/** One entry without its content: enough for counts, bars and finding a place. */
export interface OutlineEntry {
  readonly key: EntryKey;
  readonly role: Role;
  readonly kind: Kind;
  readonly tokens: number;
  readonly hidden: boolean;
  readonly isError: boolean;
  readonly head: string | undefined;
  readonly toolCallId: string | undefined;
  readonly messageId: string | undefined;
}

/** A delta's entries in order, hidden ones included, and what the delta does to entries before it. */
export interface Outline {
  readonly entries: readonly OutlineEntry[];
  readonly elisions: readonly Elision[];
}

/** Raised when an outline holds other things than before, so that stored ones are made again. */
const parserVersion = 1;

type StoredEntry = [
  key: string,
  role: number,
  kind: number,
  tokens: number,
  flags: number,
  head: string | 0,
  toolCallId: string | 0,
  messageId: string | 0,
];
const hiddenFlag = 1;
const errorFlag = 2;
const headLength = 120;

export const isHidden = (entry: ParsedEntry): boolean => entry.marks?.includes('hidden') ?? false;

export function outlineOfParsed(parsed: ParsedDelta): Outline {
  return {
    elisions: parsed.elisions,
    entries: parsed.entries.map((entry) => ({
      key: entry.key,
      role: entry.role,
      kind: entry.kind,
      tokens: entry.tokens,
      hidden: isHidden(entry),
      isError: entry.isError ?? false,
      head: headOf(entry),
      toolCallId: entry.toolCallId,
      messageId: entry.messageId,
    })),
  };
}

/** Prompts and summaries by their beginning, calls and results by their tool: what an outline of a context shows. */
function headOf(entry: ParsedEntry): string | undefined {
  if (entry.toolName !== undefined) return entry.toolName;
  const text = entry.text
    ?.slice(0, headLength * 2)
    .replace(/\s+/g, ' ')
    .trim();
  return text ? wellFormed(text.slice(0, headLength)) : undefined;
}

/** A cut may fall between the two halves of a character. */
const wellFormed = (text: string): string => text.toWellFormed();

/** The outline of a stored delta: kept, or made from its content and kept. */
export function outlineOf(chain: Chain, artifact: ArtifactNo, format: string): Outline {
  const name = `${artifact}:${format}`;
  const recent = chain.outlines.get(name);
  if (recent) return recent;
  const stored = storedOutline(chain, artifact, format);
  const outline = stored ?? outlineOfParsed(parsedOf(chain, artifact, format));
  if (!stored && !chain.db.readonly) saveOutline(chain, artifact, format, outline);
  chain.outlines.set(name, outline, outline.entries.length + 1);
  return outline;
}

/** Outlines of many deltas. Those that are not kept yet are, in one transaction: a sync for each would take longer than all else. */
export function outlinesOf(chain: Chain, deltas: readonly { readonly artifact: ArtifactNo; readonly format: string }[]): Outline[] {
  const isKept = ({ artifact, format }: (typeof deltas)[number]): boolean =>
    chain.outlines.get(`${artifact}:${format}`) !== undefined || storedOutline(chain, artifact, format) !== undefined;
  const all = (): Outline[] => deltas.map(({ artifact, format }) => outlineOf(chain, artifact, format));
  return chain.db.readonly || deltas.every(isKept) ? all() : chain.db.transaction(all);
}

/** The outline that is kept, if this parser made it. */
export function storedOutline(chain: Chain, artifact: ArtifactNo, format: string): Outline | undefined {
  const stored = chain.db.one<{ data: string }>(
    'SELECT data FROM outline WHERE artifact = ? AND format = ? AND parser = ?',
    artifact,
    format,
    parserVersion,
  );
  return stored && decode(stored.data);
}

export function saveOutline(chain: Chain, artifact: ArtifactNo, format: string, outline: Outline): void {
  chain.db.run(
    'INSERT OR REPLACE INTO outline (artifact, format, parser, data) VALUES (?, ?, ?, ?)',
    artifact,
    format,
    parserVersion,
    encode(outline),
  );
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

/** Entries are named by their record and a number in it. */
export const recordOf = (key: EntryKey): string => key.replace(/\.\d+$/, '');

/** What of an entry counts. */
type Counted = Pick<OutlineEntry, 'key' | 'messageId' | 'tokens' | 'hidden' | 'isError'>;

export interface Counts {
  readonly messages: number;
  readonly tokens: number;
  readonly errors: number;
  readonly entries: number;
}

/** The counts alone, where nobody asks for the outline: the beginnings of texts are most of its price. */
export const countsOfParsed = (parsed: ParsedDelta): Counts =>
  countsOf({
    entries: parsed.entries.map((entry) => ({
      key: entry.key,
      messageId: entry.messageId,
      tokens: entry.tokens,
      hidden: isHidden(entry),
      isError: entry.isError ?? false,
    })),
  });

/** What a model is sent counts; runs of entries of one wire message are one message. */
export function countsOf(outline: { readonly entries: readonly Counted[] }): Counts {
  let messages = 0;
  let tokens = 0;
  let errors = 0;
  let previous: string | undefined;
  for (const entry of outline.entries) {
    if (entry.hidden) continue;
    const message = entry.messageId ?? entry.key.replace(/\.\d+$/, '');
    if (message !== previous) messages += 1;
    previous = message;
    tokens += entry.tokens;
    if (entry.isError) errors += 1;
  }
  return { messages, tokens, errors, entries: outline.entries.length };
}

/** Tokens that an elided result still costs. */
export const elidedTokens = (elision: Elision): number => countTokens(elision.text);

function encode(outline: Outline): string {
  const entries = outline.entries.map(
    (entry): StoredEntry => [
      entry.key,
      roles.indexOf(entry.role),
      kinds.indexOf(entry.kind),
      entry.tokens,
      (entry.hidden ? hiddenFlag : 0) | (entry.isError ? errorFlag : 0),
      entry.head ?? 0,
      entry.toolCallId ?? 0,
      entry.messageId ?? 0,
    ],
  );
  return JSON.stringify([entries, outline.elisions]);
}

function decode(data: string): Outline {
  const [entries, elisions] = JSON.parse(data) as [StoredEntry[], Elision[]];
  return {
    elisions,
    entries: entries.map(([key, role, kind, tokens, flags, head, toolCallId, messageId]) => ({
      key: key as EntryKey,
      role: roles[role] as Role,
      kind: kinds[kind] as Kind,
      tokens,
      hidden: (flags & hiddenFlag) !== 0,
      isError: (flags & errorFlag) !== 0,
      head: head || undefined,
      toolCallId: toolCallId || undefined,
      messageId: messageId || undefined,
    })),
  };
}

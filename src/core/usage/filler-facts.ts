// What the list of fillers needs of each entry of a delta. Deltas never change, so the facts are stored, and the list reads no content.
import { sha256Of } from '../artifacts/index.js';
import { type ArtifactNo, defined, type EntryKey, parseJson } from '../base/index.js';
import {
  type ContextRow,
  contextEntriesInTurn,
  outlineRows,
  outlinesOf,
  packed,
  parsedAlong,
  type ReadChain,
  type Step,
  unpacked,
  type WriteChain,
} from '../chain/index.js';
import type { PartKind } from '../contract/index.js';
import { askedLine, isHidden, outlineOfParsed, type ParsedDelta, type ParsedEntry, patchedFiles, toolLine } from '../formats/index.js';
import { deltaKey } from './delta-measures.js';
import { pathIn } from './paths.js';
import { partKindOf } from './window.js';

/** The facts of a visible entry. The names are short, because there are many of them. */
export interface FillerFact {
  readonly key: EntryKey;
  readonly kind: PartKind;
  readonly tokens: number;
  /** What a person asked, else the beginning of the text. */
  readonly head?: string | undefined;
  readonly tool?: string | undefined;
  /** The id of the tool call that it is, or to which it belongs. */
  readonly call?: string | undefined;
  /** For a tool call, the file and the input that it is about. */
  readonly does?: { readonly path?: string | undefined; readonly input?: string | undefined };
  /** The message of a file that an agent attached, and the path in the record before it. */
  readonly message?: string | undefined;
  readonly attached?: string | undefined;
  /** A digest of a long text, by which repeated content is found. */
  readonly digest?: string | undefined;
  /** A reminder that the agent added. */
  readonly reminds?: true;
  /** The beginning of a system prompt. */
  readonly prompt?: string | undefined;
}

/** Increase this number when the facts change, so that stored ones are made again. */
const version = 1;

/** Texts shorter than this may repeat by chance. */
const minDuplicateLength = 200;
/**
 * The number of leading characters that distinguish system prompts. Prompts of the same agent differ only later: in a date, or in a list of files.
 */
const promptBeginning = 80;

function factOf(entry: ParsedEntry, head: string | undefined, tokens: number): FillerFact {
  const { key, role, kind, text = '', toolName, toolCallId, messageId, marks } = entry;
  const isFile = toolName === 'file' && messageId !== undefined;
  return {
    key,
    kind: partKindOf(entry),
    tokens,
    ...defined({
      head: askedOf(entry) || head,
      tool: toolName,
      call: toolCallId,
      message: isFile ? messageId : undefined,
      attached: isFile ? attachedPath(text) : undefined,
      digest: text.length < minDuplicateLength ? undefined : sha256Of(Buffer.from(text)).toString('base64url').slice(0, digestLength),
      prompt: role === 'system' && kind === 'text' ? text.slice(0, promptBeginning) : undefined,
    }),
    ...(kind === 'tool_call' && { does: doneBy(entry) }),
    ...(kind === 'text' && role !== 'assistant' && marks?.includes('meta') && { reminds: true as const }),
  };
}

/** Long enough that two texts of a project never have the same digest. */
const digestLength = 22;

function doneBy(entry: ParsedEntry): NonNullable<FillerFact['does']> {
  const { toolName, arguments: given } = entry;
  const input = toolName === undefined ? undefined : toolLine(toolName, given).slice(toolName.length).trim();
  return defined({ path: pathIn(given) ?? onlyPatched(entry), input });
}

/** The facts of the visible entries of a delta. */
export function fillerFacts(parsed: ParsedDelta): FillerFact[] {
  const outline = outlineOfParsed(parsed).entries;
  return parsed.entries.flatMap((entry, at) => (isHidden(entry) ? [] : [factOf(entry, outline[at]?.head, entry.tokens)]));
}

/** The facts of the visible entries of a context and its commits, in order. Replaced results are read as the model sees them. */
export function factsAlong(chain: ReadChain, tip: ContextRow, steps: readonly Step[]): readonly FillerFact[] {
  const known = storedFacts(chain, steps);
  // Deltas that replace results have no stored facts.
  const missing = steps.filter((step) => !known.has(deltaKey(step)));
  if (outlinesOf(chain, missing).some(({ elisions }) => elisions.length > 0)) {
    const { rows } = outlineRows(chain, { id: tip.id });
    return [...contextEntriesInTurn(chain, { id: tip.id })].map(({ entry }, at) => factOf(entry, rows[at]?.head, rows[at]?.tokens ?? entry.tokens));
  }
  for (const { step, parsed } of parsedAlong(chain, missing)) known.set(deltaKey(step), fillerFacts(parsed));
  return steps.flatMap((step) => known.get(deltaKey(step)) ?? []);
}

/** Deltas whose facts one query reads. */
const deltasAtOnce = 500;

function storedFacts({ db }: ReadChain, steps: readonly Step[]): Map<string, readonly FillerFact[]> {
  const known = new Map<string, readonly FillerFact[]>();
  for (let from = 0; from < steps.length; from += deltasAtOnce)
    for (const { data, ...at } of db.all<{ artifact: ArtifactNo; format: string; data: string | Uint8Array }>(
      'SELECT artifact, format, data FROM usageFiller WHERE artifact IN (SELECT value FROM json_each(?)) AND version = ?',
      JSON.stringify(steps.slice(from, from + deltasAtOnce).map(({ artifact }) => artifact)),
      version,
    )) {
      const facts = factsIn(data);
      if (Array.isArray(facts)) known.set(deltaKey(at), facts as FillerFact[]);
    }
  return known;
}

/** The stored facts. Damaged ones count as missing. */
function factsIn(stored: string | Uint8Array): unknown {
  try {
    return parseJson(unpacked(stored));
  } catch {
    return undefined;
  }
}

/** Stores the facts of a delta. Call it inside a transaction. */
export const saveFacts = ({ db }: WriteChain, { artifact, format }: Step, facts: readonly FillerFact[]): void =>
  void db.run(
    'INSERT OR REPLACE INTO usageFiller (artifact, format, version, data) VALUES (?, ?, ?, ?)',
    artifact,
    format,
    version,
    packed(JSON.stringify(facts)),
  );

/**
 * The file that Claude Code attaches itself, for instance after a compaction. Before the content, it writes the call that would have read the file.
 */
function attachedPath(text: string): string | undefined {
  const given = /Called the Read tool with the following input: (\{.*\})/.exec(text)?.[1];
  return given === undefined ? undefined : pathIn(parseJson(given));
}

/** The text of a person's message, without the tags around it. */
const askedOf = ({ role, kind, text = '' }: ParsedEntry): string | undefined => (role === 'user' && kind === 'text' ? askedLine(text) : undefined);

/** The file that a patch changes, if it changes no other. */
function onlyPatched({ arguments: given }: ParsedEntry): string | undefined {
  const files = patchedFiles(given);
  return files.length === 1 ? files[0] : undefined;
}

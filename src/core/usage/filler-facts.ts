// What the list of fillers needs of each entry of a delta. Deltas never change, so the facts are stored, and the list reads no content.
import { sha256Of } from '../artifacts/index.js';
import { defined, type EntryKey, parseJson } from '../base/index.js';
import { type ContextRow, contextEntries, type DeltaFacts, outlineRows, type ReadChain } from '../chain/index.js';
import type { PartKind, UsageFiller } from '../contract/index.js';
import { askedLine, isHidden, outlineOfParsed, type ParsedDelta, type ParsedEntry, patchedFiles, toolLine } from '../formats/index.js';
import { pathIn } from './mentions.js';
import { serverGroup } from './offered.js';
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
function factsOf(parsed: ParsedDelta): FillerFact[] {
  const outline = outlineOfParsed(parsed).entries;
  return parsed.entries.flatMap((entry, at) => (isHidden(entry) ? [] : [factOf(entry, outline[at]?.head, entry.tokens)]));
}

/** The facts of the entries of deltas. */
export const fillerFacts: DeltaFacts<FillerFact[]> = { name: 'filler', version: () => version, make: factsOf, isPacked: true };

/** The facts of the visible entries of a context, in order. Replaced results are read as the model sees them. */
export function shownFacts(chain: ReadChain, tip: ContextRow): FillerFact[] {
  const { rows } = outlineRows(chain, { id: tip.id });
  return contextEntries(chain, { id: tip.id }).map(({ entry }, at) => factOf(entry, rows[at]?.head, rows[at]?.tokens ?? entry.tokens));
}

/** An entry as the list of fillers shows it. */
type Described = Pick<UsageFiller, 'key' | 'kind' | 'tokens' | 'tool' | 'path' | 'head' | 'group'>;

/** Describes entries in a row. What a result is about is in the entries before it. */
export function describe(facts: readonly FillerFact[]): Described[] {
  const about = callNotes();
  return facts.map((fact) => {
    const { key, kind, tokens } = fact;
    const { path, tool, input } = about(fact);
    const head = input || fact.head;
    const group = groupOf(fact, tool);
    // Assigned one by one: spreading parts of a hundred thousand fillers takes most of the time.
    const filler: Described = { key, kind, tokens };
    if (tool !== undefined) filler.tool = tool;
    if (path !== undefined) filler.path = path;
    if (head !== undefined) filler.head = head;
    if (group !== undefined) filler.group = group;
    return filler;
  });
}

/** The name of the row in which a filler counts with others: a group or a file. Undefined if it counts alone. */
export const rowName = ({ path, kind, group }: Pick<UsageFiller, 'path' | 'kind' | 'group'>): string | undefined =>
  group ?? (path !== undefined && kind !== 'tool_call' ? `file ${path}` : undefined);

/** Returns what finds the file, the tool and the input that an entry is about, also from the entries before it. Give it each entry in order. */
function callNotes() {
  const byCall = new Map<string, { path?: string | undefined; tool?: string | undefined; input?: string | undefined }>();
  /** Files that Claude Code attached, by message. */
  const attached = new Map<string, string>();
  return ({ tool, call: id, does, message, attached: file }: FillerFact) => {
    if (does && id !== undefined) {
      const { path, tool: known, input } = byCall.get(id) ?? {};
      byCall.set(id, { path: does.path ?? path, tool: tool ?? known, input: does.input ?? input });
    }
    if (file !== undefined && message !== undefined) attached.set(message, file);
    const call = id === undefined ? undefined : byCall.get(id);
    const path = id === undefined && message !== undefined ? attached.get(message) : call?.path;
    return { path, tool: tool ?? call?.tool, input: call?.input };
  };
}

/** The group of an entry: an MCP server with its calls and results, or the reminders that the agent added itself. */
const groupOf = ({ reminds }: FillerFact, tool: string | undefined): string | undefined =>
  serverGroup(tool) ?? (reminds ? 'Reminders of the agent' : undefined);

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

// Finds the content of a replaced conversation that its summary does not mention. Pure. It compares files, decisions, errors and results by paths,
// identifiers and words, without a model.
import { type EntryKey, isObject, stringAt } from '../base/index.js';
import type { LostKind, ToolClass } from '../contract/index.js';
import type { ParsedEntry } from '../formats/index.js';
import { identifiersIn, type Mentions, pathIn, pathsIn, stemsIn } from './mentions.js';

/** A file, decision, error or result of the conversation, and the names in it that the summary does not mention. */
export interface Mentionable {
  readonly kind: LostKind;
  /** The path, sentence or line. */
  readonly text: string;
  readonly key: EntryKey;
  readonly tokens: number;
  readonly path?: string;
  readonly tool?: string;
  /** How often the file was read or changed, the error occurred again, or the result was used later. */
  readonly uses: number;
  readonly isMentioned: boolean;
  /** Names that the summary does not mention. */
  readonly missing: readonly string[];
}

interface ReplacedEntries {
  readonly entries: readonly ParsedEntry[];
  /** Returns the class of a tool of the conversation's agent. */
  readonly toolClassOf: (toolName: string) => ToolClass | undefined;
  /** Entries that the compaction kept next to the summary. */
  readonly isKept: (key: EntryKey) => boolean;
}

/** Everything that can be lost, each item with a flag whether the summary mentions it. */
export function findLost(before: ReplacedEntries, mentions: Mentions): Mentionable[] {
  const rarity = raritiesIn(before.entries);
  return [
    ...filesIn(before, mentions),
    ...decisionsIn(before, mentions),
    ...errorsIn(before, mentions, rarity),
    ...resultsIn(before, mentions, rarity),
  ];
}

/** For each identifier: the number of entries that contain it, and the first of these entries. */
interface Rarity {
  readonly entries: number;
  readonly first: ParsedEntry;
}

const comparedText = ({ text = '', arguments: given, kind }: ParsedEntry): string =>
  kind === 'tool_call' ? (typeof given === 'string' ? given : JSON.stringify(given ?? {}).replaceAll(String.raw`\n`, '\n')) : text;

function raritiesIn(entries: readonly ParsedEntry[]): ReadonlyMap<string, Rarity> {
  const found = new Map<string, { entries: number; first: ParsedEntry }>();
  for (const entry of entries)
    for (const name of identifiersIn(comparedText(entry))) {
      const known = found.get(name);
      if (known) known.entries += 1;
      else found.set(name, { entries: 1, first: entry });
    }
  return found;
}

const changes: ReadonlySet<ToolClass | undefined> = new Set(['write', 'edit']);

/** The calls that used a file: their number, whether one changed it, and the last one of those that matter most. */
interface FileUse {
  readonly entry: ParsedEntry;
  readonly uses: number;
  readonly isChanged: boolean;
}

function usedAgain(known: FileUse | undefined, entry: ParsedEntry, isChanged: boolean): FileUse {
  if (!known) return { entry, uses: 1, isChanged };
  return { entry: isChanged || !known.isChanged ? entry : known.entry, uses: known.uses + 1, isChanged: known.isChanged || isChanged };
}

/** Files that the agent read or changed with a tool, in a shell or in a patch. */
function filesIn({ entries, toolClassOf, isKept }: ReplacedEntries, mentions: Mentions): Mentionable[] {
  const files = new Map<string, FileUse>();
  const tokens = new Map<string, number>();
  /** The file that each call names in an argument. */
  const paths = new Map<string, string | undefined>();
  for (const entry of entries) {
    const read = entry.kind === 'tool_result' ? paths.get(entry.toolCallId ?? '') : undefined;
    if (read !== undefined) tokens.set(read, Math.max(tokens.get(read) ?? 0, entry.tokens));
    if (entry.kind !== 'tool_call') continue;
    const toolClass = toolClassOf(entry.toolName ?? '');
    const argument = toolClass === 'search' ? undefined : pathIn(entry.arguments);
    const inText = argument === undefined && (toolClass === 'shell' || toolClass === 'edit') ? pathsIn(comparedText(entry)) : [];
    if (entry.toolCallId !== undefined) paths.set(entry.toolCallId, argument);
    for (const named of new Set(argument === undefined ? inText : [argument])) {
      const path = fullPath(named, files.keys());
      files.set(path, usedAgain(files.get(path), entry, changes.has(toolClass)));
    }
  }
  const all = new Set(files.keys());
  return [...files].map(([path, { entry, uses, isChanged }]) => ({
    kind: 'file',
    text: `${path}: ${isChanged ? 'changed' : 'read'}`,
    path,
    ...(entry.toolName !== undefined && { tool: entry.toolName }),
    key: entry.key,
    tokens: tokens.get(path) ?? 0,
    uses,
    isMentioned: mentions.file(path, all) || isKept(entry.key),
    missing: [path],
  }));
}

/** The path of a known file that ends with a shorter path, because a shell command names files relative to its folder. */
function fullPath(path: string, known: Iterable<string>): string {
  const end = `/${path.replace(/^\.\//, '')}`;
  for (const full of known) if (full.endsWith(end)) return full;
  return path;
}

/** Sentences in which an agent decides something. */
const deciding =
  /\b(?:decided|decision|instead of|rather than|going with|go with|root cause|the (?:fix|solution|bug|problem) is|the right (?:fix|approach|place)|trade-?offs?|must not|should not|shouldn't|won't|on purpose|by design)\b/i;
const sentences = /[^\n.!?]+(?:[.!?](?=\S)[^\n.!?]*)*[.!?]?/g;
/** A shorter prompt, such as "yes" or "continue", is not a decision. */
const minStems = 3;
/** A sentence counts as mentioned if the summary contains at least this share of its words. */
const enough = 0.5;
/** The number of characters of a long prompt that are compared. */
const maxPromptLength = 2_000;

/** Requests of a person and decisions of the agent: prompts, answers to its questions, plans, and sentences about its choices. */
function decisionsIn({ entries, toolClassOf, isKept }: ReplacedEntries, mentions: Mentions): Mentionable[] {
  const found: Mentionable[] = [];
  const add = (entry: ParsedEntry, text: string): void => {
    const names = [...identifiersIn(text)];
    const stems = stemsIn(text.slice(0, maxPromptLength));
    if (stems.size < minStems) return;
    const missing = names.filter((name) => !mentions.identifier(name));
    const isMentioned = mentions.stems(stems) >= enough || (names.length > 0 && missing.length * 2 < names.length);
    const { key, tokens } = entry;
    found.push({ kind: 'decision', text: text.trim(), key, tokens, uses: 1, isMentioned: isMentioned || isKept(key), missing });
  };
  const questions = new Set<string>();
  for (const entry of entries) {
    const { role, kind, text = '', marks, toolName = '', toolCallId } = entry;
    if (marks?.some((mark) => noDecisions.has(mark))) continue;
    if (kind === 'text' && role === 'user' && !byRuntime.test(text)) add(entry, text);
    if (kind === 'text' && role === 'assistant') for (const sentence of decidingSentences(text)) add(entry, sentence);
    if (kind === 'tool_call') {
      if (toolCallId !== undefined && /question|user_input/i.test(toolName)) questions.add(toolCallId);
      const plan = planIn(entry, toolClassOf);
      if (plan !== undefined) add(entry, plan);
    }
    if (kind === 'tool_result' && toolCallId !== undefined && questions.has(toolCallId)) add(entry, text);
  }
  return found;
}

const noDecisions: ReadonlySet<string> = new Set(['hidden', 'meta', 'command']);
/** User texts that the runtime writes. */
const byRuntime = /^\s*(?:<|\[Request interrupted|Caveat: )/;

const decidingSentences = (text: string): string[] =>
  [...text.matchAll(sentences)].flatMap(([sentence]) => (deciding.test(sentence) && identifiersIn(sentence).size > 0 ? [sentence] : []));

/** The plan that a call hands over for approval. */
function planIn({ toolName = '', arguments: given }: ParsedEntry, toolClassOf: ReplacedEntries['toolClassOf']): string | undefined {
  return isObject(given) && /plan/i.test(toolName) && toolClassOf(toolName) !== 'edit' ? stringAt(given, 'plan') : undefined;
}

const failing =
  /^.*(?:\b[A-Za-z]*(?:Error|Exception)\b:|\berror(?:\[\w+\])?:|\bfatal:|\bpanic:|--- FAIL|^FAIL\b|✗|ENOENT|EACCES|command not found).*$/m;
/** Mistakes in the use of a tool, which the agent corrects at once. */
const misuse =
  /<tool_use_error>|^(?:The user doesn't want|\[Request interrupted|Sibling tool call|File has not been read|String to replace not found)/;
/** The number of rarest identifiers that represent an error or a result. */
const maxNames = 5;

const rarest = (names: Iterable<string>, rarity: ReadonlyMap<string, Rarity>): string[] =>
  [...names].sort((a, b) => (rarity.get(a)?.entries ?? 0) - (rarity.get(b)?.entries ?? 0) || b.length - a.length).slice(0, maxNames);

/** Failed tool calls, and failures that a result reports. Each distinct line counts once. */
function errorsIn({ entries, isKept }: ReplacedEntries, mentions: Mentions, rarity: ReadonlyMap<string, Rarity>): Mentionable[] {
  const found = new Map<string, Mentionable>();
  for (const { kind, isError, text = '', toolName, key, tokens } of entries) {
    if (kind !== 'tool_result' || misuse.test(text)) continue;
    const line =
      failing.exec(text)?.[0] ?? (isError ? text.split('\n').find((each) => each.trim() !== '' && !/^Exit code \d+$/.test(each)) : undefined);
    if (line === undefined || !(isError || /Error|error|FAIL|fatal|panic/.test(line)) || (!isError && text.length > maxReportLength)) continue;
    const name = line.replaceAll(/\d+/g, '#').trim();
    const known = found.get(name);
    if (known) {
      found.set(name, { ...known, uses: known.uses + 1, isMentioned: known.isMentioned || isKept(key) });
      continue;
    }
    const names = rarest(identifiersIn(line), rarity);
    const missing = names.filter((each) => !mentions.identifier(each));
    const isMentioned = names.length > 0 ? missing.length < names.length : mentions.stems(stemsIn(line)) >= enough;
    const common = { text: line.trim(), key, tokens, uses: 1, missing };
    found.set(name, { kind: 'error', ...common, ...(toolName !== undefined && { tool: toolName }), isMentioned: isMentioned || isKept(key) });
  }
  return [...found.values()];
}
/** A longer result without an error flag is content that merely contains the word error, such as a file. */
const maxReportLength = 8_000;

/** Results that were used later: they contain identifiers that the agent then wrote. Files and failures have their own kinds. */
function resultsIn({ entries, toolClassOf, isKept }: ReplacedEntries, mentions: Mentions, rarity: ReadonlyMap<string, Rarity>): Mentionable[] {
  const used = new Map<string, number>();
  for (const entry of entries)
    if (entry.role === 'assistant') for (const name of identifiersIn(comparedText(entry))) used.set(name, (used.get(name) ?? 0) + 1);
  return entries.flatMap((entry): Mentionable[] => {
    const { kind, isError, text = '', toolName = '', key, tokens } = entry;
    const does = toolClassOf(toolName);
    if (kind !== 'tool_result' || isError || does === 'read' || does === 'plan' || changes.has(does)) return [];
    const brought = [...identifiersIn(text)].filter((name) => rarity.get(name)?.first === entry && used.has(name));
    if (brought.length < minBrought) return [];
    const names = brought.sort((a, b) => (used.get(b) ?? 0) - (used.get(a) ?? 0)).slice(0, maxNames);
    const missing = names.filter((name) => !mentions.identifier(name));
    const uses = Math.max(...names.map((name) => used.get(name) ?? 0));
    const head = text.split('\n').find((line) => line.includes(names[0] ?? '')) ?? text;
    const isMentioned = missing.length < names.length || isKept(key);
    return [{ kind: 'result', text: head.trim(), tool: toolName, key, tokens, uses, isMentioned, missing }];
  });
}
const minBrought = 2;

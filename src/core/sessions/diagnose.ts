import { type ContextId, defined, type EntryKey, type Json, notFound } from '../base/index.js';
import { contextEntries, findCommit, fork, graft, lineage, type ReadChain, type WriteChain } from '../chain/index.js';
import type { Edit, EntryDraft, InputOf, OutputOf, SessionChange, SessionProblem, SessionProblemKind } from '../contract/index.js';
import { isTooLarge, maxImageBytes, type ParsedEntry } from '../formats/index.js';
import { type FileFlaw, fileFlaws } from '../import/index.js';
import { listSessions } from './pages.js';

/** A fault of a context for which a model's API would refuse it, with the edit that removes it. */
interface Fault {
  readonly kind: SessionProblemKind;
  readonly key: EntryKey;
  readonly message: string;
  readonly fix: string;
  readonly before: string;
  /** The entry as it would be; null if it is left out. */
  readonly after: EntryDraft | null;
}

/** The faults of a session's latest branch. @throws NOT_FOUND for an unknown session or a file that is not imported */
export function diagnose(chain: ReadChain, { sessionId, path }: InputOf<'session.diagnose'>): { problems: SessionProblem[] } {
  const session = sessionId ?? sessionAt(chain, path ?? '');
  const { faults, flaws, onto } = lookAt(chain, session);
  const ofFiles = flaws.map((flaw): SessionProblem => ({ kind: flaw.kind, message: saidOf(flaw), fix: fixOf(flaw, onto) }));
  return { problems: [...faults.map(({ kind, key, message, fix }) => ({ kind, key, message, fix })), ...ofFiles] };
}

/** Makes a fork of a session's latest branch without its faults. The original stays as it is. @throws NOT_FOUND for an unknown session */
export function repairSession(chain: WriteChain, { sessionId, kinds, principal, dryRun }: InputOf<'session.repair'>): OutputOf<'session.repair'> {
  const found = lookAt(chain, sessionId, kinds);
  const { id, flaws, onto } = found;
  const faults = found.faults.filter(({ kind }) => kinds === undefined || kinds.includes(kind));
  const changes = [
    ...faults.map(({ key, kind, before, after }): SessionChange => ({ key, kind, before, after: after === null ? null : shown(after) })),
    // A fork consists of the entries that were imported, so it has neither the damaged lines nor the missing links.
    ...flaws.map((flaw): SessionChange => ({ key: `line:${flaw.line}` as EntryKey, kind: flaw.kind, before: saidOf(flaw), after: null })),
  ];
  if (dryRun || changes.length === 0) return { commit: null, changes };
  const edits = faults.map(({ key, after }): Edit => (after === null ? { op: 'drop', key } : { op: 'replace', key, entry: after }));
  const how = { summary: 'Repaired', ...(principal !== undefined && { principal }) };
  if (onto !== undefined) {
    const own = new Set(contextEntries(chain, { id: onto }).map(({ key }) => key));
    const [before, after] = [edits.filter(({ key }) => key && own.has(key)), edits.filter(({ key }) => !key || !own.has(key))];
    const base = before.length > 0 ? fork(chain, { id: onto, edits: before, ...how }).id : onto;
    return { commit: graft(chain, { id, onto: base, edits: after, ...how }), changes };
  }
  return { commit: fork(chain, edits.length === 0 ? { id } : { id, edits, ...how }), changes };
}

/** The faults of a session and the flaws of its files. `onto`: the context that the branch continues if the record before its first one is missing. */
function lookAt(chain: ReadChain, sessionId: string, kinds?: readonly SessionProblemKind[]) {
  const id = tipOf(chain, sessionId);
  const flaws = fileFlaws(chain, sessionId).filter(({ kind }) => kinds === undefined || kinds.includes(kind));
  const onto = flaws.some(({ kind }) => kind === 'broken_parent') ? precedingOf(chain, sessionId, id) : undefined;
  const entries = [...(onto === undefined ? [] : contextEntries(chain, { id: onto })), ...contextEntries(chain, { id })];
  return { id, onto, flaws, faults: faultsIn(entries, findCommit(chain, id).format) };
}

/** The last commit that was read before the first of a branch. Undefined if the branch begins the session, or begins with a compaction. */
function precedingOf(chain: ReadChain, sessionId: string, id: ContextId): ContextId | undefined {
  const steps = lineage(chain, findCommit(chain, id));
  const [root] = steps;
  if (!root || steps.some(({ type }) => type !== 'delta')) return undefined;
  const before = 'SELECT id FROM commits WHERE +project = ? AND sessionId = ? AND forked = 0 AND seq < ? ORDER BY seq DESC LIMIT 1';
  return chain.db.value<ContextId>(before, chain.project, sessionId, root.seq);
}

const saidOf = ({ path, line, reason }: FileFlaw): string => `Line ${line} of ${path}: ${reason}.`;
function fixOf({ kind }: FileFlaw, onto: ContextId | undefined): string {
  if (kind !== 'broken_parent') return 'The fork does not have the line.';
  return onto === undefined ? 'The fork has the record where it was read.' : 'The fork has the record after the one that precedes it in the file.';
}

function tipOf(chain: ReadChain, sessionId: string): ContextId {
  const tip = listSessions(chain, {}).sessions.find((session) => session.sessionId === sessionId)?.tips[0];
  if (tip === undefined) throw notFound(sessionId, `there is no session ${sessionId}; \`session.list\` names the sessions`);
  return tip;
}

function sessionAt(chain: ReadChain, path: string): string {
  const named = 'SELECT sessionId FROM source WHERE project = ? AND path = ? AND sessionId IS NOT NULL ORDER BY no DESC LIMIT 1';
  const sessionId = chain.db.value<string>(named, chain.project, path);
  if (sessionId === undefined) throw notFound(path, `the file ${path} is not imported; import it first`);
  return sessionId;
}

const isHalf = (text: string): boolean => !text.isWellFormed();
const isServer = ({ marks }: ParsedEntry): boolean => marks?.includes('server') ?? false;

/** The formats whose agents send thinking back with the seal of its provider. Others never send it, or send it as text. */
const sealing: ReadonlySet<string> = new Set(['claude-code-v1', 'codex-v1', 'copilot-cli-v1', 'pi-v1']);

function faultsIn(all: readonly { readonly key: EntryKey; readonly entry: ParsedEntry }[], format: string): Fault[] {
  const entries = all.filter(({ entry }) => !entry.marks?.includes('hidden'));
  const answered = new Set(entries.flatMap(({ entry }) => (entry.kind === 'tool_result' ? [entry.toolCallId] : [])));
  const called = new Set<string | undefined>();
  return entries.flatMap(({ key, entry }): Fault[] => {
    const fault: MakeFault = (kind, message, fix, after) => [{ kind, key, message, fix, before: shown(entry), after }];
    if (entry.kind === 'tool_call') {
      called.add(entry.toolCallId);
      if (!isServer(entry) && !answered.has(entry.toolCallId))
        return fault('unanswered_call', `The call ${entry.toolCallId ?? entry.toolName} has no result.`, 'Leave out the call.', null);
    }
    if (entry.kind === 'tool_result' && !called.has(entry.toolCallId))
      return fault('orphan_result', `The result ${entry.toolCallId ?? ''} answers no call of the context.`, 'Leave out the result.', null);
    if (entry.kind === 'thinking') return thinkingFault(entry, sealing.has(format), fault);
    const isText = entry.kind === 'text' || entry.kind === 'summary';
    if (isText && (entry.text ?? '').trim() === '') return fault('empty_text', 'The text is empty.', 'Leave out the text.', null);
    if (isTooLarge(entry))
      return fault('large_image', `The image has ${entry.media?.bytes.length} bytes, more than ${maxImageBytes}.`, 'Leave out the image.', null);
    return textFault(entry, fault);
  });
}

type MakeFault = (kind: SessionProblemKind, message: string, fix: string, after: EntryDraft | null) => Fault[];

function thinkingFault({ marks, text = '', result }: ParsedEntry, isSent: boolean, fault: MakeFault): Fault[] {
  const isSealed = marks?.some((mark) => mark === 'signed' || mark === 'redacted') || result !== undefined;
  // A seal covers the text as it is, so that no repaired text has one.
  const without = (kind: SessionProblemKind, message: string): Fault[] => fault(kind, message, 'Leave out the thinking.', null);
  if (isHalf(text)) return without('lone_surrogate', 'The thinking holds half of a character.');
  if (text.includes('\0')) return without('nul', 'The thinking holds NUL characters.');
  if (isSealed || !isSent) return [];
  if (text.trim() === '') return without('empty_thinking', 'The thinking is empty and has no signature.');
  return without('unsigned_thinking', 'The thinking has no signature.');
}

function textFault(entry: ParsedEntry, fault: MakeFault): Fault[] {
  const texts = [entry.text ?? '', JSON.stringify(entry.arguments) ?? ''];
  const hasHalf = isHalf(entry.text ?? '') || hasHalfIn(entry.arguments);
  const hasNul = texts.some((text) => text.includes('\0') || text.includes('\\u0000'));
  if (!hasHalf && !hasNul) return [];
  const { role, kind, text, toolName, toolCallId, isError } = entry;
  const [given, result] = [entry.arguments, entry.result].map((value) => (value === undefined ? undefined : cleanedValue(value as Json)));
  const after: EntryDraft = { role, kind, ...defined({ text: text && cleaned(text), toolName, toolCallId, arguments: given, result, isError }) };
  return hasHalf
    ? fault('lone_surrogate', 'A text holds half of a character.', 'Put the replacement character in its place.', after)
    : fault('nul', 'A text holds NUL characters.', 'Leave out the NUL characters.', after);
}

const cleaned = (text: string): string => text.toWellFormed().replaceAll('\0', '');

function cleanedValue(value: Json): Json {
  if (typeof value === 'string') return cleaned(value);
  if (Array.isArray(value)) return value.map(cleanedValue);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, one]) => [cleaned(name), cleanedValue(one)]));
}

function hasHalfIn(value: unknown): boolean {
  if (typeof value === 'string') return isHalf(value);
  if (typeof value !== 'object' || value === null) return false;
  return Object.entries(value).some(([name, one]) => isHalf(name) || hasHalfIn(one));
}

const longest = 500;

/** An entry on one line, for a person to check. */
const shown = ({ kind, text, toolName, arguments: given }: EntryDraft | ParsedEntry): string =>
  [kind, toolName, text, given === undefined ? undefined : JSON.stringify(given)]
    .flatMap((part) => part || [])
    .join(' ')
    .slice(0, longest)
    .toWellFormed();

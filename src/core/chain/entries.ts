import { refOf } from '../artifacts/index.js';
import { atOnce, type ContextId, type EntryKey } from '../base/index.js';
import { type Entry, type Kind, kinds, type OutlineRow, type Stop } from '../contract/index.js';
import { countTokens, type DeltaOutline, type ParsedDelta, type ParsedEntry, promptAt, storedElisions, toolClassOf } from '../formats/index.js';
import { type ContextRow, type EntryPlace, offer, type ReadChain, requireIdentity, type Step } from './chain.js';
import { addEntries, type EntrySums, entrySumsOf, noEntries, stretchOf, summedContext } from './entry-sums.js';
import { findCommit } from './find.js';
import { encodedOutline, outlinesOf, readParsed } from './outline.js';
import { lastSteps, walk } from './walk.js';

export interface ContextQuery {
  readonly id: ContextId;
  readonly stop?: Stop | undefined;
  /** Include entries that the runtime recorded but never sent: events, errors, progress. */
  readonly hidden?: boolean | undefined;
}

/** Lists the entries of a context. Commits never change, so the result is cached. */
const placedOf = (chain: ReadChain, query: ContextQuery): readonly EntryPlace[] => atOnce(placedInPieces(chain, query));

/** Commits whose outlines are read at a time. */
const commitsInPiece = 200;

/** Lists the entries of a context in pieces, so that the engine can answer other calls in between. */
export function* placedInPieces(chain: ReadChain, { id, stop = 'compaction', hidden = false }: ContextQuery): Generator<void, readonly EntryPlace[]> {
  const tip = findCommit(chain, id);
  const end = stop === 'compaction' || stop === 'root' ? stop : findCommit(chain, stop, 'stop').id;
  const name = `${tip.seq} ${end} ${hidden}`;
  const recent = chain.placed.get(name);
  if (recent) return recent;
  const { contributing } = walk(chain, tip, end);
  const outlines: DeltaOutline[] = [];
  for (let from = 0; from < contributing.length; from += commitsInPiece) {
    if (from > 0) yield;
    outlines.push(...outlinesOf(chain, contributing.slice(from, from + commitsInPiece)));
  }
  const placed = placedIn(contributing, outlines, hidden);
  chain.placed.set(name, placed, placed.length + 1);
  return placed;
}

const placedAlong = (chain: ReadChain, steps: readonly Step[], hidden: boolean): readonly EntryPlace[] =>
  placedIn(steps, outlinesOf(chain, steps), hidden);

function placedIn(contributing: readonly Step[], outlines: readonly DeltaOutline[], hidden: boolean): readonly EntryPlace[] {
  const elided = elisionsOf(outlines);
  const tools = new Map<string, string>();
  // A loop: with a list for each entry, a context of 250,000 entries takes half a second longer.
  const places: EntryPlace[] = [];
  for (const [at, step] of contributing.entries())
    for (const [index, outline] of (outlines[at]?.entries ?? []).entries()) {
      if (outline.hidden && !hidden) continue;
      const { kind, toolCallId, head } = outline;
      if (kind === 'tool_call' && toolCallId && head) tools.set(toolCallId, head);
      const id = kind === 'tool_call' ? undefined : toolCallId;
      const [text, tool] = id === undefined ? [] : [kind === 'tool_result' ? elided.get(id) : undefined, tools.get(id)];
      places.push(text === undefined && tool === undefined ? { step, index, outline } : { step, index, outline, elided: text, tool });
    }
  return places;
}

/** Replacement texts of elided results, by call id. */
export const elisionsOf = (outlines: readonly Pick<DeltaOutline, 'elisions'>[]): ReadonlyMap<string, string> =>
  new Map(outlines.flatMap((outline) => outline.elisions.flatMap((elision) => elision.toolCallIds.map((id) => [id, elision.text] as const))));

const countEntry = ({ elided, outline }: EntryPlace): number => (elided === undefined ? outline.tokens : countTokens(elided));

/** The rows of an outline from one place up to another. The numbers are of the whole outline. Only the commits of the range are read. */
export function outlinePart(chain: ReadChain, query: PagedQuery): { total: number; tokens: number; rows: OutlineRow[] } {
  const { places, total, sums, cut } = placesAround(chain, query);
  const rows = makeRows(places, promptsOf(places));
  return { total, tokens: sums ? tokensIn(sums) : shownTokens(rows), rows: cut(rows) };
}

const tokensIn = ({ tokens }: EntrySums): number => Object.values(tokens).reduce((sum, each) => sum + each, 0);

/** The number of the visible entries of a context, and their tokens by kind. @throws NOT_FOUND for an unknown commit. */
export function contextSize(chain: ReadChain, id: ContextId): { total: number; tokens: number; byKind: { kind: Kind; tokens: number }[] } {
  const sums = entrySumsOf(chain, id) ?? addEntries(noEntries, outlineRows(chain, { id }).rows);
  const { entries, tokens } = sums;
  return { total: entries, tokens: tokensIn(sums), byKind: kinds.flatMap((kind) => (tokens[kind] ? [{ kind, tokens: tokens[kind] }] : [])) };
}

/** A range of a context. Without a limit, it is the rest. */
export type PagedQuery = ContextQuery & { readonly offset?: number | undefined; readonly limit?: number | undefined };

/** The entries around a range of a context, and what cuts the range out of a list of them. A context that has no sums is read as a whole. */
function placesAround(chain: ReadChain, query: PagedQuery) {
  const { id, stop = 'compaction', hidden, offset = 0, limit = Number.MAX_SAFE_INTEGER } = query;
  const cutFrom =
    (first: number) =>
    <One>(list: readonly One[]): One[] =>
      list.slice(Math.max(0, first), Math.max(0, first + limit));
  const isPart = stop === 'compaction' && !hidden && query.limit !== undefined;
  const sums = isPart ? summedContext(chain, findCommit(chain, id)) : undefined;
  if (!sums) {
    const places = placedOf(chain, query);
    return { places, total: places.length, sums, cut: cutFrom(offset) };
  }
  for (let more = 0; ; more = more * 2 + 1) {
    const { steps, before, isFirst } = stretchOf(chain, sums, { from: offset, to: offset + limit }, { more });
    const places = placedAlong(chain, steps, false);
    const cut = cutFrom(offset - before.entries);
    const isNamed = ({ outline: { kind, toolCallId }, tool }: EntryPlace): boolean => kind !== 'tool_result' || !toolCallId || tool !== undefined;
    // The call of a result may be in an earlier commit.
    if (isFirst || cut(places).every(isNamed)) return { places, total: sums.entries, sums, cut };
  }
}

/** Lists every entry of a context without its content. */
export function outlineRows(chain: ReadChain, query: ContextQuery): { total: number; tokens: number; rows: OutlineRow[] } {
  const places = placedOf(chain, query);
  return summed(makeRows(places, promptsOf(places)));
}

const summed = (rows: OutlineRow[]) => ({ total: rows.length, tokens: shownTokens(rows), rows });
const shownTokens = (rows: readonly OutlineRow[]): number => rows.reduce((sum, row) => sum + (row.hidden ? 0 : row.tokens), 0);

const makeRows = (places: readonly EntryPlace[], prompts: ReadonlySet<EntryPlace>): OutlineRow[] =>
  places.map((place) => {
    const { key, role, kind, head, toolCallId, isError, hidden } = place.outline;
    const row: { -readonly [Field in keyof OutlineRow]: OutlineRow[Field] } = { key, role, kind, tokens: countEntry(place), commit: place.step.id };
    if (head !== undefined) row.head = head;
    if (toolCallId !== undefined) row.toolCallId = toolCallId;
    if (isError) row.isError = isError;
    if (hidden) row.hidden = hidden;
    if (prompts.has(place)) row.prompt = true;
    return row;
  });

/** A context of more commits takes seconds to read. */
const manyCommits = 300;
/** Entries shown before and after the one where reading begins. */
const nearBefore = 20;
const nearAfter = 100;

/**
 * The entries of a long context around one of its last entries, or around its last prompt if no entry is given. Undefined if the context is
 * short, or if its last commits have no entries.
 */
export function entriesNear(chain: ReadChain, { id, stop = 'compaction', hidden = false }: ContextQuery, near: EntryKey | null) {
  const steps = lastSteps(chain, findCommit(chain, id), stop, manyCommits);
  if (!steps) return undefined;
  for (let most = near === null ? 8 : steps.length; most <= steps.length; most *= 2) {
    const places = placedAlong(chain, steps.slice(-most), hidden);
    const prompts = promptsOf(places);
    const own = places.findIndex(({ step }) => step === places.at(-1)?.step);
    const prompt = places.findLastIndex((place, at) => at >= own && prompts.has(place));
    const linked = near === null ? -1 : places.findLastIndex(({ outline }) => outline.key === near);
    const place = linked >= 0 ? linked : Math.max(own, prompt);
    if (place < nearBefore) continue;
    const part = places.slice(place - nearBefore, place + nearAfter);
    return { ...summed(makeRows(part, prompts)), entries: [...shownEntries(chain, part)] };
  }
  return undefined;
}

/** The prompts of the commits, one each. */
function promptsOf(places: readonly EntryPlace[]): ReadonlySet<EntryPlace> {
  const prompts = new Set<EntryPlace>();
  for (let from = 0; from < places.length; ) {
    let end = from + 1;
    while (end < places.length && places[end]?.step === places[from]?.step) end++;
    const own = places.slice(from, end);
    const prompt = own[promptAt(own.map((place) => place.outline)) ?? -1];
    if (prompt) prompts.add(prompt);
    from = end;
  }
  return prompts;
}

/** Reads a range of a context's entries. Only the deltas of the range are read. */
export function entries(chain: ReadChain, query: PagedQuery): { total: number; entries: Entry[] } {
  const { places, total, cut } = placesAround(chain, query);
  return { total, entries: [...shownEntries(chain, cut(places))] };
}

/** Finds the positions of entries that contain a text, ignoring case, in a range or in the whole context. Each delta is read once. */
export function find(chain: ReadChain, query: PagedQuery & { text: string }): { total: number; hits: number[] } {
  const wanted = query.text.toLowerCase();
  const { places, total, cut } = placesAround(chain, query);
  const hits: number[] = [];
  let at = query.offset ?? 0;
  for (const { place, parsed } of parsedAt(chain, cut(places))) {
    if (`${place.elided ?? parsed.text ?? ''}${restOf(parsed)}`.toLowerCase().includes(wanted)) hits.push(at);
    at += 1;
  }
  return { total, hits };
}

/** What a search reads of an entry beside its text. */
const restOf = ({ toolName, arguments: given }: ParsedEntry): string => `\n${toolName ?? ''}\n${given === undefined ? '' : JSON.stringify(given)}`;

/** The tokens of commits whose deltas fit into the cache together. */
const shortTokens = 2_000_000;

/**
 * The parsed deltas of commits, one after the other. Those of many commits are read past the cache of parsed deltas, so that one question about a long
 * context does not empty it.
 */
export function* parsedAlong(chain: ReadChain, steps: readonly Step[]): Generator<{ readonly step: Step; readonly parsed: ParsedDelta }> {
  if (steps.reduce((sum, { tokenCount }) => sum + tokenCount, 0) < shortTokens) {
    for (const step of steps) yield { step, parsed: readParsed(chain, step) };
    return;
  }
  let number = 0;
  for (const bytes of chain.artifacts.readInTurn(steps.map(({ artifact }) => artifact))) {
    const step = steps[number++] as Step;
    yield { step, parsed: chain.reader(step.format).parse(bytes) };
  }
}

/** Places with what their formats read there. Each delta is read once. */
function* parsedAt(chain: ReadChain, places: readonly EntryPlace[]): Generator<{ readonly place: EntryPlace; readonly parsed: ParsedEntry }> {
  let at = 0;
  for (const { step, parsed } of parsedAlong(chain, [...new Set(places.map((place) => place.step))]))
    for (; places[at]?.step === step; at++) {
      const place = places[at] as EntryPlace;
      const entry = parsed.entries[place.index];
      if (!entry) throw new Error(`The outline of ${step.id} lists entry ${place.index}, but its delta has no such entry.`);
      yield { place, parsed: entry };
    }
}

function* shownEntries(chain: ReadChain, places: readonly EntryPlace[]): Generator<Entry> {
  for (const { place, parsed } of parsedAt(chain, places)) yield entryAt(chain, place, parsed);
}

/** The visible entries of some commits in a row, as their context shows them. */
export function stepsEntries(chain: ReadChain, steps: readonly Step[]): Entry[] {
  return [...shownEntries(chain, placedAlong(chain, steps, false))];
}

/** The visible entries of one commit, as a context that consists of it shows them. @throws CORRUPT as `requireIdentity` */
export function deltaEntries(chain: ReadChain, row: ContextRow): Entry[] {
  if (!row.intact) requireIdentity(row);
  return stepsEntries(chain, [row]);
}

function entryAt(chain: ReadChain, place: EntryPlace, parsed: ParsedEntry): Entry {
  const { raw, media, messageId: _, usage: __, text, toolName, marks, ...rest } = parsed;
  const shown = place.elided ?? text;
  const name = toolName ?? (parsed.kind === 'tool_result' ? place.tool : undefined);
  const toolClass = parsed.kind === 'tool_call' && name !== undefined ? toolClassOf(place.step.format, name) : undefined;
  return {
    ...rest,
    ...(toolClass && { toolClass }),
    ...(shown !== undefined && { text: shown }),
    ...(name !== undefined && { toolName: name }),
    ...(media && { media: { mediaType: media.mediaType, artifactRef: offeredMedia(chain, media) } }),
    ...((marks?.length || place.elided !== undefined) && { marks: [...(marks ?? []), ...(place.elided === undefined ? [] : ['elided'])] }),
    tokens: countEntry(place),
    source: { commit: place.step.id, index: place.index, ...(raw && { raw }) },
  };
}

/** Offers an image as an object when it is viewed, so that it can be read by its ref. The delta contains the image in any case. */
function offeredMedia(chain: ReadChain, media: { mediaType: string; bytes: Uint8Array }): ReturnType<typeof refOf> {
  offer(chain, { kind: 'object', content: media.bytes, contentType: media.mediaType });
  return refOf(media.bytes);
}

/** An entry of a context as its format parses it. */
export interface ContextEntry {
  readonly commit: ContextId;
  readonly key: EntryKey;
  readonly entry: ParsedEntry;
}

/** Entries of a context as their formats parse them. Elided results have their replacement text. */
export const contextEntries = (chain: ReadChain, query: ContextQuery): ContextEntry[] => [...withContent(chain, placedOf(chain, query))];

/** All entries of these commits, hidden ones included, grouped by commit. */
export function entriesAlong(chain: ReadChain, steps: readonly Step[]): ReadonlyMap<Step, readonly ParsedEntry[]> {
  const byId = Map.groupBy([...withContent(chain, placedAlong(chain, steps, true))], ({ commit }) => commit);
  return new Map(steps.map((step) => [step, (byId.get(step.id) ?? []).map(({ entry }) => entry)]));
}

/** Yields all entries commit by commit. It reads each delta on demand, and keeps no outline, so a long context is never in memory as a whole. */
export function* entriesInTurn(chain: ReadChain, steps: readonly Step[]) {
  const elided = elisionsOf(steps.map((step) => ({ elisions: storedElisions(encodedOutline(chain, step)) })));
  const toolNames = new Map<string, string>();
  let at = 0;
  for (const bytes of chain.artifacts.readInTurn(steps.map((step) => step.artifact))) {
    const step = steps[at++] as Step;
    const { entries: parsed } = chain.reader(step.format).parse(bytes);
    for (const { kind, toolCallId, toolName } of parsed) if (kind === 'tool_call' && toolCallId && toolName) toolNames.set(toolCallId, toolName);
    yield {
      step,
      entries: parsed.map((entry) => {
        const id = entry.toolCallId ?? '';
        return asSeen(entry, entry.kind === 'tool_result' ? elided.get(id) : undefined, toolNames.get(id));
      }),
    };
  }
}

/** An entry as the model sees it: with its tool's name, and with the replacement text if a later delta elided it. */
function asSeen(parsed: ParsedEntry, elided: string | undefined, tool: string | undefined): ParsedEntry {
  const name = parsed.toolName ?? tool;
  return { ...parsed, ...(elided !== undefined && { text: elided, result: undefined }), ...(name !== undefined && { toolName: name }) };
}

function* withContent(chain: ReadChain, places: readonly EntryPlace[]): Generator<ContextEntry> {
  for (const { place, parsed } of parsedAt(chain, places)) {
    const entry = asSeen(parsed, place.elided, place.tool);
    yield { commit: place.step.id, key: entry.key, entry };
  }
}

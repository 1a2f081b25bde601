import { sha256Of } from '../artifacts/index.js';
import { toTimestamp } from '../base/index.js';
import type { Tier } from '../contract/index.js';
import {
  describeRaw,
  type Format,
  type FormatLosses,
  findFormat,
  isHidden,
  joinLosses,
  lossesOf,
  noLosses,
  type ParsedEntry,
  recordOfKey as recordOf,
  tierOf,
  type WritableEntry,
  type WriteOptions,
} from '../formats/index.js';
import type { ReadChain, Step } from './chain.js';
import { entriesAlong } from './entries.js';
import type { Walk } from './walk.js';

/** An assembled conversation: its bytes, its translation tier and its losses. */
export interface Assembled extends FormatLosses {
  readonly bytes: Uint8Array;
  readonly tier: Tier;
  /** For a raw result, the known facts about its format. */
  readonly description?: string;
}

/**
 * Assembles a conversation without caching it. Each delta gets the best tier (C7): a delta in the target format keeps its
 * bytes, an older version of the format is upgraded field by field, and everything else is translated.
 */
export function assemble(chain: ReadChain, way: Walk, target: Format, options: AssembleOptions = {}): Assembled {
  const { contributing } = way;
  const tier = tierAlong(contributing, target);
  if (tier === 'native') {
    const bytes = target.concat(chain.artifacts.readAll(contributing.map((step) => step.artifact)));
    const isUnknown = findFormat(target.id) === undefined;
    return { bytes, ...noLosses, ...(isUnknown ? { tier: 'raw', description: describeRaw(target.id, bytes) } : { tier }) };
  }
  const { change = same, ...limits } = options;
  const writing = { newId: seededIds(way.tip.id), now: toTimestamp(way.tip.createdAt), ...limits };
  const all = entriesAlong(chain, contributing);
  const pieces: Uint8Array[] = [];
  const lost: FormatLosses[] = [];
  for (const { kept, steps } of groupNeighbors(contributing, target)) {
    if (kept) pieces.push(...chain.artifacts.readAll(steps.map((step) => step.artifact)).map(kept));
    else {
      const read = steps.flatMap((step) => (all.get(step) ?? []).map((entry) => introduced(entry, step.format, target)));
      const entries = change(read);
      lost.push(lossesOf(entries, target));
      const parentRecord = lastRecord(pieces.at(-1), target);
      const shown = entries.filter((entry) => !isHidden(entry)).map(writable);
      pieces.push(target.write(shown, { ...writing, ...(parentRecord !== undefined && { parentRecord }) }));
    }
  }
  const [only] = pieces;
  return { bytes: pieces.length === 1 && only ? only : target.concat(pieces), tier, ...joinLosses(lost) };
}
export interface AssembleOptions extends Pick<WriteOptions, 'maxTokens' | 'keepsOpen'> {
  /** Changes entries that are translated, before they are written in the target format. */
  readonly change?: (entries: readonly ParsedEntry[]) => readonly ParsedEntry[];
}
const same = (entries: readonly ParsedEntry[]): readonly ParsedEntry[] => entries;

/** Best first. */
const tierRanks: readonly Tier[] = ['native', 'translated', 'rendered', 'raw'];

/** The tier of a materialization: the worst tier of its commits. */
export function tierAlong(steps: readonly Pick<Step, 'format'>[], target: Format): Tier {
  const tiers = new Set(steps.map((step) => tierOf(step.format, target)));
  return tierRanks.findLast((tier) => tiers.has(tier)) ?? 'native';
}

interface Group {
  /** `kept` returns the delta's bytes unchanged, or upgraded from an older version. Without it, entries are translated. */
  readonly kept: ((delta: Uint8Array) => Uint8Array) | undefined;
  readonly steps: Step[];
}

/** Groups neighboring commits that are converted the same way, so that a translated call and its result stay together. */
function groupNeighbors(contributing: readonly Step[], target: Format): readonly Group[] {
  const groups: Group[] = [];
  for (const step of contributing) {
    const upgrade = target.older?.find(({ id }) => id === step.format)?.upgrade;
    const kept = step.format === target.id ? unchanged : upgrade;
    const last = groups.at(-1);
    if (last && last.kept === kept) last.steps.push(step);
    else groups.push({ kept, steps: [step] });
  }
  return groups;
}
const unchanged = (delta: Uint8Array): Uint8Array => delta;

/** Marks documents and unknown formats as knowledge of a previous session, because they have no turns. */
function introduced(entry: ParsedEntry, stored: string, target: Format): ParsedEntry {
  const reader = findFormat(stored);
  if (reader?.tier !== 'rendered' || target.tier === 'rendered' || entry.text === undefined) return entry;
  return { ...entry, text: `What the previous session knew:\n\n${entry.text}`, marks: [...(entry.marks ?? []), 'meta'] };
}

/** The last record of a piece: the parent of the next one. */
function lastRecord(piece: Uint8Array | undefined, target: Format): string | undefined {
  const last = piece && target.parse(piece).entries.at(-1);
  return last && recordOf(last.key);
}

/** Converts a parsed entry for a writer. */
export const writable = ({ tokens: _, raw: __, ...entry }: ParsedEntry): WritableEntry => entry;

/** Generates UUIDs from a name, so that the same chain always gives the same bytes (C20). */
export function seededIds(name: string): () => string {
  let number = 0;
  return () => {
    const hex = sha256Of(`${name}\0${number++}`).toString('hex');
    return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-4${hex.slice(13, 16)}-8${hex.slice(17, 20)}-${hex.slice(20, 32)}`;
  };
}

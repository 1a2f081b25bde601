import type { ContextId } from '../base/index.js';
import { type ContextRow, factsAlong, type ReadChain, type Step, stepsEntries, walk } from '../chain/index.js';
import {
  groupDeltas,
  isPrompt,
  type RecordedLayers,
  type RecordedMessage,
  type Remembered,
  recordedLayers,
  rememberedFacts,
  sumMemory,
  type WholeMemory,
} from '../composer/index.js';
import { pairedCalls } from '../formats/index.js';

/** A long context in layers, with its messages in pages. */
export interface LongMemory {
  readonly recorded: RecordedLayers & { readonly whole: WholeMemory };
  readonly slice: (from: number, to: number) => RecordedMessage[];
}

/** Contexts of fewer commits are read as a whole. */
const longFrom = 64;

/**
 * The layers of a long context from the facts that are stored of its deltas. It reads only the deltas of the last prompt, of layers other than memory,
 * and of pages. Undefined for a context that must be read as a whole: a short one, and one whose deltas need others that are far away.
 */
export function longMemory(chain: ReadChain, tip: ContextRow, from = longFrom): LongMemory | undefined {
  if (tip.depth < from - 1) return undefined;
  const steps = walk(chain, tip).contributing;
  if (steps.length < from) return undefined;
  const all = steps.map(factsAlong(chain, rememberedFacts, steps));
  const deltas = all.filter((delta) => delta !== null);
  const groups = deltas.length === all.length ? groupDeltas(deltas) : undefined;
  if (!groups) return undefined;
  const layers = readLayers(chain, steps, deltas);
  const prompt = layers.memory.findLast(isPrompt);
  if (!prompt) return undefined;
  const pieces = piecesOf(chain, steps, deltas, groups);
  const sumOf = (part: 'messages' | 'tokens' | 'entries'): number => pieces.reduce((sum, piece) => sum + piece[part], 0);
  const commits = pieces.flatMap((piece) => piece.commits);
  const whole = { messages: sumOf('messages'), tokens: sumOf('tokens'), entries: sumOf('entries'), commits };
  const left = (part: 'messages' | 'tokens'): number => deltas.reduce((sum, { leftOut }) => sum + leftOut[part], 0);
  const leftOut = { messages: left('messages'), tokens: left('tokens') };
  return { recorded: { ...layers, memory: [prompt], leftOut, whole }, slice: (from, to) => sliceOf(chain, pieces, from, to) };
}

const layersIn = (chain: ReadChain, steps: readonly Step[]): RecordedLayers => recordedLayers(pairedCalls(stepsEntries(chain, steps)));

/** The layers other than memory, and the last prompt. */
function readLayers(chain: ReadChain, steps: readonly Step[], deltas: readonly Remembered[]): RecordedLayers {
  const hasTasks = deltas.some(({ todo }) => todo === 'tasks');
  const lastList = deltas.findLastIndex(({ todo }) => todo === 'list');
  const lastPrompt = deltas.findLastIndex(({ hasPrompt }) => hasPrompt);
  const isRead = ({ hasLayers, todo }: Remembered, at: number): boolean =>
    hasLayers || at === lastPrompt || (hasTasks ? todo === 'tasks' : at === lastList);
  return layersIn(
    chain,
    steps.filter((_, at) => isRead(deltas[at] as Remembered, at)),
  );
}

/** Deltas whose messages belong together, and the sums of these messages. */
interface Piece extends WholeMemory {
  readonly steps: readonly Step[];
}

function piecesOf(chain: ReadChain, steps: readonly Step[], deltas: readonly Remembered[], groups: readonly number[]): Piece[] {
  const pieces: Piece[] = [];
  for (let from = 0; from < steps.length; ) {
    let to = from + 1;
    while (groups[to] === groups[from]) to++;
    const own = steps.slice(from, to);
    const delta = deltas[from] as Remembered;
    const { memory } = own.length > 1 || delta.isOpen ? layersIn(chain, own) : {};
    pieces.push({
      steps: own,
      ...(memory ? { ...sumMemory(memory), commits: commitsIn(memory) } : { ...delta, commits: delta.entries > 0 ? own.map(({ id }) => id) : [] }),
    });
    from = to;
  }
  return pieces;
}

const commitsIn = (all: readonly RecordedMessage[]): ContextId[] => [...new Set(all.flatMap(({ from }) => from.map(({ source }) => source.commit)))];

function sliceOf(chain: ReadChain, pieces: readonly Piece[], from: number, to: number): RecordedMessage[] {
  const found: RecordedMessage[] = [];
  let before = 0;
  for (const { steps, messages } of pieces) {
    if (before < to && before + messages > from)
      found.push(...layersIn(chain, steps).memory.slice(Math.max(0, from - before), Math.max(0, to - before)));
    before += messages;
  }
  return found;
}

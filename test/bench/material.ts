import { randomUUID } from 'node:crypto';

/** A seeded random generator. */
export function chance(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return state / 4294967296;
  };
}

const words =
  'the queue retries a job twice before it gives up and says why so a test that waits for the third attempt hangs until its timeout which hides the cause from who reads the log file parser commit branch context window delta parent child summary token model agent prompt result error line column value index buffer stream socket handle close open read write import export function return const let await async class type interface'.split(
    ' ',
  );

export function prose(next: () => number, length: number): string {
  let text = '';
  while (text.length < length) text += `${words[Math.floor(next() * words.length)]}${next() < 0.08 ? '.\n' : ' '}`;
  return text.slice(0, length);
}

/** Generates text with a number of characters. */
export type Writer = (next: () => number, length: number) => string;

/** A vocabulary with the distribution of a large history: few frequent words, many rare ones. */
export const widely: Writer = (next, length) => {
  let text = '';
  while (text.length < length) text += `${wideWord(Math.floor(30_000 ** next()))} `;
  return text.slice(0, length);
};

/** The word of a rank. Rare words are longer. */
export const wideWord = (rank: number): string => `${(rank * 7 + 10).toString(36)}${rank > 400 ? (rank % 1_296).toString(36) : ''}`;

export interface Turn {
  readonly text: string;
  /** The uuid of the turn's last line: the parent of the next turn's first line. */
  readonly last: string;
}

/** The shape of a turn: its tool calls, and the size of their results. */
interface Shape {
  readonly calls: number;
  readonly resultLength: () => number;
  /** The runtime stores the result a second time, structured, as for read files. */
  readonly structured: boolean;
  readonly write?: Writer;
  /** Writes the results of tools, if it is not `write`. */
  readonly writeResult?: Writer;
  /** Replies and calls of different sessions have different ids, as real ones have. */
  readonly session?: string;
}

/** One turn of a Claude Code session: prompt, thinking, tool calls with their results, answer; one line each. */
function turn(next: () => number, parent: string | null, at: number, number: number, shape: Shape): Turn {
  const write = shape.write ?? prose;
  let before = parent;
  let seconds = 0;
  const line = (fields: object): string => {
    const uuid = randomUUID();
    seconds += 2;
    const whole = {
      parentUuid: before,
      isSidechain: false,
      ...fields,
      uuid,
      timestamp: new Date(at + seconds * 1_000).toISOString(),
      userType: 'external',
      cwd: '/home/dev/app',
      sessionId: shape.session ?? 'bench',
      version: '2.1.329',
      gitBranch: 'main',
    };
    before = uuid;
    return `${JSON.stringify(whole)}\n`;
  };
  const assistant = (message: number, block: object): string =>
    line({
      type: 'assistant',
      message: {
        id: `msg_${shape.session ?? ''}${number}_${message}`,
        type: 'message',
        role: 'assistant',
        model: 'bench',
        content: [block],
        usage: { input_tokens: 10, output_tokens: 90 },
      },
    });
  const exchange = (place: number): string => {
    const id = `toolu_${shape.session ?? ''}${number}_${place}`;
    const filePath = `/home/dev/app/src/${number}/${place}.ts`;
    const content = (shape.writeResult ?? write)(next, shape.resultLength());
    return (
      assistant(place, { type: 'tool_use', id, name: 'Read', input: { file_path: filePath } }) +
      line({
        type: 'user',
        message: { role: 'user', content: [{ tool_use_id: id, type: 'tool_result', content }] },
        ...(shape.structured && { toolUseResult: { type: 'text', file: { filePath, content, numLines: 40, startLine: 1, totalLines: 40 } } }),
      })
    );
  };
  const text = [
    line({ type: 'user', message: { role: 'user', content: write(next, 160) } }),
    assistant(0, { type: 'thinking', thinking: write(next, 240), signature: 'c2lnbmF0dXJl' }),
    ...Array.from({ length: shape.calls }, (_, place) => exchange(place)),
    assistant(shape.calls, { type: 'text', text: write(next, 420) }),
  ].join('');
  return { text, last: before ?? '' };
}

/** The deltas of a chain with small commits: one call per turn, 3.3 KB. */
export function turns(count: number, seed = 1, write: Writer = prose): string[] {
  const next = chance(seed);
  const shape: Shape = { calls: 1, resultLength: () => 640, structured: false, write };
  const all: string[] = [];
  let parent: string | null = null;
  for (let number = 0; number < count; number++) {
    const made: Turn = turn(next, parent, Date.UTC(2026, 0, 5) + number * 60_000, number, shape);
    all.push(made.text);
    parent = made.last;
  }
  return all;
}

/** An agent reads the same files again: a result often repeats one of the last ones, with a few other words. */
const remembered = 24;
const shareOfRepeats = 0.6;

/** Writes results that repeat as those of real sessions do, so that a file compresses as well as a real one. */
function repeating(): Writer {
  const last: string[] = [];
  return (next, length) => {
    const earlier = next() < shareOfRepeats ? last[Math.floor(next() * last.length)] : undefined;
    const place = Math.floor(next() * (earlier?.length ?? 0));
    const text = earlier === undefined ? prose(next, length) : `${earlier.slice(0, place)}${prose(next, 40)}${earlier.slice(place + 40)}`;
    last.push(text);
    if (last.length > remembered) last.shift();
    return text;
  };
}

const halfDayMs = 43_200_000;

/**
 * A session file of about a number of bytes, with the proportions of real ones: one prompt per 30 lines, half of the lines
 * near 1 KB, a few very large, 4 KB on average. It compresses like the real session of 18 MB (14 times at zstd -3). Sessions follow each other in
 * time by their seeds, as those of a person do.
 */
export function sessionFile(bytes: number, seed: number): string {
  const next = chance(seed);
  const parts: string[] = [];
  const writeResult = repeating();
  let parent: string | null = null;
  for (let size = 0, number = 0; size < bytes; number++) {
    const resultLength = (): number => Math.min(60_000, 400 / (1 - next()) ** 1.2);
    const shape: Shape = { calls: 8 + Math.floor(next() * 12), resultLength, structured: true, writeResult, session: `b${seed}` };
    const made: Turn = turn(next, parent, Date.UTC(2024, 1, 3) + seed * halfDayMs + number * 60_000, number, shape);
    parts.push(made.text);
    size += made.text.length;
    parent = made.last;
  }
  return parts.join('');
}

/** A session with a number of turns, each with as many tool calls with short results. */
export function largeSession(size: { readonly turns: number; readonly calls: number }, seed: number): string {
  const next = chance(seed);
  const shape: Shape = { calls: size.calls, resultLength: () => Math.min(4_000, 200 / (1 - next()) ** 0.8), structured: false, session: `s${seed}` };
  const parts: string[] = [];
  let parent: string | null = null;
  for (let number = 0; number < size.turns; number++) {
    const made: Turn = turn(next, parent, Date.UTC(2026, 1, 3) + (seed * size.turns + number) * 60_000, number, shape);
    parts.push(made.text);
    parent = made.last;
  }
  return parts.join('');
}

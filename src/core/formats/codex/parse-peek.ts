import { constants, zstdDecompressSync } from 'node:zlib';
import { attempt, defined, isObject, StemmaError } from '../../base/index.js';
import type { DocumentReader, Peek } from '../format.js';
import { expandsTooMuch, maxExpanded } from '../shared/expansion.js';
import { clip } from '../shared/headline.js';
import { bufferOf } from '../shared/jsonl.js';
import { firstIn } from '../shared/plans.js';
import { unzstd } from '../shared/zstd.js';
import { readSession } from './plan-facts.js';
import { folderOf, isPrompt, promptText, type RolloutLine, readLine, scanLines } from './schema.js';

const magic = Buffer.from([0x28, 0xb5, 0x2f, 0xfd]);
/** Codex compresses old rollouts. */
const isCompressed = (head: Uint8Array): boolean => Buffer.from(head.subarray(0, magic.length)).equals(magic);

const largest = 512 * 1024 ** 2;
const maxBeginningBytes = 16 * 1024 * 1024;

/** Expands a compressed rollout. @throws CORRUPT if the file is incomplete, not zstd, or expands beyond the limits. */
function expand(file: Uint8Array): Uint8Array {
  const most = Math.min(largest, maxExpanded(file.length));
  try {
    return unzstd(file, { maxOutputLength: most });
  } catch (error) {
    if (error instanceof StemmaError) throw error;
    const { code, message } = error as NodeJS.ErrnoException;
    if (code === 'ERR_BUFFER_TOO_LARGE') throw expandsTooMuch('it', file.length, most);
    throw new StemmaError('CORRUPT', `it is compressed and cannot be expanded: ${message}`);
  }
}

/** The expanded beginning of a compressed file; empty if it cannot be expanded. */
const expandBeginning = (head: Uint8Array): Uint8Array =>
  attempt(() => zstdDecompressSync(head, { maxOutputLength: maxBeginningBytes, finishFlush: constants.ZSTD_e_flush })) ?? new Uint8Array();

const linesIn = (bytes: Uint8Array): RolloutLine[] => scanLines(bytes).pieces.flatMap(({ record }) => (record ? [readLine(record)] : []));

/** Reads the first and the last bytes of a rollout; they may overlap. Lines cut in two are skipped. */
export function peek(head: Uint8Array, tail: Uint8Array): Peek {
  if (isCompressed(head)) return peek(expandBeginning(head), new Uint8Array());
  const lines = linesIn(head);
  const first = lines.find(({ sort }) => sort === 'meta');
  const session = first ? readSession(first.payload, first.at) : {};
  const named = [...lines, ...linesIn(tail)].findLast(({ sort, payload }) => sort === 'event' && payload.type === 'thread_name_updated');
  const title = typeof named?.payload.thread_name === 'string' ? clip(named.payload.thread_name) : undefined;
  const prompt = lines.find(({ sort, payload }) => sort === 'item' && isPrompt(payload));
  const firstPrompt = prompt && clip(promptText(prompt.payload));
  const startedAt = session.startedAt ?? firstIn(lines, ({ at }) => at);
  return defined({ sessionId: session.id, cwd: firstIn(lines, folderOf), title, firstPrompt, startedAt });
}

const openings = /^\s*\{"timestamp":"[^"]*",("ordinal":\d+,)?"type":"(session_meta|response_item|event_msg|turn_context|compacted)","payload":\{/;

/** Certain if the file begins with a session line or other known lines. The flat form of 2025 is recognized by its first line. */
export function recognize(head: Uint8Array, _path: string): number {
  if (openings.test(bufferOf(head).toString('latin1', 0, 1_024))) return 1;
  const lines = linesIn(head);
  if (lines.some(({ sort, flat }) => !flat && sort === 'meta')) return 1;
  if (lines.filter(({ sort, flat }) => !flat && sort !== 'other').length > 1) return 0.9;
  const [first, ...others] = lines;
  const isFlat = first?.sort === 'meta' && first.flat && ('instructions' in first.payload || isObject(first.payload.git));
  return isFlat && others.every(({ flat }) => flat) ? 0.9 : 0;
}

const headLength = 64 * 1024;

/** A rollout that the agent has compressed holds one session, with unchanged lines. */
export const compressed: DocumentReader = {
  keeps: true,
  endings: ['.jsonl.zst'],
  recognize: isCompressed,
  members(document) {
    const lines = expand(document);
    const head = lines.subarray(0, headLength);
    if (recognize(head, '') === 0) return undefined;
    const { sessionId, cwd, title, firstPrompt } = peek(head, lines.subarray(-headLength));
    return [{ id: sessionId ?? 'session', lines: () => ({ bytes: lines }), ...defined({ title: title ?? firstPrompt, cwd }) }];
  },
};

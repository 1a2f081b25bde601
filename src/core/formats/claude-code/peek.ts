import { stringAt, type Timestamp } from '../../base/index.js';
import { scanLines } from './lines.js';
import { contentOf, firstTextOf, partOf, timeOf } from './record.js';

/** What the ends of a session file tell without reading what is between. */
export interface Glimpse {
  readonly sessionId?: string;
  readonly cwd?: string;
  readonly title?: string;
  readonly firstPrompt?: string;
  readonly startedAt?: Timestamp;
}

const promptLength = 200;

/** Names a session by the first and the last bytes of its file; titles are written late, so the last one holds. */
export function peek(head: Uint8Array, tail: Uint8Array): Glimpse {
  // The first piece of the tail begins within a line.
  const ends = [...scanLines(head).pieces, ...scanLines(tail).pieces.slice(1)];
  const records = ends.flatMap(({ record }) => (record ? [record] : []));
  const first = (key: string): string | undefined => records.map((record) => stringAt(record, key)).find((value) => value !== undefined);
  const titled = records.findLast((record) => record.type === 'custom-title') ?? records.findLast((record) => record.type === 'ai-title' || record.type === 'summary');
  const title = titled && (stringAt(titled, 'customTitle') ?? stringAt(titled, 'aiTitle') ?? stringAt(titled, 'title') ?? stringAt(titled, 'summary'));
  const prompt = records.find((record) => partOf(record) === 'prompt');
  const firstPrompt = prompt && firstTextOf(contentOf(prompt)).replace(/\s+/g, ' ').trim().slice(0, promptLength).toWellFormed();
  const sessionId = first('sessionId');
  const cwd = first('cwd');
  const startedAt = records.map(timeOf).find((time) => time !== undefined);
  return {
    ...(sessionId !== undefined && { sessionId }),
    ...(cwd !== undefined && { cwd }),
    ...(title !== undefined && { title }),
    ...(firstPrompt && { firstPrompt }),
    ...(startedAt !== undefined && { startedAt }),
  };
}

import { type FileBytes, importableFormats } from '../formats/index.js';

/** The number of bytes that are enough to detect a format. */
export const headLength = 64 * 1024;
/** The beginning of a file, for detecting its format. */
export const headOf = (bytes: FileBytes): Uint8Array => bytes.subarray(0, Math.min(headLength, bytes.length));

/** The format with the highest confidence, if any recognizes the file. The first few lines are enough for most files. */
export function recognized(head: Uint8Array, path: string): Recognized | undefined {
  const few = head.subarray(0, head.subarray(0, fewBytes).lastIndexOf(newline) + 1);
  const certain = few.length > 0 ? importableFormats.find((format) => format.recognize(few, path) === 1) : undefined;
  if (certain) return { format: certain, confidence: 1 };
  const [best] = importableFormats
    .map((format) => ({ format, confidence: format.recognize(head, path) }))
    .filter(({ confidence }) => confidence > 0)
    .sort((a, b) => b.confidence - a.confidence);
  return best;
}
const fewBytes = 4 * 1024;
const newline = 0x0a;

interface Recognized {
  readonly format: (typeof importableFormats)[number];
  readonly confidence: number;
}

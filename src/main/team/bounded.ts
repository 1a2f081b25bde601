import { isBounded, type JsonBounds } from '../../core/base/index.js';

const form = /^multipart\/form-data; ?boundary=(?:"([\w'()+,./:=?-]{1,70})"|([\w'()+,./:=?-]{1,70}))$/i;
const ofFile = /(?:^|\r\n)content-disposition: ?form-data; ?name="[^"\r\n]*"; ?filename="/i;

/**
 * Why a body of a call may cost too much: deep JSON exhausts the stack, and many values exhaust the memory. Look before anything parses it. Undefined
 * if it may be parsed. Files in a form are parcels, which are checked when they are unpacked.
 */
export function excessIn(bytes: Buffer, type: string, { parts, json }: { readonly parts: number; readonly json: JsonBounds }): string | undefined {
  const excess = `it is nested more than ${json.levels} levels deep, or has too many values`;
  if (/urlencoded/i.test(type)) return 'it is neither JSON nor a form with parts';
  if (!/^\s*multipart\//i.test(type)) return isBounded(bytes, json) ? undefined : excess;
  const [, quoted, plain] = form.exec(type) ?? [];
  const boundary = quoted ?? plain;
  // Another reader could see other parts than this one.
  if (boundary === undefined) return 'its type names no plain boundary';
  const mark = Buffer.from(`--${boundary}`);
  const starts: number[] = [];
  for (let at = bytes.indexOf(mark); at >= 0; at = bytes.indexOf(mark, at + mark.length)) {
    starts.push(at);
    // Nothing follows the last boundary.
    if (starts.length > parts + 1) return `it has more than ${parts} parts`;
  }
  if (starts[0] !== 0) return 'it does not begin with its boundary';
  for (const [i, start] of starts.entries()) {
    const part = bytes.subarray(start + mark.length, starts[i + 1] ?? bytes.length);
    const end = part.indexOf('\r\n\r\n');
    if (end < 0) {
      if (i < starts.length - 1) return 'a part of it has no content';
      continue;
    }
    const head = part.toString('latin1', 0, end);
    const isFile = ofFile.test(head) && head.match(/content-disposition/gi)?.length === 1;
    if (!isFile && !isBounded(part.subarray(end), json)) return excess;
  }
  return undefined;
}

/** The bytes of an answer. Undefined as soon as it is larger than `most`: it would fill the memory before anybody looks at it. */
export async function readWithin(answer: Response, most: number): Promise<Buffer<ArrayBuffer> | undefined> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  if (Number(answer.headers.get('content-length') ?? 0) > most) size = Number.POSITIVE_INFINITY;
  for await (const chunk of answer.body ?? []) {
    size += chunk.length;
    if (size > most) break;
    chunks.push(chunk);
  }
  if (size <= most) return Buffer.concat(chunks);
  await answer.body?.cancel().catch(() => {});
  return undefined;
}

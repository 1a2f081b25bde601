import { basename, dirname, join } from 'node:path';
import { decodeText } from '../base/index.js';
import type { WriteChain } from '../chain/index.js';
import type { Skip } from '../contract/index.js';
import { readInside, unlessRefused } from '../files/index.js';
import { type RawBody, readBodyIndex, takeBodies } from '../requests/index.js';
import { type FoundFile, ioReason, limits, Unreadable } from './files.js';

/** How Claude Code names the files that `OTEL_LOG_RAW_API_BODIES=file:DIR` makes it write. */
const bodyName = /^([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})\.(request|response)\.json$/;
const indexName = 'index.jsonl';

/** Divides files into raw bodies with their index, and all others. */
export function splitBodies(files: readonly FoundFile[]): { readonly bodies: readonly FoundFile[]; readonly others: readonly FoundFile[] } {
  const folders = new Set(files.filter(({ path }) => bodyName.test(basename(path))).map(({ path }) => dirname(path)));
  const isOurs = ({ path }: FoundFile): boolean => bodyName.test(basename(path)) || (basename(path) === indexName && folders.has(dirname(path)));
  return folders.size === 0 ? { bodies: [], others: files } : { bodies: files.filter(isOurs), others: files.filter((file) => !isOurs(file)) };
}

/** Stores the calls in raw bodies. Call it after importing the transcripts, because they contain data that the bodies lack. */
export function importBodies(
  chain: WriteChain,
  files: readonly FoundFile[],
): { readonly requests: number; readonly skipped: Skip[]; readonly notes: Skip[] } {
  const requests = files.filter(({ path }) => bodyName.exec(basename(path))?.[2] === 'request');
  if (requests.length === 0) return { requests: 0, skipped: [], notes: [] };
  const byFolder = new Map<string, ReturnType<typeof readBodyIndex>>();
  const readIndex = (file: FoundFile): ReturnType<typeof readBodyIndex> => {
    const folder = dirname(file.path);
    const known = byFolder.get(folder) ?? readBodyIndex(textBeside(file, indexName) ?? '');
    byFolder.set(folder, known);
    return known;
  };
  const paths = new Map<string, string>();
  const skipped: Skip[] = [];
  function* read(): Generator<RawBody> {
    for (const file of requests) {
      const id = bodyName.exec(basename(file.path))?.[1] ?? '';
      paths.set(id, file.path);
      const told = readIndex(file).get(basename(file.path));
      try {
        const request = textBeside(file, basename(file.path));
        // A name in the index is untrusted, so only a file of the same folder is read.
        const reply = told?.reply === undefined || !bodyName.test(told.reply) ? undefined : textBeside(file, told.reply);
        if (request !== undefined) yield { id, at: told?.at ?? file.modifiedAt, request, reply, querySource: told?.querySource };
      } catch (error) {
        skipped.push({ path: file.path, line: 0, reason: error instanceof Unreadable ? error.message : ioReason(error, file.path) });
      }
    }
  }
  const { calls, problems } = takeBodies(chain, read());
  return {
    requests: calls,
    skipped: [...skipped, ...problems.map(({ id, reason }) => ({ path: paths.get(id) ?? id, line: 0, reason }))],
    notes: [
      { path: dirname(requests[0]?.path ?? ''), line: 0, reason: 'the model calls are stored; the files are not kept, because they name an account' },
    ],
  };
}

/** The text of a file in the same folder as another; undefined if it does not exist. */
function textBeside({ root, path }: FoundFile, name: string): string | undefined {
  const file = join(dirname(path), name);
  return unlessRefused(() => decodeText(readInside(root === path ? dirname(path) : root, file, { limit: limits.whole })), ['ENOENT']);
}

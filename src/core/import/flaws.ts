import type { ReadChain } from '../chain/index.js';
import { formatNamed } from './recognize.js';
import { allSources, sourceBytes } from './sources.js';

/** A fault of an imported file that its import read around. */
export interface FileFlaw {
  readonly kind: 'torn_line' | 'broken_parent' | 'nul';
  readonly path: string;
  readonly line: number;
  readonly reason: string;
}

/** Larger files are not read again for a diagnosis. */
const maxBytes = 128 * 1024 ** 2;
const broken = /parent .* does not exist|names itself as its parent|is a descendant of the record|the compaction names no parent/;
const torn = /torn record|not UTF-8|not JSON|JSON, but not a record|the last line is incomplete/;

/** The torn lines, NULs and broken parents in the files of a session, found by planning each file again. */
export function fileFlaws(chain: ReadChain, sessionId: string): FileFlaw[] {
  const has = (record: string): boolean =>
    chain.db.one('SELECT 1 AS known FROM record WHERE project = ? AND record = ?', chain.project, record) !== undefined;
  const paths = new Set<string>();
  return allSources(chain).flatMap((source): FileFlaw[] => {
    const format = formatNamed(source.format);
    if (source.sessionId !== sessionId || paths.has(source.path) || !format || source.size > maxBytes) return [];
    paths.add(source.path);
    const { skipped, notes } = format.plan(sourceBytes(chain, source), {
      path: source.path,
      known: { has },
      resumeAt: 0,
      granularity: 'turn_boundary',
    });
    return [
      ...skipped.flatMap(({ line, reason }): FileFlaw | [] => {
        if (/NUL/.test(reason)) return { kind: 'nul', path: source.path, line, reason };
        return torn.test(reason) ? { kind: 'torn_line', path: source.path, line, reason } : [];
      }),
      ...notes.flatMap(({ line, reason }): FileFlaw | [] => (broken.test(reason) ? { kind: 'broken_parent', path: source.path, line, reason } : [])),
    ];
  });
}

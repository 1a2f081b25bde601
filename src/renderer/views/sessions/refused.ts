import type { ImportJob } from '../../state';
import type { ListedHistory } from './rows';

export interface RefusedHistory {
  readonly path: string;
  readonly reason: string;
}

/** The whole files that imports of this window refused, by path. */
export const refusals = (jobs: readonly Pick<ImportJob, 'result'>[]): ReadonlyMap<string, string> =>
  new Map(
    jobs
      .toReversed()
      .flatMap(({ result }) => result?.skipped.flatMap(({ path, line, reason }) => (line === 0 ? [[path, reason] as const] : [])) ?? []),
  );

/** Divides histories into those that can be imported and those that cannot, which the list names apart. */
export function partFound(
  found: readonly ListedHistory[],
  refused: ReadonlyMap<string, string>,
): { importable: readonly ListedHistory[]; refused: readonly RefusedHistory[] } {
  const reasonOf = ({ path, problem }: ListedHistory): string | undefined => problem ?? refused.get(path);
  return {
    importable: found.filter((one) => reasonOf(one) === undefined),
    refused: found.flatMap((one) => {
      const reason = reasonOf(one);
      return reason === undefined ? [] : [{ path: one.path, reason }];
    }),
  };
}

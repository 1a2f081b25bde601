import { asideOf, holds, type Row, shown } from './measure.js';

/** A whole run of the bench. */
export interface BenchRun {
  /** ISO 8601. */
  readonly at: string;
  readonly machine: { readonly node: string; readonly platform: string; readonly cores: number; readonly cpu: string };
  /** By the name of the program. */
  readonly versions: Readonly<Record<string, string>>;
  readonly minutes: number;
  readonly rows: readonly Row[];
  readonly failed: readonly { readonly id: string; readonly why: string }[];
}

const cell = (text: string): string => text.replaceAll('|', '\\|').replaceAll('\n', ' ');
const line = (cells: readonly string[]): string => `| ${cells.map(cell).join(' | ')} |`;

/** The page docs/performance.md: what the last whole run measured, and what misses its limit. */
export function report({ at, machine, versions, minutes, rows, failed }: BenchRun): string {
  const limit = (row: Row, value: number): string => `${row.better === 'less' ? '≤' : '≥'} ${shown(value)}`;
  const verdict = (row: Row): string => (row.ratio === undefined ? 'not measured' : holds(row, row.must) ? 'yes' : 'no');
  const missed = rows.filter((row) => holds(row, row.must) === false);
  return [
    '# Performance',
    '',
    'Written by `npm run bench`. Every value is a ratio to a floor or to another program that was measured in the same run, or has its unit in its name.',
    '',
    `Last whole run: ${at.slice(0, 10)}, ${Math.round(minutes)} minutes, Node ${machine.node.slice(1)}, ${machine.platform}, ${machine.cores} cores of ${machine.cpu}. ${Object.entries(
      versions,
    )
      .map(([name, version]) => `${name} ${version}`)
      .join(', ')}.`,
    '',
    missed.length === 0 ? 'Every row holds its limit.' : `These rows miss their limit: ${[...new Set(missed.map(({ id }) => id))].join(', ')}.`,
    ...(failed.length > 0 ? ['', `These rows failed: ${failed.map(({ id, why }) => `${id} (${why})`).join(', ')}.`] : []),
    '',
    line(['Row', 'What is measured', 'Value', 'Limit', 'Goal', 'Holds']),
    line(['---', '---', '---', '---', '---', '---']),
    ...rows.map((row) =>
      line([row.id, row.what, row.ratio === undefined ? '–' : shown(row.ratio), limit(row, row.must), limit(row, row.stretch), verdict(row)]),
    ),
    '',
    '## Figures',
    '',
    ...rows.flatMap((row) => (asideOf(row) ? [`- ${row.id}, ${row.what}: ${asideOf(row)}`] : [])),
    '',
  ].join('\n');
}

import { viewList, viewsVersion } from './views.js';

const kinds = { text: 'text', count: '64-bit integer', number: 'double', time: 'timestamp (UTC, milliseconds)', 'yes-no': 'boolean' } as const;

/** A page that says what the tables of a dataset contain. */
export function schemaPage(project: string, counts: readonly (readonly [view: string, rows: number])[]): string {
  const rows = new Map(counts);
  return [
    `# Facts of ${project.replaceAll(/\s+/g, ' ')}`,
    '',
    `Written by Stemma. Version ${viewsVersion} of the views. Each folder is a table: \`TABLE/month=YYYY-MM/part-0.parquet\`, with the month in UTC.`,
    '',
    '```sql',
    "SELECT model, sum(cost) FROM read_parquet('calls/*/*.parquet', hive_partitioning = true) GROUP BY model;",
    '```',
    ...viewList.flatMap(({ name, what, columns }) => [
      '',
      `## ${name}`,
      '',
      `${what} ${(rows.get(name) ?? 0).toLocaleString('en-US')} rows.`,
      '',
      '| column | type | meaning |',
      '| --- | --- | --- |',
      ...columns.filter(({ isContent }) => !isContent).map((column) => `| ${column.name} | ${kinds[column.kind]} | ${column.what} |`),
    ]),
    '',
  ].join('\n');
}

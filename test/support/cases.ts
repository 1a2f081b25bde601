import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { desk } from './desk.js';
import { scratch } from './project.js';

/** The folder of the cases: histories modelled on public reports. */
export const casesFolder = join(import.meta.dirname, '../fixtures/cases');

/** The right values of a case. `cases/README.md` explains the fields. */
export interface Right {
  readonly path?: string;
  readonly sessions?: number;
  readonly turns?: number;
  readonly turnsAtLeast?: number;
  readonly turnsOrNote?: number;
  readonly calls?: number;
  readonly in?: number;
  readonly out?: number;
  readonly cost?: number;
  readonly priced?: boolean;
  readonly own?: { readonly calls: number; readonly in: number; readonly out: number };
  readonly peak?: number;
  readonly limit?: number;
  readonly text?: readonly string[];
  readonly together?: readonly string[];
  readonly repositories?: readonly string[];
}

/** The right values of each case. */
export const rightValues = JSON.parse(readFileSync(join(casesFolder, 'expected.json'), 'utf8')) as Readonly<Record<string, Right>>;

/** Imports paths into a new project, one list after the other, and reads back the values that a case fixes. A function runs between two imports. */
export async function importedValues(right: Right, ...imports: readonly (readonly string[] | (() => void))[]) {
  const { call } = desk(scratch());
  await call.project.create({ dir: join(scratch(), 'p.stemma') });
  let notes = 0;
  for (const paths of imports) {
    if (typeof paths === 'function') {
      paths();
      continue;
    }
    const run = await call.import.run({ paths: [...paths] });
    let step = await run.next();
    while (!step.done) step = await run.next();
    notes += step.value.skipped.length;
  }
  const { sessions } = await call.session.list({});
  const { calls, total } = await call.usage.calls({});
  const { totals } = await call.usage.sessions({});
  const tips = await call.context.tips({});
  const contexts: string[] = [];
  for (const { id } of tips)
    for (const stop of ['compaction', 'root'] as const) {
      const { entries } = await call.context.entries({ id, stop });
      contexts.push(
        entries
          .map(
            ({ text = '', result, arguments: given }) =>
              `${text}\n${JSON.stringify(given) ?? ''}\n${typeof result === 'string' ? result : (JSON.stringify(result) ?? '')}`,
          )
          .join('\n'),
      );
    }
  const own = calls.filter((one) => !('replayed' in one && one.replayed));
  const sum = (value: (one: (typeof calls)[number]) => number): number => own.reduce((all, one) => all + value(one), 0);
  const main = sessions.filter(({ parentSessionId }) => parentSessionId === undefined);
  const turns = Math.max(0, ...sessions.map((session) => session.turns));
  const { input, cacheRead, cacheWrite, output } = totals.tokens;
  return {
    sessions: main.length,
    turns,
    turnsAtLeast: Math.min(turns, right.turnsAtLeast ?? turns),
    turnsOrNote: turns === right.turnsOrNote || notes > 0 ? right.turnsOrNote : turns,
    calls: total,
    in: input + cacheRead + cacheWrite,
    out: output,
    cost: totals.cost?.amount ?? 0,
    priced: calls.length > 0 && calls.every(({ model, cost }) => model !== null && cost !== null),
    own: { calls: own.length, in: sum(({ window }) => window ?? 0), out: sum(({ tokens }) => tokens.output ?? 0) },
    peak: Math.max(...sessions.map(({ peakTokens }) => peakTokens ?? 0)),
    limit: Math.max(...sessions.map(({ limit }) => limit ?? 0)),
    text: right.text?.filter((text) => contexts.some((context) => context.includes(text))),
    together: contexts.some((context) => right.together?.every((text) => context.includes(text))) ? right.together : contexts,
    repositories: [...new Set(sessions.map(({ repository }) => repository?.split(/[/\\]/).at(-1)))],
  };
}

/** The values of a project that differ from the right ones. */
export function differences({ path: _, cost, ...exact }: Right, values: Awaited<ReturnType<typeof importedValues>>): Record<string, unknown> {
  const found = Object.entries(exact).filter(([field, right]) => JSON.stringify(values[field as keyof typeof values]) !== JSON.stringify(right));
  const isOtherCost = cost !== undefined && Math.abs(values.cost - cost) / cost >= 0.01;
  return {
    ...Object.fromEntries(found.map(([field, right]) => [field, { right, found: values[field as keyof typeof values] }])),
    ...(isOtherCost && { cost: { right: cost, found: values.cost } }),
  };
}

import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { desk } from '../support/desk.js';
import { scratch } from '../support/project.js';

const cases = join(import.meta.dirname, '../fixtures/cases');

/** The right values of a case. `cases/README.md` explains the fields. */
interface Right {
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

const expected = JSON.parse(readFileSync(join(cases, 'expected.json'), 'utf8')) as Readonly<Record<string, Right>>;

/** Imports a case into a new project and reads back the values that the case fixes. */
async function valuesOf(name: string, right: Right) {
  const { call } = desk(scratch());
  await call.project.create({ dir: join(scratch(), 'p.stemma') });
  const run = await call.import.run({ paths: [join(cases, name, right.path ?? '.')] });
  let step = await run.next();
  while (!step.done) step = await run.next();
  const notes = step.value.skipped.length;
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

describe('histories modelled on public reports', () => {
  test('[N20] every case has its right values or a test of its own below', () => {
    const folders = readdirSync(cases, { withFileTypes: true }).flatMap((entry) => (entry.isDirectory() ? [entry.name] : []));
    expect(Object.keys(expected).filter((name) => !folders.includes(name))).toEqual([]);
  });

  test.each(Object.entries(expected))('[N20] %s', async (name, right) => {
    const { path: _, cost, ...exact } = right;
    const values = await valuesOf(name, right);
    expect(Object.fromEntries(Object.keys(exact).map((field) => [field, values[field as keyof typeof values]]))).toEqual(exact);
    if (cost !== undefined) expect(Math.abs(values.cost - cost) / cost).toBeLessThan(0.01);
  });
});

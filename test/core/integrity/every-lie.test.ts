import { createRouterClient } from '@orpc/server';
import Database from 'better-sqlite3';
import { expect, test } from 'vitest';
import { contract, damageHeader, procedureNames } from '../../../src/core/contract/index.js';
import { contextOf, kindOf, router } from '../../../src/core/router/index.js';
import { databaseIn } from '../../support/damage.js';
import { everyTable } from '../../support/every-table.js';

interface Shown {
  readonly name: string;
  readonly input: object;
  readonly answer: unknown;
  /** Whether the answer is a refusal that says that a row is damaged, or the damage was told beside it. */
  readonly isTold: boolean;
  readonly failure?: string;
}
type Table = { readonly name: string; readonly keys: readonly string[]; readonly columns: readonly string[] };

/** Tables whose rows no answer shows: of objects, which have hashes, and of copies of a project in other places. */
const others = /^(sqlite_|artifact$|project$|teamItem$|replicaCopy$|progress$|areaCount$)/;

const tablesOf = (raw: Database.Database): Table[] =>
  (raw.prepare("SELECT name, wr FROM pragma_table_list WHERE schema = 'main' AND type = 'table'").all() as { name: string; wr: number }[])
    .filter(({ name }) => !others.test(name))
    .map(({ name, wr }) => {
      const columns = raw.prepare('SELECT name, pk FROM pragma_table_info(?)').all(name) as { name: string; pk: number }[];
      const keys = wr ? columns.filter(({ pk }) => pk > 0).map((column) => column.name) : ['rowid'];
      return { name, keys, columns: columns.map((column) => column.name).filter((column) => column !== 'rowSum') };
    });

let lies = 0;
const letters = (number: number): string => String(number).replaceAll(/\d/g, (digit) => 'abcdefghij'[Number(digit)] ?? '');

/** Another value of the same type, in the first text of JSON; and what an answer would show of it. */
function lieFor(value: unknown): { readonly value: string | number; readonly lie?: string } | undefined {
  if (typeof value === 'number') return { value: value < 2 ? 1 - value : value + 1 };
  if (typeof value !== 'string') return undefined;
  const lie = `qZqLie${letters(lies++)}Zq`;
  if (!/^[[{]/.test(value)) return { value: `${value}${lie}`, lie };
  let isDone = false;
  const changed = JSON.stringify(JSON.parse(value), (_, one: unknown) => {
    if (isDone || typeof one !== 'string' || one === '') return one;
    isDone = true;
    return `${one}${lie}`;
  });
  return isDone ? { value: changed, lie } : undefined;
}

/** Whether each text with the lie stands in an object that says what is wrong, or inside of one. */
function isMarkedAround(value: unknown, lie: string, isMarked = false): boolean {
  if (typeof value === 'string') return isMarked || !value.includes(lie);
  if (Array.isArray(value)) return value.every((item) => isMarkedAround(item, lie, isMarked));
  if (typeof value !== 'object' || value === null) return true;
  const own = isMarked || (value as { damaged?: unknown }).damaged === true || typeof (value as { problem?: unknown }).problem === 'string';
  return Object.entries(value).every(([key, member]) => (own || !key.includes(lie)) && isMarkedAround(member, lie, own));
}

/**
 * What an answer says that is no fact of a row: the size of the files of the project, which each write changes; where changes stand; and whether
 * a context was assembled again.
 */
const passing = new Set(['stored', 'disk', 'stand', 'cached']);
/** Answers that are lists of ids, which have no place for a mark. The damage is told beside them. */
const withoutPlace = new Set(['card.boxes']);

const comparable = (answer: unknown): string => JSON.stringify(answer, (key, value: unknown) => (passing.has(key) ? undefined : value)) ?? '';
const isMarked = (answer: unknown): boolean => /"damaged":true|"problem":"/.test(JSON.stringify(answer) ?? '');

/** Asks every procedure that reads. */
async function asking(): Promise<{ readonly dir: string; ask(): Promise<Shown[]> }> {
  const { session, project, inputs } = await everyTable();
  let headers = new Headers();
  const client = createRouterClient(router, {
    context: () => {
      headers = new Headers();
      return { ...contextOf(session), resHeaders: headers };
    },
  });
  const names = procedureNames(contract).filter(
    (name) => name !== 'project.changes' && (['reads', 'live'].includes(kindOf(name.split('.'))) || name in inputs),
  );
  const ask = async (): Promise<Shown[]> => {
    const shown: Shown[] = [];
    for (const name of names) {
      const call = name.split('.').reduce<unknown>((node, part) => (node as Record<string, unknown>)[part], client) as (
        input: object,
      ) => Promise<unknown>;
      for (const input of inputs[name] ?? [{}]) {
        const answer = await call(input).catch((error: { code?: string; message: string }) => error);
        const isTold = headers.has(damageHeader);
        if (!(answer instanceof Error)) shown.push({ name, input, answer, isTold });
        else {
          const { code, message } = answer as { code?: string; message: string };
          const isFailure = code === undefined || code === 'INTERNAL_SERVER_ERROR';
          shown.push({ name, input, answer: { code }, isTold: isTold || code === 'CORRUPT', ...(isFailure && { failure: message }) });
        }
      }
    }
    return shown;
  };
  return { dir: project.dir, ask };
}

/** What is wrong with an answer, in which a column may be a lie. Undefined if it is as it was, says that a row is damaged, or refuses. */
function faultOf({ name, answer, isTold, failure }: Shown, truth: Shown | undefined, lie: string | undefined): string | undefined {
  if (failure !== undefined) return failure;
  const isHidden = lie !== undefined && !isMarkedAround(answer, lie);
  if (isHidden && !(isTold && withoutPlace.has(name))) return 'unmarked';
  const isChanged = comparable(answer) !== comparable(truth?.answer);
  return isChanged && !isTold && !isMarked(answer) ? 'silent' : undefined;
}

/** Changes single columns of rows, one after the other, and returns what was wrong with the answers and how many columns were changed. */
async function lieAbout(isMeant: (column: string) => boolean): Promise<{ readonly faults: string[]; readonly told: number }> {
  const { dir, ask } = await asking();
  const raw = new Database(databaseIn(dir));
  raw.pragma('foreign_keys = OFF');
  const faults = new Set<string>();
  let told = 0;
  for (const { name: table, keys, columns } of tablesOf(raw)) {
    const meant = columns.filter((column) => isMeant(`${table}.${column}`));
    const truth = meant.length > 0 ? await ask() : [];
    for (const { name, isTold } of truth) if (isTold) faults.add(`${name}: says that sound rows are damaged`);
    const key = keys.map((name) => `"${name}"`);
    const at = key.map((name) => `${name} = ?`).join(' AND ');
    for (const column of meant) {
      // Which commit has the lowest id differs from run to run, and answers list forks and compactions apart.
      const one = `${table}.${column}` === 'commits.id' ? 'GROUP BY type, forked' : `GROUP BY "${column}" LIMIT 1`;
      const rows = raw
        .prepare(`SELECT ${key.map((name, place) => `${name} AS key${place}`).join(', ')}, "${column}" AS value FROM "${table}" ${one}`)
        .all() as Readonly<Record<string, unknown>>[];
      for (const row of rows) {
        const lie = lieFor(row.value);
        if (!lie) continue;
        const keyOf = keys.map((_, place) => row[`key${place}`]);
        const whole = raw.prepare(`SELECT * FROM "${table}" WHERE ${at}`).get(...keyOf) as Readonly<Record<string, unknown>>;
        const { changes } = raw.prepare(`UPDATE OR IGNORE "${table}" SET "${column}" = ? WHERE ${at}`).run(lie.value, ...keyOf);
        if (changes === 0) continue;
        told += 1;
        for (const [place, shown] of (await ask()).entries()) {
          const fault = faultOf(shown, truth[place], lie.lie);
          if (fault !== undefined) faults.add(`${table}.${column}: ${shown.name}: ${fault}`);
        }
        restore(raw, table, column, lie.value, row.value, whole);
      }
    }
  }
  raw.close();
  return { faults: [...faults], told };
}

test('[T80] no changed value is shown as true, changes an answer silently, or fails a call', { tags: 'long', timeout: 900_000 }, async () => {
  const { faults, told } = await lieAbout(() => true);
  expect(faults).toEqual([]);
  expect(told).toBeGreaterThan(300);
});

/** Columns that link, count or name rows, so that no name in an answer leads to the changed row. */
const some = new Set([
  ...['membership.entity', 'contextVersion.context', 'instantiation.context', 'profile.name', 'cardVersion.card', 'experimentVerdict.verdict'],
  ...['source.bytes', 'spaceMessage.run', 'commits.id'],
]);

test('[T80] a changed link or number changes no answer silently', { timeout: 60_000 }, async () => {
  const { faults, told } = await lieAbout((column) => some.has(column));
  expect(faults).toEqual([]);
  expect(told).toBeGreaterThanOrEqual(9);
});

/** Puts the old value back, in the row whose other values are the same. */
function restore(
  raw: Database.Database,
  table: string,
  column: string,
  lie: unknown,
  value: unknown,
  whole: Readonly<Record<string, unknown>>,
): void {
  const rest = Object.entries(whole).filter(([name]) => name !== column);
  raw
    .prepare(`UPDATE OR REPLACE "${table}" SET "${column}" = ? WHERE "${column}" IS ? ${rest.map(([name]) => `AND "${name}" IS ?`).join(' ')}`)
    .run(value, lie, ...rest.map(([, one]) => one));
}

import Database from 'better-sqlite3';
import { describe, expect, test } from 'vitest';
import { contract, procedureNames } from '../../../src/core/contract/index.js';
import { kindOf } from '../../../src/core/router/index.js';
import { databaseIn } from '../../support/damage.js';
import { everyTable } from '../../support/every-table.js';

interface Shown {
  readonly name: string;
  readonly answer: unknown;
  readonly code?: string;
  readonly message?: string;
}

/** Whether the objects in which a lie stands, or one around them, are marked. */
function isMarkedAround(value: unknown, lie: string, isMarked = false): boolean {
  if (Array.isArray(value)) return value.every((item) => isMarkedAround(item, lie, isMarked));
  if (typeof value === 'string') return isMarked || !value.includes(lie);
  if (typeof value !== 'object' || value === null) return true;
  const own = isMarked || (value as { damaged?: unknown }).damaged === true;
  return Object.entries(value).every(([key, member]) => (own || !key.includes(lie)) && isMarkedAround(member, lie, own));
}

/** Each lie is another one, because what is derived from a row may outlive it. */
let lies = 0;
const letters = (number: number): string => String(number).replaceAll(/\d/g, (digit) => 'abcdefghij'[Number(digit)] ?? '');

/** A text of the same form, of which a letter is another one. Undefined if a change breaks the form of every such text. */
function lieFor(value: string): { readonly value: string; readonly lie: string } | undefined {
  const lie = `qZqLie${letters(lies++)}Zq`;
  const typed = /typed[ -][a-z]+|Writer|Critic|Typed [A-Z][a-z]+|session-tag/.exec(value);
  if (!typed) return undefined;
  return { value: value.replaceAll(typed[0], lie), lie };
}

/** Tables that tests of their own cover: derived ones are made again, and objects and commits have hashes. */
const others = /^(search|usage|sqlite_|outline|artifact|record|progress|teamItem|replicaCopy|requestMessage|project$)/;

describe('[T80] what people and agents typed', () => {
  test('no procedure shows a changed text without a mark', { tags: 'long', timeout: 240_000 }, async () => {
    const { client, project, inputs } = await everyTable();
    const show = async (): Promise<Shown[]> => {
      const shown: Shown[] = [];
      for (const name of procedureNames(contract)) {
        if (name === 'project.changes' || (!['reads', 'live'].includes(kindOf(name.split('.'))) && !(name in inputs))) continue;
        const call = name.split('.').reduce<unknown>((node, part) => (node as Record<string, unknown>)[part], client) as (
          input: object,
        ) => Promise<unknown>;
        for (const input of inputs[name] ?? [{}])
          shown.push(
            await call(input).then(
              (answer) => ({ name, answer }),
              ({ code, message }: { code: string; message: string }) => ({ name, answer: undefined, code, message }),
            ),
          );
      }
      return shown;
    };
    const raw = new Database(databaseIn(project.dir));
    raw.pragma('foreign_keys = OFF');
    const tables = raw
      .prepare(
        `SELECT m.name AS name, json_group_array(p.name) AS columns FROM sqlite_schema m JOIN pragma_table_info(m.name) p
          WHERE m.type = 'table' AND p.type = 'TEXT' AND m.sql NOT LIKE '%WITHOUT ROWID%' GROUP BY m.name`,
      )
      .all() as { name: string; columns: string }[];
    const failures: string[] = [];
    let told = 0;
    for (const { name: table, columns } of tables.filter(({ name }) => !others.test(name))) {
      const changes = (JSON.parse(columns) as string[]).flatMap((column) => {
        const rows = raw.prepare(`SELECT rowid AS at, "${column}" AS value FROM "${table}"`).all() as { at: number; value: unknown }[];
        const found = rows.flatMap(({ at, value }) => {
          const changed = typeof value === 'string' ? lieFor(value) : undefined;
          return changed ? [{ column, at, value, changed }] : [];
        });
        return found.slice(0, 1);
      });
      if (changes.length === 0) continue;
      told += changes.length;
      const set = (column: string, value: unknown, at: number) => raw.prepare(`UPDATE "${table}" SET "${column}" = ? WHERE rowid = ?`).run(value, at);
      // A row whose name or id is a lie is not found by it. So the other columns lie once without them.
      const others = changes.filter(({ column }) => !/^(?:name|key|sessionId|\w+Id)$/.test(column));
      for (const some of others.length === changes.length || others.length === 0 ? [changes] : [changes, others]) {
        for (const { column, at, changed } of some) set(column, changed.value, at);
        for (const { name, answer, code, message } of await show()) {
          if (code === 'INTERNAL_SERVER_ERROR') failures.push(`${table}: ${name}: ${code} ${message}`);
          for (const { column, changed } of some) if (!isMarkedAround(answer, changed.lie)) failures.push(`${table}.${column}: ${name}: unmarked`);
        }
        for (const { column, at, value } of some) set(column, value, at);
      }
    }
    raw.close();
    expect(told).toBeGreaterThanOrEqual(40);
    expect(failures).toEqual([]);
  });
});

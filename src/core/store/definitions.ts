import Database from 'better-sqlite3';
import { corrupt, inWords, once, type StemmaError } from '../base/index.js';
import { migrations } from './migrations/index.js';
import { addSums, registerSums } from './sums.js';

const selectDefinitions = "SELECT type || ' ' || name, sql FROM sqlite_schema WHERE type IN ('table', 'index') AND sql IS NOT NULL";

/** Definitions by kind and name, in a form that does not depend on when a column was added. */
const definitionsIn = (raw: Database.Database): Map<string, string> =>
  new Map((raw.prepare(selectDefinitions).raw().all() as [string, string][]).map(([key, sql]) => [key, inOneForm(sql)]));

/**
 * A definition without comments and quotes, with its columns sorted: a database that was migrated step by step has them in another order than
 * a new one.
 */
function inOneForm(sql: string): string {
  const text = sql
    .replaceAll(/--[^\n]*/g, '')
    .replaceAll(/["`]/g, '')
    .replaceAll(/\s+/g, ' ')
    .replaceAll(/ ?([(),]) ?/g, '$1');
  if (!/^CREATE TABLE/i.test(text)) return text;
  const [from, to] = [text.indexOf('(') + 1, text.lastIndexOf(')')];
  return `${text.slice(0, from)}${partsOf(text.slice(from, to)).toSorted().join(',')}${text.slice(to)}`;
}

/** Splits a list at the commas that are outside of parentheses. */
function partsOf(list: string): string[] {
  const parts = [''];
  let depth = 0;
  for (const character of list) {
    depth += character === '(' ? 1 : character === ')' ? -1 : 0;
    if (depth === 0 && character === ',') parts.push('');
    else parts[parts.length - 1] += character;
  }
  return parts.map((part) => part.trim());
}

/** The definitions of the current format. Building them takes as long as creating a project, so only checks and errors do it. */
const ownDefinitions = once((): ReadonlyMap<string, string> => {
  const raw = new Database(':memory:');
  try {
    registerSums(raw);
    raw.transaction(() => {
      for (const step of migrations) raw.exec(step);
      addSums(raw, []);
    })();
    return definitionsIn(raw);
  } finally {
    raw.close();
  }
});

/** The tables and indexes of a database of the current format that are missing or defined in another way, one line each. */
export function changedDefinitions(raw: Database.Database): string[] {
  const found = definitionsIn(raw);
  return [...ownDefinitions()].flatMap(([key, definition]) => {
    const [kind, name = ''] = key.split(' ');
    const problem = found.has(key) ? 'is not defined as Stemma defines it' : 'is missing';
    return found.get(key) === definition ? [] : [`the ${kind} ${inWords(name)} ${problem}`];
  });
}

const fromDefinition = /^(?:no such (?:column|table|index)\b|table \S+ has no column named|no query solution|cannot store|datatype mismatch)/;

/** The error of a statement that fails because another program changed a definition; undefined if every definition is ours. */
export function definitionError(raw: Database.Database, { code, message }: InstanceType<typeof Database.SqliteError>): StemmaError | undefined {
  const isSuspect = (code === 'SQLITE_ERROR' && fromDefinition.test(message)) || /^SQLITE_(?:CONSTRAINT_(?!TRIGGER)|MISMATCH)/.test(code);
  if (!isSuspect) return undefined;
  const changed = changedDefinitions(raw);
  if (changed.length === 0) return undefined;
  return corrupt('stemma.db', `${changed.slice(0, 3).join(', ')} (${message}); run "stemma fsck --repair" to restore it`);
}

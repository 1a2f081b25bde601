import Database from 'better-sqlite3';
import { corrupt, inWords, once, type StemmaError } from '../base/index.js';
import { migrations } from './migrations/index.js';
import { addSums, registerSums } from './sums.js';

/** A table or index that is missing or not defined as Stemma defined it. */
export interface ChangedDefinition {
  readonly kind: 'table' | 'index';
  readonly name: string;
  readonly isMissing: boolean;
}

interface Definition {
  readonly type: 'table' | 'index';
  readonly name: string;
  readonly sql: string;
}

const selectDefinitions = "SELECT type, name, sql FROM sqlite_schema WHERE type IN ('table', 'index') AND sql IS NOT NULL";

/** Definitions by kind and name, in a form that does not depend on when a column was added. */
const definitionsIn = (raw: Database.Database): Map<string, string> =>
  new Map((raw.prepare(selectDefinitions).all() as Definition[]).map(({ type, name, sql }) => [`${type} ${name}`, inOneForm(sql)]));

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

/** Tables and indexes of a database of the current format that are missing or defined in another way. */
export function changedDefinitions(raw: Database.Database): ChangedDefinition[] {
  const found = definitionsIn(raw);
  return [...ownDefinitions()].flatMap(([key, definition]) => {
    const [kind, name] = key.split(' ') as [ChangedDefinition['kind'], string];
    const isMissing = !found.has(key);
    return found.get(key) === definition ? [] : [{ kind, name, isMissing }];
  });
}

/** Says in one line how a definition differs. */
export const definitionProblem = ({ kind, name, isMissing }: ChangedDefinition): string =>
  `the ${kind} ${inWords(name)} ${isMissing ? 'is missing' : 'is not defined as Stemma defines it'}`;

const fromDefinition = /^(?:no such (?:column|table|index)\b|table \S+ has no column named|no query solution|cannot store|datatype mismatch)/;

/** The error of a statement that fails because another program changed a definition; undefined if every definition is ours. */
export function definitionError(raw: Database.Database, { code, message }: InstanceType<typeof Database.SqliteError>): StemmaError | undefined {
  const isSuspect = (code === 'SQLITE_ERROR' && fromDefinition.test(message)) || /^SQLITE_(?:CONSTRAINT_(?!TRIGGER)|MISMATCH)/.test(code);
  if (!isSuspect) return undefined;
  const changed = changedDefinitions(raw);
  if (changed.length === 0) return undefined;
  return corrupt('stemma.db', `${changed.slice(0, 3).map(definitionProblem).join(', ')} (${message}); run "stemma fsck --repair" to restore it`);
}

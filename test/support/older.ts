import Database from 'better-sqlite3';
import { migrations } from '../../src/core/store/migrations/index.js';
import { addSums, registerSums, tablesOf } from '../../src/core/store/sums.js';

/** The first format whose rows have checksums. */
export const firstWithSums = 16;

const made: Buffer[] = [];

/** The bytes of an empty database of a format, as the steps up to it make it. Each format is made once, from the one before. */
export function olderDatabase(version: number): Buffer {
  made[version] ??= migratedBy(version);
  return made[version];
}

function migratedBy(version: number): Buffer {
  const raw = version === 1 ? new Database(':memory:') : new Database(olderDatabase(version - 1));
  registerSums(raw);
  const before = tablesOf(raw);
  raw.exec(migrations[version - 1] ?? '');
  if (version >= firstWithSums) addSums(raw, before);
  raw.pragma(`user_version = ${version}`);
  const bytes = raw.serialize();
  raw.close();
  return bytes;
}

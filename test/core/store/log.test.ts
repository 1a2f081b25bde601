import { statSync } from 'node:fs';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { expect, test } from 'vitest';
import { openDatabase } from '../../../src/core/store/index.js';
import { logPages } from '../../../src/core/store/log.js';
import { scratch } from '../../support/project.js';

test('[S21] a log that grew long while somebody read is returned to the disk', () => {
  const file = join(scratch(), 'stemma.db');
  const db = openDatabase(file);
  const reader = new Database(file, { readonly: true });
  reader.exec('BEGIN');
  reader.prepare('SELECT COUNT(*) FROM pack').get();
  const logBytes = () => statSync(`${file}-wal`).size;
  for (let at = 0; at < 8; at++) db.run('INSERT INTO progress (project, name, value) VALUES (?, ?, ?)', 1, String(at).repeat(logPages * 1_000), at);
  const long = logBytes();
  expect(long).toBeGreaterThan(logPages * 4_096 * 1.5);
  db.shortenLogs();
  expect(logBytes()).toBe(long);
  reader.exec('COMMIT');
  db.shortenLogs();
  expect(logBytes()).toBe(0);
  expect(db.one('SELECT COUNT(*) AS count FROM progress')).toEqual({ count: 8 });
  // A log of the usual length stays, because it need not grow again.
  db.run("DELETE FROM progress WHERE name = '1'");
  const usual = logBytes();
  db.shortenLogs();
  expect(logBytes()).toBe(usual);
  reader.close();
  db.close();
});

test('[S25] a file is rewritten without waiting for somebody who reads', () => {
  const file = join(scratch(), 'stemma.db');
  const before = openDatabase(file);
  for (let at = 0; at < 4; at++) before.run('INSERT INTO progress (project, name, value) VALUES (?, ?, ?)', 1, String(at).repeat(1_000_000), at);
  before.close();
  const full = statSync(file).size;
  const db = openDatabase(file);
  db.run('DELETE FROM progress WHERE project = 1');
  const reader = new Database(file, { readonly: true });
  reader.exec('BEGIN');
  reader.prepare('SELECT COUNT(*) FROM pack').get();
  const from = performance.now();
  expect(db.shrink(0)).toBe(true);
  // SQLite would wait for a minute.
  expect(performance.now() - from).toBeLessThan(30_000);
  reader.close();
  db.close();
  expect(statSync(file).size).toBeLessThan(full - 3_000_000);
});

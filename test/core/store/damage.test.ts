import { join } from 'node:path';
import Database from 'better-sqlite3';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { openDatabase, traced } from '../../../src/core/store/index.js';
import { scratch } from '../../support/project.js';

/** A database with two projects and so many settings, and what another program does to it. */
function database(settings: number) {
  const file = join(scratch(), 'stemma.db');
  const db = openDatabase(file);
  onTestFinished(() => db.close());
  db.transaction(() => {
    for (const id of ['p', 'q']) db.run('INSERT INTO project (projectId, name, createdAt) VALUES (?, ?, 0)', id, id);
    for (let at = 0; at < settings; at++) db.run('INSERT INTO setting VALUES (1, ?, ?, NULL)', `name ${String(at).padStart(6, '0')}`, '1');
  });
  const elsewhere = (sql: string): void => {
    const other = new Database(file);
    other.prepare(sql).run();
    other.close();
  };
  const look = (...tables: string[]) => db.damage().look(tables);
  return { db, elsewhere, look, damaged: (...tables: string[]): object => Object.fromEntries(look(...tables).rows) };
}

describe('[T80] the watch for damaged rows', () => {
  test('sees at once what another program changed in small tables, and what was put back', () => {
    const { db, elsewhere, damaged } = database(3);
    expect(damaged('setting', 'project')).toEqual({});
    elsewhere("UPDATE setting SET value = '2' WHERE name = 'name 000001'");
    elsewhere("UPDATE project SET name = 'other'");
    expect(damaged('setting', 'project')).toEqual({ setting: 1, project: 2 });
    expect(damaged('goal')).toEqual({});
    elsewhere("UPDATE setting SET value = '1' WHERE name = 'name 000001'");
    db.run("UPDATE project SET name = 'mended'");
    expect(damaged('setting', 'project')).toEqual({});
  });

  test('checks a large table in pieces while nobody asks, and says what it does not know yet', async () => {
    const { elsewhere, look } = database(1_500);
    elsewhere("UPDATE setting SET value = '2' WHERE name IN ('name 001200', 'name 001499')");
    const first = look('setting');
    expect([first.rows.size, [...first.unchecked]]).toEqual([0, ['setting']]);
    await new Promise((resolve) => setTimeout(resolve, 1_200));
    expect([[...look('setting').rows], [...look('setting').unchecked]]).toEqual([[['setting', 2]], []]);
  });

  test('a large table that changed is stale until it is checked again after a rest', () => {
    vi.useFakeTimers({ toFake: ['Date'] });
    onTestFinished(() => void vi.useRealTimers());
    const { elsewhere, look } = database(400);
    expect([...look('setting').unchecked]).toEqual([]);
    elsewhere("UPDATE setting SET value = '2' WHERE name = 'name 000399'");
    expect([[...look('setting').rows], [...look('setting').stale]]).toEqual([[], ['setting']]);
    vi.setSystemTime(Date.now() + 300);
    expect([...look('setting').rows]).toEqual([['setting', 1]]);
  });

  test('answers wait for 400 rows of a table that is checked again, and not for the rest', async () => {
    vi.useFakeTimers({ toFake: ['Date'] });
    onTestFinished(() => void vi.useRealTimers());
    const { db, elsewhere, damaged } = database(400);
    expect(damaged('setting')).toEqual({});
    for (let at = 400; at < 700; at++) db.run('INSERT INTO setting VALUES (1, ?, ?, NULL)', `name 000${at}`, '1');
    elsewhere("UPDATE setting SET value = '2' WHERE name IN ('name 000300', 'name 000500')");
    vi.setSystemTime(Date.now() + 300);
    expect([damaged('setting'), damaged('setting')]).toEqual([{ setting: 1 }, { setting: 1 }]);
    vi.setSystemTime(Date.now() + 100);
    expect(damaged('setting')).toEqual({ setting: 1 });
    await vi.waitFor(() => expect(damaged('setting')).toEqual({ setting: 2 }));
  });

  test('knows the tables that statements read, by their indexes and in subqueries too', async () => {
    const { db } = database(1);
    const statements = new Set<string>();
    await traced(statements, async () => {
      db.one('SELECT name FROM project WHERE projectId = ?', 'p');
      await Promise.resolve();
      db.all("SELECT (SELECT COUNT(*) FROM goal WHERE entity = :entity) FROM setting, json_each('[1]') LIMIT :most", { entity: 1, most: 5 });
      for (const _ of db.each('SELECT 1 FROM ticket WHERE ticketId = ?', 't'));
      db.rows('SELECT upTo FROM searchState WHERE project = ?', 1);
    });
    db.one('SELECT 1 FROM card');
    const read = db.damage().readBy(statements);
    expect([...read].toSorted()).toEqual(['artifact', 'commits', 'firstParentRun', 'goal', 'project', 'setting', 'source', 'ticket']);
    expect(db.damage().readBy(['SELECT nothing FROM nowhere']).size).toBeGreaterThan(40);
  });
});

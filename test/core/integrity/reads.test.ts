import Database from 'better-sqlite3';
import { expect, onTestFinished, test } from 'vitest';
import type { ContextId } from '../../../src/core/base/index.js';
import { checkpoint, contextColumns, graph, history, materializedBytes, outlineRows, show, tips, update } from '../../../src/core/chain/index.js';
import { atOnce, checkProject, openProject, type Project, repairProject } from '../../../src/core/project/index.js';
import { query } from '../../support/counted.js';
import { databaseIn, derivedIn } from '../../support/damage.js';
import { emptyProject, heldClock } from '../../support/project.js';
import { refusal } from '../../support/refusal.js';

const words = ['apple', 'banana', 'cherry'];

const line = (uuid: string, content: string): string =>
  `${JSON.stringify({ type: 'user', uuid, message: { role: 'user', content }, timestamp: '2026-01-01T00:00:00.000Z' })}\n`;

/** A closed project of three commits in a row, changed by a program that knows nothing of checksums. */
function changed(sql: string, lines = 1): { dir: string; ids: ContextId[]; texts: string[] } {
  const project = emptyProject();
  const ids: ContextId[] = [];
  for (const word of words)
    ids.push(
      checkpoint(project.chain, {
        parent: ids.at(-1) ?? null,
        type: 'delta',
        format: 'claude-code-v1',
        template: 'agent',
        checkpoint: 'explicit',
        summary: `about ${word}`,
        tags: [word],
        text: Array.from({ length: lines }, (_, at) => line(at === 0 ? word : `${word}-${at}`, `${word} text`)).join(''),
      }).id,
    );
  query(project.chain, { text: 'text' });
  for (const id of ids) outlineRows(project.chain, { id });
  const texts = ids.map((id) => contentOf(project, id));
  project.close();
  const raw = new Database(/(?:outline|search\w+)\b/.test(sql) ? derivedIn(project.dir) : databaseIn(project.dir));
  raw.pragma('foreign_keys = OFF');
  raw.exec(sql);
  raw.close();
  return { dir: project.dir, ids, texts };
}

const contentOf = (project: Project, id: ContextId): string => Buffer.from(materializedBytes(project.chain, { id, stop: 'root' }).bytes).toString();

function reopened(dir: string): Project {
  const project = openProject(dir, heldClock());
  onTestFinished(() => project.close());
  return project;
}

test('[T20] the columns that a commit is verified by are those of its table', () => {
  const { db } = emptyProject();
  expect(db.all<{ name: string }>("SELECT name FROM pragma_table_info('commits')").map(({ name }) => name)).toEqual([...contextColumns, 'rowSum']);
});

test('[T20] a changed summary shows as damaged everywhere, and contexts stay readable', () => {
  const { dir, ids, texts } = changed("UPDATE commits SET summary = 'a lie' WHERE seq = 3");
  const project = reopened(dir);
  const { chain } = project;
  const [, , id] = ids as [ContextId, ContextId, ContextId];
  const answers = [show(chain, id), history(chain, id)[0], tips(chain, {})[0], graph(chain, { offset: 0, limit: 1 }).rows[0]?.commit];
  for (const answer of answers) {
    expect(answer).toMatchObject({ id, damaged: true, tags: [] });
    expect(JSON.stringify(answer)).not.toContain('a lie');
  }
  expect(JSON.stringify(graph(chain, { offset: 0, limit: 5 }))).not.toContain('a lie');
  expect(JSON.stringify(query(chain, { text: 'cherry' }))).not.toContain('a lie');
  expect(ids.map((each) => contentOf(project, each))).toEqual(texts);
});

test('[T20] the summary is true again when somebody writes it, and a check finds nothing', () => {
  const { dir, ids } = changed("UPDATE commits SET summary = 'a lie' WHERE seq = 3");
  const project = reopened(dir);
  const [, , id] = ids as [ContextId, ContextId, ContextId];
  const before = atOnce(repairProject(project)).problems;
  expect(before).toMatchObject([{ kind: 'row', id, message: expect.stringContaining('until it is written again') }]);
  expect(update(project.chain, id, { summary: 'the truth' })).toMatchObject({ summary: 'the truth' });
  expect(show(project.chain, id).damaged).toBeUndefined();
  expect(atOnce(checkProject(project)).problems).toEqual([]);
});

test.each([
  ['its content', 'artifact = 1'],
  ['its time', 'createdAt = createdAt + 1'],
  ['its time, to none', 'createdAt = 9e17'],
  ['its template', "template = 'other'"],
  ['its type', "type = 'dflta'"],
  ['its format', "format = 'claude-codf-v1'"],
])('[T20] a commit with a change of %s is refused by its name', (_, change) => {
  const { dir, ids } = changed(`UPDATE commits SET ${change} WHERE seq = 3`);
  const project = reopened(dir);
  const id = ids[2] as ContextId;
  for (const read of [() => show(project.chain, id), () => contentOf(project, id), () => history(project.chain, id)])
    expect(refusal(read)).toMatchObject({ code: 'CORRUPT', data: { id } });
  expect(contentOf(project, ids[1] as ContextId)).toContain('banana');
});

test('[T20] a changed outline is read again from the content', () => {
  const { dir, ids } = changed("UPDATE outline SET data = replace(data, 'banana', 'orange')");
  const project = reopened(dir);
  const rows = JSON.stringify(outlineRows(project.chain, { id: ids[1] as ContextId }));
  expect(rows).not.toContain('orange');
});

test('[T20] a long outline is compressed, and a changed one is read from the content', () => {
  const { dir, ids } = changed("UPDATE outline SET data = CAST(substr(data, 1, 40) || x'00ff00ff' || substr(data, 45) AS BLOB)", 100);
  const stored = new Database(derivedIn(dir), { readonly: true });
  const outlines = stored.prepare('SELECT typeof(data) AS type, length(data) AS length FROM outline').all() as { type: string; length: number }[];
  stored.close();
  const project = reopened(dir);
  const { rows } = outlineRows(project.chain, { id: ids[1] as ContextId });
  expect(rows.filter(({ head }) => head === 'banana text')).toHaveLength(100);
  expect(outlines.map(({ type }) => type)).toEqual(['blob', 'blob', 'blob']);
  for (const { length } of outlines) expect(length).toBeLessThan(JSON.stringify(rows).length / 4);
});

test('[T20] a row of the search index that was changed leads to no other commit', () => {
  const { dir, ids } = changed('UPDATE searchCommit SET context = 1 WHERE context = 3');
  // The index is made anew, because another program changed its file.
  expect(query(reopened(dir).chain, { text: 'cherry' }).hits.map(({ commit }) => commit)).toEqual([ids[2]]);
});

test('[T20] an index that leads to an entry without the words gives no hit', () => {
  const { dir } = changed("INSERT INTO searchWords (rowid, words) VALUES (1, 'durian')");
  expect(query(reopened(dir).chain, { text: 'durian' }).hits).toEqual([]);
});

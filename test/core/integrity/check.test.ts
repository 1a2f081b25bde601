import { copyFileSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { describe, expect, onTestFinished, test } from 'vitest';
import type { ContextId } from '../../../src/core/base/index.js';
import { checkpoint, materializedBytes, tips } from '../../../src/core/chain/index.js';
import { importPaths, listSources } from '../../../src/core/import/index.js';
import { atOnce, checkProject, openProject, type Project, repairProject } from '../../../src/core/project/index.js';
import { root } from '../../support/machine.js';
import { emptyProject, heldClock, scratch } from '../../support/project.js';

/** A project with the sample in it, imported from a copy that a test may take away. */
function sample({ packed = false } = {}): { project: Project; folder: string } {
  const project = emptyProject(() => Date.now());
  const folder = join(scratch(), 'sessions');
  mkdirSync(folder);
  for (const file of readdirSync(join(root, 'resources/sample'), { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.jsonl')))
    copyFileSync(join(root, 'resources/sample', file), join(folder, file.replaceAll('/', '_')));
  atOnce(importPaths(project.chain, { paths: [folder] }));
  if (packed) atOnce(project.chain.artifacts.repack());
  return { project, folder };
}

const check = (project: Project) => atOnce(checkProject(project));
const contexts = (project: Project): string[] =>
  tips(project.chain, {}).map(({ id }) => Buffer.from(materializedBytes(project.chain, { id, stop: 'root' }).bytes).toString('base64'));

function flipInPack(project: Project): void {
  const folder = join(project.dir, 'objects');
  const name = readdirSync(folder).find((file) => file.endsWith('.pack')) ?? '';
  const bytes = readFileSync(join(folder, name));
  bytes[bytes.length >> 1] = (bytes[bytes.length >> 1] ?? 0) ^ 1;
  writeFileSync(join(folder, name), bytes);
}

describe('a check', () => {
  test.each([false, true])('[S13] finds nothing in a sound project, packed: %s, and writes nothing', (packed) => {
    const { project } = sample({ packed });
    const before = project.db.one('SELECT (SELECT COUNT(*) FROM artifact) AS artifacts, (SELECT COUNT(*) FROM outline) AS outlines');
    const result = check(project);
    expect(result.problems).toEqual([]);
    expect(result.ok).toBe(true);
    expect(result.checked).toMatchObject({ sources: listSources(project.chain).length });
    expect(result.checked.commits).toBeGreaterThan(10);
    expect(project.db.one('SELECT (SELECT COUNT(*) FROM artifact) AS artifacts, (SELECT COUNT(*) FROM outline) AS outlines')).toEqual(before);
  });

  test('[S13] names the commit whose fields, place, counts or outline are not what they were', () => {
    const { project } = sample();
    const { id } = project.db.one<{ id: ContextId }>("SELECT id FROM commits WHERE parent IS NOT NULL AND type = 'delta' AND messageCount > 0") ?? {
      id: '',
    };
    const about = (kind: string, sql: string): void => {
      expect(() =>
        project.db.transaction(() => {
          project.db.run(sql, id);
          const { problems } = check(project);
          expect(problems.filter((problem) => problem.id === id).map((problem) => problem.kind)).toContain(kind);
          throw new Error('as it was');
        }),
      ).toThrow('as it was');
    };
    about('commit', 'UPDATE commits SET createdAt = createdAt + 1 WHERE id = ?');
    about('commit', "UPDATE commits SET template = 'other' WHERE id = ?");
    about('commit', 'UPDATE commits SET artifact = artifact - 1 WHERE id = ?');
    about('commit', 'UPDATE commits SET depth = depth + 1 WHERE id = ?');
    about('counts', 'UPDATE commits SET messageCount = messageCount + 1 WHERE id = ?');
    about('counts', 'UPDATE commits SET tokenCount = tokenCount + 1 WHERE id = ?');
    about(
      'outline',
      `UPDATE outline SET data = replace(data, '[[', '[["x",0,0,1,0,0,0,0],[') WHERE artifact = (SELECT artifact FROM commits WHERE id = ?)`,
    );
    expect(check(project).ok).toBe(true);
  });

  test('[S13] finds an index that is not that of its table, and repair makes it again', () => {
    const { project } = sample();
    project.close();
    // An index that was made over other columns than it says.
    const raw = new Database(join(project.dir, 'stemma.db'));
    raw.unsafeMode();
    raw.pragma('writable_schema = ON');
    raw.exec("UPDATE sqlite_schema SET sql = 'CREATE INDEX contextRun ON commits(depth, run)' WHERE name = 'contextRun'");
    raw.close();
    const again = openProject(project.dir, heldClock());
    onTestFinished(() => again.close());
    expect(check(again).problems).toContainEqual(expect.objectContaining({ kind: 'database' }));
    expect(atOnce(repairProject(again)).ok).toBe(true);
  });
});

describe('a repair', () => {
  test.each([false, true])('[S13] takes damaged objects from the imported files, packed: %s', (packed) => {
    const { project } = sample({ packed });
    const before = contexts(project);
    if (packed) flipInPack(project);
    else project.db.run('UPDATE artifact SET data = CAST(zeroblob(size) AS BLOB), pack = NULL, packStart = NULL WHERE no % 3 = 0');
    const found = check(project);
    expect(found.problems.map(({ kind }) => kind)).toContain('artifact');
    const result = atOnce(repairProject(project));
    expect(result.problems.filter(({ repaired }) => !repaired)).toEqual([]);
    expect(result.problems.filter(({ kind }) => kind === 'artifact').length).toBeGreaterThan(0);
    expect(result.ok).toBe(true);
    expect(contexts(project)).toEqual(before);
  });

  test('[S13] says exactly what is lost, sets it apart, and keeps the rest', () => {
    const { project, folder } = sample();
    rmSync(folder, { recursive: true });
    const victim = project.db.one<{ id: ContextId; artifact: number }>(
      "SELECT id, artifact FROM commits WHERE type = 'delta' ORDER BY seq LIMIT 1 OFFSET 4",
    );
    const sharing = project.db.all<{ id: string }>('SELECT id FROM commits WHERE artifact = ?', victim?.artifact ?? 0).map(({ id }) => id);
    project.db.run('UPDATE artifact SET data = CAST(zeroblob(size) AS BLOB) WHERE no = ?', victim?.artifact ?? 0);
    const result = atOnce(repairProject(project));
    expect(result.ok).toBe(false);
    const lost = result.problems.filter(({ kind }) => kind === 'artifact');
    expect(lost).toHaveLength(1);
    for (const id of sharing) expect(lost[0]?.message).toContain(id);
    expect(lost[0]?.message).toContain('.jsonl');
    expect(() => materializedBytes(project.chain, { id: victim?.id as ContextId })).toThrow(expect.objectContaining({ code: 'CORRUPT' }));
    // The same content again makes it whole.
    expect(result.problems.filter(({ kind }) => kind === 'commit')).toEqual([]);
  });

  test('[S13] a lost object is whole again when the same content is stored', () => {
    const project = emptyProject();
    const text = '{"type":"user","uuid":"u1","parentUuid":null,"message":{"role":"user","content":"hello"},"timestamp":"2026-01-01T00:00:00.000Z"}\n';
    const input = { parent: null, type: 'delta', format: 'claude-code-v1', text, template: 't', checkpoint: 'explicit' } as const;
    const { id } = checkpoint(project.chain, input);
    project.db.run("UPDATE artifact SET data = CAST('x' AS BLOB)");
    expect(atOnce(repairProject(project)).ok).toBe(false);
    expect(
      checkpoint(project.chain, { ...input, createdAt: project.chain.db.one<{ at: never }>("SELECT '2026-01-01T00:00:00.000Z' AS at")?.at }).id,
    ).toBe(id);
    expect(check(project).ok).toBe(true);
    expect(Buffer.from(materializedBytes(project.chain, { id }).bytes).toString()).toBe(text);
  });

  test('[S13] puts places and counts right', () => {
    const { project } = sample();
    const rows = (): unknown => project.db.all('SELECT id, depth, messageCount, contextTokens FROM commits ORDER BY seq');
    const before = rows();
    project.db.run('UPDATE commits SET depth = depth + 5, messageCount = messageCount + 1, contextTokens = 7 WHERE seq % 4 = 0');
    expect(check(project).ok).toBe(false);
    expect(atOnce(repairProject(project)).ok).toBe(true);
    expect(rows()).toEqual(before);
  });
});

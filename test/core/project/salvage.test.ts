import { copyFileSync, cpSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { describe, expect, onTestFinished, test } from 'vitest';
import { refOf } from '../../../src/core/artifacts/index.js';
import type { ContextId } from '../../../src/core/base/index.js';
import { addCard } from '../../../src/core/cards/index.js';
import { checkpoint, entries, history, materialize, materializedBytes, show, tips, update } from '../../../src/core/chain/index.js';
import { importPaths } from '../../../src/core/intake/index.js';
import { atOnce, checkProject, createProject, openProject, type Problem, type Project, repairProject } from '../../../src/core/project/index.js';
import { createTicket } from '../../../src/core/tickets/index.js';
import { prompt } from '../../support/claude-lines.js';
import { door } from '../../support/door.js';
import { root } from '../../support/machine.js';
import { heldClock, scratch } from '../../support/project.js';

const pageSize = 4096;
const reopened = (dir: string, options = {}): Project => {
  const project = openProject(dir, heldClock(), undefined, options);
  onTestFinished(() => project.close());
  return project;
};
const fileOf = (dir: string): string => join(dir, 'stemma.db');

/** A project in a file of its own, with nothing left in the log. */
function closed(fill: (project: Project) => void): string {
  const dir = join(scratch(), 'test.stemma');
  const project = createProject({ dir }, heldClock());
  fill(project);
  project.close();
  return dir;
}

/** Changes the bytes of the database at a text that stands in it once. */
function at(dir: string, text: string, change: (bytes: Buffer, place: number) => void): void {
  const bytes = readFileSync(fileOf(dir));
  const place = bytes.indexOf(text);
  expect([text, place]).not.toEqual([text, -1]);
  expect(bytes.indexOf(text, place + 1)).toBe(-1);
  change(bytes, place);
  writeFileSync(fileOf(dir), bytes);
}
/** What a lost sector leaves of a page. */
const spoil = (bytes: Buffer, place: number): void => void bytes.fill(0xa5, place - (place % pageSize), place - (place % pageSize) + pageSize);

const commit = (project: Project, parent: ContextId | null, text: string, more = {}): ContextId =>
  checkpoint(project.chain, { parent, type: 'delta', format: 'claude-code-v1', text, template: 't', checkpoint: 'explicit', ...more }).id;

/** Every row that is not made from others. */
function rowsOf(dir: string): unknown {
  const raw = new Database(fileOf(dir), { readonly: true });
  const tables = ['context', 'contextVersion', 'artifact', 'card', 'ticket', 'ticketVersion', 'pack', 'block'];
  const rows = tables.map((table) => raw.prepare(`SELECT * FROM ${table}`).all());
  raw.close();
  return rows;
}

/** Writes as a disk does: without the triggers that keep sums. */
function unsummed(db: Pick<Project['db'], 'transaction' | 'all' | 'run'>, sql: string, table = 'context'): void {
  db.transaction(() => {
    const triggers = db.all<{ name: string; sql: string }>("SELECT name, sql FROM sqlite_schema WHERE type = 'trigger' AND tbl_name = ?", table);
    for (const { name } of triggers) db.run(`DROP TRIGGER ${name}`);
    db.run(sql);
    for (const trigger of triggers) db.run(trigger.sql);
  });
}

describe('a byte that no statement changed', () => {
  const dir = (): string =>
    closed((project) => {
      const id = commit(project, null, prompt('u1', 'hello'), {
        summary: 'what the agent understood',
        principal: 'principal-of-it',
        tags: ['tag-of-it'],
      });
      update(project.chain, id, { summary: 'what it understood later' });
      addCard(project.chain, { cardId: 'card-1', type: 'note', content: { kind: 'text', text: 'words on a card' } } as never);
      createTicket(project.chain, { title: 'title of a ticket', type: 'task', contextId: id });
    });
  const told = (made: string): Problem[] => atOnce(checkProject(reopened(made))).problems;

  test('[S15] nothing is told of rows that were only ever changed by statements', () => {
    expect(told(dir())).toEqual([]);
  });

  test.each([
    ['a summary', 'what it understood later', /^ctx-/],
    ['a summary of before', 'what the agent understood', /^contextVersion /],
    ['a tag', 'tag-of-it', /^ctx-/],
    ['a card', 'words on a card', /^card-1$/],
    ['a title', 'title of a ticket', /^tkt-/],
  ])('[S15] %s: named by its row, and what it was again after a repair', (_, text, id) => {
    const made = dir();
    const whole = rowsOf(made);
    const bytes = readFileSync(fileOf(made));
    // Indexes and the search may hold the text once more: the row is what comes first that a check names.
    const places = [...bytes.toString('latin1').matchAll(new RegExp(text, 'g'))].map(({ index }) => index);
    for (const place of places) bytes.writeUInt8(bytes.readUInt8(place + 2) ^ 0xa5, place + 2);
    writeFileSync(fileOf(made), bytes);
    expect(told(made)).toContainEqual({ kind: 'row', id: expect.stringMatching(id), message: expect.stringContaining('not what was written') });
    const project = reopened(made);
    expect(atOnce(repairProject(project)).problems).toContainEqual(expect.objectContaining({ kind: 'row', repaired: true }));
    expect(atOnce(checkProject(project)).problems).toEqual([]);
    expect(rowsOf(made)).toEqual(whole);
  });

  test('[S15] text that is taken for bytes is another value, and text again after a repair', () => {
    const made = dir();
    const whole = rowsOf(made);
    const raw = new Database(fileOf(made));
    raw.exec('DROP TRIGGER contextSumUpdated; UPDATE context SET template = CAST(template AS BLOB) WHERE seq = 1');
    raw.close();
    expect(told(made)).toContainEqual(expect.objectContaining({ kind: 'row', id: expect.stringMatching(/^ctx-/) }));
    expect(atOnce(repairProject(reopened(made))).problems.every(({ repaired }) => repaired)).toBe(true);
    expect(rowsOf(made)).toEqual(whole);
  });

  test('[S15] what is made out of others is made again where it does not read', () => {
    const { chain, project } = door();
    const id = commit(project, null, prompt('u1', 'hello'));
    const whole = { entries: entries(chain, { id }), kept: materialize(chain, { id, format: 'narrative' }) };
    chain.db.run("UPDATE outline SET data = '[' || data");
    chain.db.run("UPDATE materialized SET losses = '[' || losses");
    expect(atOnce(checkProject(project)).problems).toContainEqual(expect.objectContaining({ kind: 'outline', id }));
    chain.outlines.clear();
    expect(entries(chain, { id })).toEqual(whole.entries);
    expect(materialize(chain, { id, format: 'narrative' })).toEqual(whole.kept);
    expect(atOnce(checkProject(project)).problems).toEqual([]);
  });

  test('[S15, C20] a kept result that is another’s is not taken for the commit’s own: it is made again', () => {
    const { chain, project } = door();
    const ids = ['hello', 'another thing'].map((words, n) => commit(project, null, prompt(`u${n}`, words)));
    const [own, other] = ids.map((id) => materialize(chain, { id, format: 'narrative' }));
    unsummed(project.db, 'UPDATE materialized SET artifact = (SELECT MAX(artifact) FROM materialized)', 'materialized');
    expect(atOnce(checkProject(project)).problems).toContainEqual(expect.objectContaining({ kind: 'row' }));
    expect(materialize(chain, { id: ids[0] as ContextId, format: 'narrative' })).toEqual({ ...own, cached: false });
    expect(materialize(chain, { id: ids[1] as ContextId, format: 'narrative' })).toEqual({ ...other, cached: true });
    expect(atOnce(checkProject(project)).problems).toEqual([]);
  });

  test.each([
    ['a date that is none', 'createdAt = 9e15'],
    ['a list that is no JSON', `tags = '["a"'`],
    ['a word that nobody knows', "type = 'dflta'"],
    ['bytes where there was text', "tags = x'ff00'"],
  ])('[S18] %s is refused by the name of its commit, whatever asks for it', async (_, change) => {
    const { client, project, chain } = door();
    const id = commit(project, null, prompt('u1', 'hello'), { tags: ['a'] });
    unsummed(chain.db, `UPDATE context SET ${change}`);
    const refusal = expect.objectContaining({ code: 'CORRUPT', data: expect.objectContaining({ id }) });
    await expect(client.context.show({ id })).rejects.toEqual(refusal);
    await expect(client.context.history({ id })).rejects.toEqual(refusal);
    expect((await client.project.check({})).problems).toContainEqual(expect.objectContaining({ kind: 'row', id }));
    // What is more than one byte away from what was written is lost by name, and nobody reads it as sound.
    const { problems } = await client.project.check({ repair: true });
    expect(problems.map((problem) => `${problem.id} ${problem.message}`).join()).toContain(id);
    await expect(client.context.history({ id })).resolves.toHaveLength(1);
  });
});

describe('a page of a table that cannot be read', () => {
  /** Sixty turns on one line and a branch of ten, each with a text by which its page is found. */
  function chain(): { dir: string; ids: ContextId[]; texts: Map<string, string> } {
    const ids: ContextId[] = [];
    const texts = new Map<string, string>();
    const dir = closed((project) => {
      for (let turn = 0; turn < 70; turn++) {
        const text = prompt(`u${turn}`, `${'some words of it '.repeat(30)} content-${turn}.`);
        const parent = turn === 60 ? ids[19] : ids.at(-1);
        ids.push(commit(project, parent ?? null, text, { summary: `summary-${turn}. ${'and why '.repeat(20)}`, principal: 'p' }));
        texts.set(ids.at(-1) as string, text);
      }
    });
    return { dir, ids, texts };
  }
  const textOf = (project: Project, id: ContextId): string =>
    Buffer.from(project.chain.artifacts.read(project.chain.artifacts.find(show(project.chain, id).artifactRef))).toString();
  const readable = (project: Project, id: ContextId): string | undefined => {
    try {
      return textOf(project, id);
    } catch (error) {
      expect((error as { code?: string }).code).toBe('CORRUPT');
      return undefined;
    }
  };

  test('[S13, S16] of commits: those that it held are named and keep their place, all others are whole', () => {
    const { dir, ids, texts } = chain();
    at(dir, 'summary-30.', spoil);
    const project = reopened(dir);
    expect(atOnce(checkProject(project)).problems.map(({ kind }) => kind)).toContain('database');
    const repaired = atOnce(repairProject(project));
    const said = repaired.problems.map(({ id, message }) => `${id} ${message}`).join('\n');
    const lost = ids.filter((id) => readable(project, id) !== texts.get(id));
    expect(lost.length).toBeGreaterThan(3);
    expect(lost.length).toBeLessThan(30);
    expect(lost).toContain(ids[30]);
    for (const id of lost) expect(said).toContain(id);
    for (const id of ids.filter((one) => !lost.includes(one))) expect(readable(project, id)).toBe(texts.get(id));
    // The chain is one still, in the order in which it was made.
    expect(history(project.chain, ids[59] as ContextId).map(({ id }) => id)).toEqual(ids.slice(0, 60).reverse());
    expect(history(project.chain, ids[69] as ContextId).map(({ id }) => id)).toEqual([...ids.slice(60).reverse(), ...ids.slice(0, 20).reverse()]);
    expect(() => materializedBytes(project.chain, { id: ids[59] as ContextId })).toThrow(expect.objectContaining({ code: 'CORRUPT' }));
    // What is left of it is a database that can be worked on, and the damaged one is there to look into.
    expect(project.db.integrity()).toEqual([]);
    expect(show(project.chain, commit(project, ids[69] as ContextId, prompt('new', 'goes on'))).parent).toBe(ids[69]);
    expect(readdirSync(dir)).toContain('stemma.db.damaged-1');
  });

  test.each(['context', 'line', 'artifact', 'artifactKey', 'sqlite_autoindex_project_1'].map((name) => [name]))(
    '[S16] none, where the schema has another place for %s than it is at: it is found again, and nothing is lost',
    (name) => {
      const { dir, ids, texts } = chain();
      for (const away of [1, 2, 4, 8, 16, 32, 64]) {
        const moved = join(scratch(), 'moved.stemma');
        cpSync(dir, moved, { recursive: true });
        const raw = new Database(fileOf(moved));
        raw.unsafeMode();
        raw.pragma('writable_schema = ON');
        const root = raw.prepare('SELECT rootpage FROM sqlite_schema WHERE name = ?').pluck().get(name) as number;
        raw.prepare('UPDATE sqlite_schema SET rootpage = ? WHERE name = ?').run(BigInt(root ^ away), name);
        raw.close();
        const project = reopened(moved, { repair: true });
        atOnce(repairProject(project));
        expect(ids.filter((id) => readable(project, id) !== texts.get(id))).toEqual([]);
        expect(atOnce(checkProject(project)).problems).toEqual([]);
      }
    },
  );

  test('[S16] none, where a byte of the schema’s own pages is another, wherever it stands: it is put back', () => {
    const { dir, ids, texts } = chain();
    const sound = readFileSync(fileOf(dir));
    const raw = new Database(fileOf(dir), { readonly: true });
    const pages = raw.prepare("SELECT pageno FROM dbstat WHERE name = 'sqlite_schema'").pluck().all() as number[];
    raw.close();
    // Kind, free blocks, count of cells, where they begin, pointers, and what stands at the end of the page.
    const inPage = (n: number): number => [n % 8, 8 + ((n * 5) % 24), 4_095 - n * 7][n % 3] as number;
    const places = pages.map((page, n) => (page - 1) * 4_096 + inPage(n) + (page === 1 ? 100 : 0));
    for (const [n, place] of places.entries()) {
      const moved = join(scratch(), 'schema.stemma');
      cpSync(dir, moved, { recursive: true });
      const bytes = Buffer.from(sound);
      bytes[place] = (bytes[place] ?? 0) ^ (1 << (n % 8));
      writeFileSync(fileOf(moved), bytes);
      const project = reopened(moved, { repair: true });
      atOnce(repairProject(project));
      expect([place, ids.filter((id) => readable(project, id) !== texts.get(id))]).toEqual([place, []]);
      expect(atOnce(checkProject(project)).problems).toEqual([]);
    }
  });

  test('[C1, S16] none, where a letter of a commit is another, wherever it stands: the commit has its name back', () => {
    const { dir, ids, texts } = chain();
    const id = ids[30] as ContextId;
    const sound = readFileSync(fileOf(dir));
    let places = 0;
    for (let place = sound.indexOf(id); place !== -1; place = sound.indexOf(id, place + 1)) {
      places += 1;
      const moved = join(scratch(), 'renamed.stemma');
      cpSync(dir, moved, { recursive: true });
      const bytes = Buffer.from(sound);
      bytes[place + 6] = (bytes[place + 6] ?? 0) ^ 1;
      writeFileSync(fileOf(moved), bytes);
      const project = reopened(moved, { repair: true });
      expect(atOnce(checkProject(project)).ok).toBe(false);
      atOnce(repairProject(project));
      expect(ids.filter((one) => readable(project, one) !== texts.get(one))).toEqual([]);
      expect(atOnce(checkProject(project)).problems).toEqual([]);
    }
    expect(places).toBeGreaterThan(1);
  });

  /** The page of a table in which a text stands, and where its cells begin. */
  function cellsAt(bytes: Buffer, text: string): { page: number; cells: number[] } {
    const place = bytes.indexOf(text);
    const page = place - (place % pageSize);
    return { page, cells: Array.from({ length: bytes.readUInt16BE(page + 3) }, (_, cell) => page + bytes.readUInt16BE(page + 8 + cell * 2)) };
  }

  test.each([
    ['is pointed to at the place of its neighbor', (bytes: Buffer, page: number): void => void bytes.copyWithin(page + 10, page + 8, page + 10)],
    [
      'has a number that is no more in order',
      (bytes: Buffer, _: number, cell: number): void => void bytes.writeUInt8(bytes.readUInt8(cell + 2) ^ 0x40, cell + 2),
    ],
    ['is as long as no page', (bytes: Buffer, _: number, cell: number): void => void bytes.writeUInt8(bytes.readUInt8(cell) ^ 0x40, cell)],
    [
      'has another kind of column than it had',
      (bytes: Buffer, _: number, cell: number): void => void bytes.writeUInt8(bytes.readUInt8(cell + 6) ^ 2, cell + 6),
    ],
  ])('[S16] but for one row, which %s: it is named, all others are whole', (_, change) => {
    const { dir, ids, texts } = chain();
    const bytes = readFileSync(fileOf(dir));
    const { page, cells } = cellsAt(bytes, 'summary-30.');
    change(bytes, page, cells[1] as number);
    writeFileSync(fileOf(dir), bytes);
    const project = reopened(dir, { repair: true });
    expect(atOnce(checkProject(project)).ok).toBe(false);
    const { problems } = atOnce(repairProject(project));
    const said = problems.map(({ id, message }) => `${id} ${message}`).join('\n');
    const lost = ids.filter((id) => readable(project, id) !== texts.get(id));
    expect(lost.length).toBeLessThanOrEqual(1);
    for (const id of lost) expect(said).toContain(id);
    expect(project.db.integrity()).toEqual([]);
  });

  test('[S16] but for no row, where an index names commits that there are none of: it is made again', () => {
    const { dir, ids, texts } = chain();
    const bytes = readFileSync(fileOf(dir));
    // The entry's number of the project is taken for text.
    const entry = bytes.indexOf(`${ids[30]}`);
    const places = [...bytes.toString('latin1').matchAll(new RegExp(ids[30] as string, 'g'))].map(({ index }) => index);
    expect(places).toHaveLength(2);
    for (const place of places) {
      const kind = bytes.readUInt8(place - (place % pageSize));
      if (kind === 10) bytes.writeUInt8(bytes.readUInt8(place - 2) ^ 0x08, place - 2);
    }
    expect(entry).toBeGreaterThan(0);
    writeFileSync(fileOf(dir), bytes);
    const project = reopened(dir, { repair: true });
    expect(atOnce(checkProject(project)).ok).toBe(false);
    atOnce(repairProject(project));
    expect(ids.filter((id) => readable(project, id) !== texts.get(id))).toEqual([]);
    expect(atOnce(checkProject(project)).problems).toEqual([]);
  });

  test.each(['pack', 'block'])('[S16] of nothing, where the row of a %s is lost: its place is found again by what proves in it', (table) => {
    const { dir, ids, texts } = chain();
    const packed = reopened(dir);
    atOnce(packed.chain.artifacts.repack());
    packed.close();
    const raw = new Database(fileOf(dir));
    raw.exec(`DROP TRIGGER ${table}SumUpdated; UPDATE ${table} SET rowSum = 1`);
    raw.close();
    const project = reopened(dir, { repair: true });
    expect(atOnce(checkProject(project)).ok).toBe(false);
    atOnce(repairProject(project));
    expect(project.db.one(`SELECT COUNT(*) AS count FROM ${table}`)).not.toEqual({ count: 0 });
    expect(ids.filter((id) => readable(project, id) !== texts.get(id))).toEqual([]);
    expect(atOnce(checkProject(project)).problems).toEqual([]);
  });

  test('[S13, S16] of contents: the commits on it are named, all others are whole', () => {
    const { dir, ids, texts } = chain();
    at(dir, 'content-30.', spoil);
    const project = reopened(dir);
    const { problems } = atOnce(repairProject(project));
    const lost = ids.filter((id) => readable(project, id) !== texts.get(id));
    expect(lost).toContain(ids[30]);
    expect(lost.length).toBeLessThan(20);
    const said = problems.map(({ id, message }) => `${id} ${message}`).join('\n');
    for (const id of lost) expect(said).toContain(id);
    // The same content again makes each whole.
    for (const id of lost) project.chain.artifacts.put(Buffer.from(texts.get(id) ?? ''), { contentType: 'application/jsonl' });
    expect(tips(project.chain, {})).toHaveLength(2);
  });

  test('[S13, S16] what imported files still hold comes back whole', () => {
    const folder = join(scratch(), 'sessions');
    mkdirSync(folder);
    for (const file of readdirSync(join(root, 'resources/sample'), { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.jsonl')))
      copyFileSync(join(root, 'resources/sample', file), join(folder, file.replaceAll('/', '_')));
    const whole = new Map<ContextId, string>();
    let hash: Buffer | undefined;
    const dir = closed((project) => {
      atOnce(importPaths(project.chain, { paths: [folder] }));
      for (const { id } of tips(project.chain, {})) whole.set(id, refOf(materializedBytes(project.chain, { id, stop: 'root' }).bytes));
      const middle = 'SELECT hash FROM artifact ORDER BY no LIMIT 1 OFFSET (SELECT COUNT(*) / 2 FROM artifact)';
      hash = project.db.one<{ hash: Buffer }>(middle)?.hash;
    });
    const bytes = readFileSync(fileOf(dir));
    const place = bytes.indexOf(hash ?? 'none');
    expect(place).toBeGreaterThan(pageSize);
    spoil(bytes, place);
    writeFileSync(fileOf(dir), bytes);
    const project = reopened(dir);
    const { problems } = atOnce(repairProject(project));
    expect(problems.some(({ kind, id }) => kind === 'database' && id === 'artifact')).toBe(true);
    for (const [id, ref] of whole) expect(refOf(materializedBytes(project.chain, { id, stop: 'root' }).bytes)).toBe(ref);
    // What a page held of recorded requests alone is in no file as it was stored: it is told, and no commit and no file needs it.
    for (const { kind, message } of atOnce(repairProject(project)).problems.filter(({ repaired }) => !repaired))
      expect([kind, message]).toEqual(['artifact', expect.stringContaining('nothing that a commit or an imported file names')]);
  });
});

describe('a database that cannot be opened', () => {
  const dir = (): { made: string; id: ContextId } => {
    let id: ContextId | undefined;
    const made = closed((project) => {
      id = commit(project, commit(project, null, prompt('u1', 'hello')), prompt('u2', 'again', { parent: 'u1' }));
    });
    return { made, id: id as ContextId };
  };

  test.each([
    ['its kind', 3],
    ['its page size', 16],
    ['its versions', 18],
    ['its schema format', 47],
    ['its encoding', 59],
    ['the version of the project', 63],
  ])('[S16] %s in the header: told, and put right by a repair with nothing lost', (_, place) => {
    const { made, id } = dir();
    const bytes = readFileSync(fileOf(made));
    bytes[place] = (bytes[place] ?? 0) ^ 0x40;
    writeFileSync(fileOf(made), bytes);
    const project = reopened(made, { repair: true });
    expect(history(project.chain, id)).toHaveLength(2);
    expect(atOnce(checkProject(project)).problems).toEqual([]);
  });

  test('[S16] as this project, because its id there is another: told, and put right with nothing lost', () => {
    const { made, id } = dir();
    const { projectId } = JSON.parse(readFileSync(join(made, 'project.json'), 'utf8')) as { projectId: string };
    const bytes = readFileSync(fileOf(made));
    for (let place = bytes.indexOf(projectId); place !== -1; place = bytes.indexOf(projectId, place + 1))
      bytes.writeUInt8(bytes.readUInt8(place + 3) ^ 1, place + 3);
    writeFileSync(fileOf(made), bytes);
    expect(() => reopened(made)).toThrow(expect.objectContaining({ code: 'CORRUPT', message: expect.stringContaining('--repair') }));
    const project = reopened(made, { repair: true });
    expect(history(project.chain, id)).toHaveLength(2);
    expect(atOnce(checkProject(project)).problems).toEqual([]);
  });

  test('[S16] without a schema nothing is made up: it is refused, and the file stays as it is', () => {
    const { made } = dir();
    const bytes = readFileSync(fileOf(made));
    bytes.fill(0xa5, 100, pageSize);
    writeFileSync(fileOf(made), bytes);
    expect(() => reopened(made, { repair: true })).toThrow(expect.objectContaining({ code: 'CORRUPT' }));
    expect(readFileSync(fileOf(made)).subarray(pageSize).equals(bytes.subarray(pageSize))).toBe(true);
  });
});

// Two versions of Stemma on one project, and a project of a newer version: each door says so in one sentence, and changes nothing.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { beforeAll, expect, onTestFinished, test } from 'vitest';
import { formatVersion } from '../../src/core/store/index.js';
import { ensureBuilt } from '../support/built.js';
import { type Machine, machine } from '../support/machine.js';

beforeAll(ensureBuilt, 300_000);

const sentence = `this project has format ${formatVersion + 1}, and this Stemma knows formats up to ${formatVersion}: open it with a newer Stemma`;

async function withProject(): Promise<{ own: Machine; dir: string; tip: string }> {
  const own = machine();
  onTestFinished(() => own[Symbol.asyncDispose]());
  const dir = own.path('work', 'work.stemma');
  expect((await own.ask('init', dir)).code).toBe(0);
  expect((await own.ask('import', own.giveHistory())).code).toBe(0);
  const [tip] = JSON.parse((await own.ask('call', 'context.tips')).out) as { id: string }[];
  return { own, dir, tip: tip?.id ?? '' };
}

/** What a newer Stemma leaves behind when it opens the project. */
function migrate(dir: string): void {
  const raw = new Database(join(dir, 'stemma.db'));
  raw.exec('CREATE TABLE ofNewer (a)');
  raw.pragma(`user_version = ${formatVersion + 1}`);
  raw.pragma('wal_checkpoint(TRUNCATE)');
  raw.close();
}

const contentOf = (dir: string): string => readFileSync(join(dir, 'stemma.db')).toString('base64');

test('[S8] each command refuses a project of a newer version in one sentence, unchanged', { tags: 'long' }, async () => {
  const { own, dir, tip } = await withProject();
  migrate(dir);
  const before = contentOf(dir);
  for (const words of [['log'], ['show', tip], ['import', own.claude], ['fork', tip], ['fsck'], ['fsck', '--repair'], ['backup', '--now']]) {
    const { code, out, err } = await own.run(...words, '--project', dir);
    expect({ words, code, out, err }).toEqual({ words, code: 1, out: '', err: expect.stringContaining(sentence) });
    expect(err.trim().split('\n')).toHaveLength(1);
  }
  const event = { hook_event_name: 'Stop', session_id: 's', transcript_path: join(own.claude, 'x.jsonl'), cwd: own.cwd };
  expect(await own.runWith(JSON.stringify(event), 'hook', '--project', dir)).toMatchObject({ code: 0, out: '' });
  expect(contentOf(dir)).toBe(before);
});

test('[S8] a host writes nothing more once a newer Stemma migrated its project', { tags: 'long' }, async () => {
  const { own, dir } = await withProject();
  const host = await own.web(dir);
  const headers = { authorization: `Bearer ${host.bearer}`, 'content-type': 'application/json', 'stemma-project': encodeURIComponent(dir) };
  const create = async () => {
    const answer = await fetch(`${host.origin}/api/ticket/create`, {
      method: 'POST',
      headers,
      body: JSON.stringify({ title: 'Mine', type: 'task' }),
    });
    return (await answer.json()) as Record<string, unknown>;
  };
  expect(await create()).toMatchObject({ ticketId: expect.any(String) });
  migrate(dir);
  expect(await create()).toMatchObject({ code: 'CONFLICT', message: expect.stringContaining(sentence) });
  const raw = new Database(join(dir, 'stemma.db'), { readonly: true });
  expect(raw.prepare('SELECT count(*) FROM ticket').pluck().get()).toBe(1);
  raw.close();
});

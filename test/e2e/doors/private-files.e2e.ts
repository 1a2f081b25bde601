import { chmodSync, mkdirSync, readdirSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '../../support/e2e.js';
import type { Machine } from '../../support/machine.js';
import { ask } from '../../support/raw-web.js';

/** Folders and files below a folder that others than the owner can open, with their modes. */
const openToOthers = (dir: string): string[] =>
  ['', ...readdirSync(dir, { recursive: true, encoding: 'utf8' })]
    .map((name) => ({ name, mode: statSync(join(dir, name), { throwIfNoEntry: false })?.mode ?? 0 }))
    .filter(({ mode }) => (mode & 0o077) !== 0)
    .map(({ name, mode }) => `${name} ${(mode & 0o777).toString(8)}`);

/** Runs a command in a process of its own, or as one of many in one process (`ask`): each sets the modes of its files before anything else. */
async function succeed(machine: Machine, how: 'run' | 'ask', ...words: string[]): Promise<string> {
  const { code, out, err } = await machine[how](...words);
  expect([words, code, err.slice(0, 1_000)]).toEqual([words, 0, expect.any(String)]);
  return out;
}

test.skip(process.platform === 'win32', 'Windows has no such modes');

test('[T33] everything that real use leaves behind is for its owner alone', { tag: '@long' }, async ({ machine }) => {
  const project = machine.path('work', 'p.stemma');
  const replica = machine.path('replica');
  mkdirSync(replica, { mode: 0o700 });
  const history = machine.giveHistory();
  await succeed(machine, 'run', 'init', project);
  await succeed(machine, 'run', 'import', history);
  const tips = JSON.parse(await succeed(machine, 'ask', 'call', 'context.tips')) as { id: string }[];
  const id = tips[0]?.id ?? '';
  const given = (input: object): string => {
    writeFileSync(machine.path('input.json'), JSON.stringify(input));
    return machine.path('input.json');
  };
  const call = (procedure: string, input: object): Promise<string> => succeed(machine, 'ask', 'call', procedure, '-i', `@${given(input)}`);
  await call('artifact.put', { text: 'x'.repeat(600_000), contentType: 'text/plain', policy: 'replicate' });
  await call('context.fork', { id, edits: [{ op: 'append', entry: { role: 'user', kind: 'text', text: 'more' } }] });
  await call('context.materialize', { id, stop: 'root' });
  await call('artifact.repack', {});
  await call('replica.set', { name: 'disk', place: { kind: 'folder', dir: replica } });
  await call('replica.replicate', {});
  await call('export.context', { id, format: 'html', path: machine.path('work', 'out.html') });
  await call('export.context', { id, format: 'claude-code-v1', path: machine.path('work', 'out.jsonl') });
  await call('capture.watch', { paths: [history], remember: true });
  await machine.runWith('{"hook_event_name": "Stop", "session_id": 1}', 'hook');
  const host = await machine.web();
  const headers = { authorization: `Bearer ${host.bearer}`, 'content-type': 'application/json', 'stemma-project': encodeURIComponent(project) };
  const reply = await ask(host.port, '/api/project/info', headers, 'POST', '{}');
  expect(reply.status).toBe(200);
  // While the engine runs, the database has its log and the index of that beside it.
  for (const place of [project, replica, machine.path('stemma')]) expect([place, openToOthers(place)]).toEqual([place, []]);
  for (const file of ['out.html', 'out.jsonl']) expect(statSync(machine.path('work', file)).mode & 0o777).toBe(0o600);
});

test('[T33] a project that others can read is made private when its owner opens it', { tag: '@long' }, async ({ machine }) => {
  const project = machine.path('work', 'p.stemma');
  await succeed(machine, 'ask', 'init', project);
  await succeed(machine, 'ask', 'import', machine.giveHistory());
  for (const name of readdirSync(project, { recursive: true, encoding: 'utf8' })) {
    const path = join(project, name);
    chmodSync(path, statSync(path).isDirectory() ? 0o755 : 0o644);
  }
  chmodSync(project, 0o755);
  expect(openToOthers(project).length).toBeGreaterThan(3);
  await succeed(machine, 'run', 'log');
  expect(openToOthers(project)).toEqual([]);
});

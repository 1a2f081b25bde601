// A transcript, a ticket, a file name or an argument that carries escape sequences takes over no terminal: every command prints it.
import { randomUUID } from 'node:crypto';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import type { Command } from 'commander';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { buildProgram, run } from '../../src/main/cli/program.js';
import { ensureBuilt } from '../support/built.js';
import { hostile, hostileCopy } from '../support/hostile.js';
import { some } from '../support/long.js';
import { type Machine, machine, root } from '../support/machine.js';
import { inTerminal } from '../support/pty.js';
import { openWriter } from '../support/request-records.js';

/** Ids in a project whose every field is hostile. */
interface Material {
  readonly machine: Machine;
  readonly dir: string;
  readonly history: string;
  readonly older: string;
  readonly tip: string;
  readonly fork: string;
  readonly key: string;
  readonly requests: readonly string[];
  readonly part: string;
  readonly source: string;
  readonly ticket: string;
  readonly finding: string;
  readonly event: string;
  readonly experiment: string;
  readonly job: string;
  readonly result: string;
  /** The address of a hub that answers with hostile text. */
  readonly hub: string;
}

interface Attack {
  readonly words: readonly string[];
  /** Press Ctrl+C when the terminal shows this. */
  readonly until?: string;
  /** A file for standard input. */
  readonly input?: string;
}

/** Why a command prints none of the hostile text. */
interface Silent extends Attack {
  readonly silent: string;
}

/** How to make each command of the program print hostile text. A command that is missing here fails the test. */
const attacks: Readonly<Record<string, (of: Material) => Attack | Silent>> = {
  init: ({ machine: { path } }) => ({ words: ['init', path(`made${hostile}`, 'p.stemma'), '--name', hostile] }),
  import: ({ history }) => ({ words: ['import', history] }),
  trust: ({ dir }) => ({ words: ['trust', dir] }),
  backup: () => ({ words: ['backup', '--now'], silent: 'it prints times and sizes' }),
  fsck: ({ dir }) => ({ words: ['fsck', '--project', `${dir}x`] }),
  library: () => ({ words: ['library'] }),
  log: () => ({ words: ['log'] }),
  show: ({ tip }) => ({ words: ['show', tip, '--all'] }),
  materialize: ({ tip }) => ({ words: ['materialize', tip, '--format', 'markdown'] }),
  fork: ({ tip, key }) => ({ words: ['fork', tip, '--at', key, '--summary', hostile, '--template', hostile, '--as', hostile] }),
  diff: ({ older, tip }) => ({ words: ['diff', older, tip] }),
  resume: ({ tip, machine: { cwd } }) => ({ words: ['resume', tip, '--cwd', cwd] }),
  // A new project each time: what is imported already is not captured again.
  capture: ({ history, machine: { path } }) => ({ words: ['capture', history, '--project', path(`${randomUUID()}.stemma`)], until: 'ctx-' }),
  run: () => ({ words: ['run', '--', `no-such-command${hostile}`] }),
  proxy: () => ({ words: ['proxy'], until: 'Ctrl+C' }),
  hook: ({ machine: { path } }) => ({ words: ['hook', '--install', '--yes', '--settings', path('settings.json')] }),
  'request list': () => ({ words: ['request', 'list'] }),
  'request show': ({ requests: [first = ''] }) => ({ words: ['request', 'show', first] }),
  'request diff': ({ requests: [first = '', second = ''] }) => ({ words: ['request', 'diff', first, second] }),
  'request prompts': ({ part }) => ({ words: ['request', 'prompts', part] }),
  usage: () => ({ words: ['usage', '--by', 'repo'] }),
  prices: () => ({ words: ['prices', '--set', hostile, '--input', '1', '--output', '1'] }),
  diagnose: () => ({ words: ['diagnose', hostile] }),
  'repair-session': () => ({ words: ['repair-session', hostile] }),
  sql: () => ({ words: ['sql', 'SELECT title, agent FROM sessions'] }),
  findings: () => ({ words: ['findings', '--rule', hostile] }),
  blame: () => ({ words: ['blame', hostile] }),
  evidence: ({ tip, machine: { path } }) => ({
    words: ['evidence', tip, '-o', path(`${randomUUID()}.evidence`)],
    silent: 'it prints sizes and a digest',
  }),
  verify: ({ machine: { path } }) => ({ words: ['verify', path(`no-such-file${hostile}`)] }),
  cache: () => ({ words: ['cache'] }),
  compaction: ({ tip }) => ({ words: ['compaction', tip] }),
  'source list': () => ({ words: ['source', 'list'] }),
  'source get': ({ source, machine: { cwd } }) => ({ words: ['source', 'get', source, '-o', join(cwd, 'again.jsonl')] }),
  export: ({ tip }) => ({ words: ['export', tip, '--to', 'markdown'] }),
  rerun: ({ tip }) => ({ words: ['rerun', tip] }),
  whatif: ({ fork }) => ({ words: ['whatif', fork, '--dry-run'] }),
  'experiment list': () => ({ words: ['experiment', 'list'] }),
  'experiment save': ({ tip, machine: m }) => ({ words: ['experiment', 'save', '--input', experimentFile(m, tip)], silent: 'it prints an id' }),
  'experiment run': ({ experiment }) => ({ words: ['experiment', 'run', experiment] }),
  'experiment judge': ({ result }) => ({ words: ['experiment', 'judge', result, 'pass', '--note', hostile] }),
  'experiment show': ({ experiment }) => ({ words: ['experiment', 'show', experiment] }),
  'job list': () => ({ words: ['job', 'list'] }),
  'job start': ({ fork }) => ({ words: ['job', 'start', '--commit', fork, '--provider', 'recorded'], silent: 'there is no recorded answer' }),
  'job received': () => ({ words: ['job', 'received'], silent: 'no other machine sent work' }),
  'job allow': () => ({ words: ['job', 'allow', hostile] }),
  'job log': ({ job }) => ({ words: ['job', 'log', job] }),
  'job stop': ({ job }) => ({ words: ['job', 'stop', job] }),
  'ticket list': () => ({ words: ['ticket', 'list'] }),
  'ticket show': ({ ticket }) => ({ words: ['ticket', 'show', ticket] }),
  'ticket create': () => ({ words: ['ticket', 'create', hostile, '--body', hostile, '--label', hostile, '--assignee', hostile, '--by', hostile] }),
  'ticket update': ({ ticket }) => ({ words: ['ticket', 'update', ticket, '--title', hostile, '--reason', hostile] }),
  // Before the move, which ends the review.
  'ticket verdict': ({ ticket }) => ({ words: ['ticket', 'verdict', ticket, hostile, 'approved'] }),
  'ticket move': ({ ticket }) => ({ words: ['ticket', 'move', ticket, 'in_progress', '--assignee', hostile] }),
  'ticket discuss': ({ ticket }) => ({ words: ['ticket', 'discuss', ticket, hostile, '--by', hostile], silent: 'it prints ids' }),
  'ticket answer': ({ finding }) => ({ words: ['ticket', 'answer', finding] }),
  'ticket import': ({ machine: { path } }) => ({ words: ['ticket', 'import', path('tasks.md')], silent: 'it prints ids' }),
  'ticket start': ({ ticket }) => ({ words: ['ticket', 'start', ticket, hostile], silent: 'it prints ids' }),
  'ticket events': () => ({ words: ['ticket', 'events'] }),
  'ticket acknowledge': ({ event }) => ({ words: ['ticket', 'acknowledge', event, 'taken', '--by', hostile] }),
  hub: ({ machine: { path } }) => ({
    words: ['hub', '--data', path('hub'), '--database', 'postgres://127.0.0.1:9/none'],
    silent: 'it prints its own address',
  }),
  // A hub's answer reaches the terminal in the reason of a refusal.
  clone: ({ machine: { path }, hub }) => ({ words: ['clone', `${hub}/hostile`, path(`${randomUUID()}.stemma`), '--token', 'stm_any'] }),
  push: ({ hub }) => ({ words: ['push', '--hub', `${hub}/hostile`, '--token', 'stm_any'] }),
  pull: ({ hub }) => ({ words: ['pull', '--hub', `${hub}/hostile`, '--token', 'stm_any'] }),
  facts: ({ machine: { path }, hub }) => ({
    words: ['facts', `${hub}/hostile`, '--to', path('facts'), '--data', path(randomUUID()), '--token', 'stm_any'],
  }),
  status: ({ hub }) => ({ words: ['status', '--hub', `${hub}/hostile`, '--token', 'stm_any'] }),
  login: ({ hub }) => ({ words: ['login', hub], silent: 'it takes nothing over from a hub without an issuer' }),
  logout: ({ hub }) => ({ words: ['logout', hub], silent: 'it prints the given address' }),
  call: ({ tip }) => ({ words: ['call', 'context.show', '--input', JSON.stringify({ id: tip })] }),
  otlp: () => ({ words: ['otlp'], until: 'OTEL_', silent: 'it prints its own address' }),
  serve: () => ({ words: ['serve'], until: 'Ctrl+C' }),
  mcp: ({ machine: { path } }) => ({ words: ['mcp'], input: path('empty'), silent: 'it prints the protocol of a program' }),
  web: () => ({ words: ['web', '--no-open'], until: 'token=', silent: 'it prints its own address' }),
};

/** Commands that run in a real terminal. Others run in this process with a standard output that says it is one, which takes no start. */
const alwaysInTerminal = [
  ...['show', 'import', 'request list', 'ticket show', 'run', 'hook', 'experiment run'],
  // These start an engine of their own, which only the built program can.
  ...['rerun', 'whatif', 'ticket answer', 'ticket events', 'sql', 'findings'],
];

/** The names of all commands that do something: `ticket list`. */
const leaves = (command: Command, path: readonly string[] = []): { name: string; command: Command }[] =>
  command.commands.length > 0 ? command.commands.flatMap((each) => leaves(each, [...path, each.name()])) : [{ name: path.join(' '), command }];

const commands = leaves(buildProgram());
const jsonCommands = commands.filter(({ command }) => command.options.some(({ long }) => long === '--json')).map(({ name }) => name);

/** Runs a command in this process, where a start costs nothing, and collects what it writes, as to a terminal if asked. */
async function inProcess(words: readonly string[], terminal = false): Promise<{ readonly text: string }> {
  let text = '';
  const collect = (part: string | Uint8Array): boolean => {
    text += typeof part === 'string' ? part : Buffer.from(part).toString('utf8');
    return true;
  };
  const cwd = process.cwd();
  const writes = [process.stdout, process.stderr].map((stream) => vi.spyOn(stream, 'write').mockImplementation(collect));
  const { isTTY, hasColors } = process.stdout;
  Object.assign(process.stdout, { isTTY: terminal, hasColors: () => terminal });
  process.chdir(material.machine.cwd);
  for (const name of ['STEMMA_HOME', 'HOME']) vi.stubEnv(name, material.machine.env[name]);
  try {
    await run(['node', 'stemma', ...words]);
  } finally {
    Object.assign(process.stdout, { isTTY, hasColors });
    process.chdir(cwd);
    vi.unstubAllEnvs();
    for (const write of writes) write.mockRestore();
    process.exitCode = 0;
  }
  return { text };
}

/** The escape sequences of the printer's styles; in front of `owned` it is a transcript's. */
const styles = new RegExp(`${'\u001b'}\\[(?:[012]|3[12356])(?:;(?:[012]|3[12356]))*m(?!owned)`, 'g');

/** Control characters in what a terminal was sent, except for line breaks, the styles of the printer, and its line of progress. */
function controlsIn(text: string): string[] {
  const rest = text.replaceAll('\r\n', '\n').replaceAll('\r\u001b[K', '').replaceAll(styles, '');
  return [...rest.matchAll(/[\p{Cc}\p{Bidi_Control}\p{Zl}\p{Zp}]/gu)]
    .filter(([character]) => character !== '\n' && character !== '\t')
    .map(({ index }) => JSON.stringify(rest.slice(Math.max(0, index - 40), index + 20)));
}

const seenIn = (text: string) => ({ controls: controlsIn(text), text: text.includes('owned') });

let material: Material;

beforeAll(async () => {
  await ensureBuilt();
  material = await hostileProject(machine());
});
afterAll(() => material?.machine[Symbol.asyncDispose]());

describe('a terminal', () => {
  test('[T51] every command has an attack', () => {
    expect(commands.map(({ name }) => name).sort()).toEqual(Object.keys(attacks).sort());
  });

  test.each(some(Object.keys(attacks), 8))('[T51] gets no control character from `stemma %s`', async (name) => {
    const attack = attacks[name]?.(material) as Attack | Silent;
    const needsTerminal = alwaysInTerminal.includes(name) || attack.until !== undefined || attack.input !== undefined;
    const { text } = needsTerminal ? await inTerminal(material.machine, attack.words, attack) : await inProcess(attack.words, true);
    expect(controlsIn(text)).toEqual([]);
    if (!('silent' in attack)) expect(text).toMatch(/␛|\\u001b/);
  });

  test.each(some(jsonCommands, 8))('[T51] gets no control character from `stemma %s --json`', async (name) => {
    const attack = attacks[name]?.(material) as Attack;
    const words = [...attack.words, '--json'];
    const { text } = attack.until === undefined ? await inProcess(words) : await inTerminal(material.machine, words, attack);
    expect(controlsIn(text)).toEqual([]);
  });

  test.each(
    some(
      commands.map(({ name }) => name),
      15,
    ),
  )('[T51] gets no control character from the errors of `stemma %s`', async (name) => {
    // Commander names a missing option before an unknown one.
    const mandatory = commands.find((each) => each.name === name)?.command.options.filter((option) => option.mandatory) ?? [];
    const { text } = await inProcess([...name.split(' '), ...mandatory.flatMap(({ long }) => [long ?? '', 'x']), `--${hostile}`]);
    expect(controlsIn(text)).toEqual([]);
    expect(text).toContain('␛');
  });

  test('[T51] shows no control character of an unknown command, procedure or file', { tags: 'long' }, async () => {
    const wrong = [
      [hostile],
      ['call', hostile],
      ['import', `/no/${hostile}`],
      ['log', '--limit', hostile],
      ['call', 'context.show', '--input', `@${hostile}`],
    ];
    for (const words of wrong) {
      const { code, text } = await inTerminal(material.machine, words);
      expect(code === 0).toBe(words[0] === 'import');
      expect(controlsIn(text)).toEqual([]);
      expect(text).toMatch(/␛|\\u001b/);
    }
  });

  test('[T51] gets no control character from an export, whatever its format', { tags: 'long' }, async () => {
    const { machine: own, tip } = material;
    const formats = JSON.parse((await own.ask('call', 'export.formats', '--input', JSON.stringify({ id: tip }))).out) as { format: string }[];
    expect(formats.length).toBeGreaterThan(5);
    // The text of an archive is compressed.
    for (const { format } of formats)
      for (const words of [
        ['export', tip, '--to', format],
        ['export', tip, '--to', format, '--redact'],
      ])
        expect({ words, ...seenIn((await inProcess(words, true)).text) }).toEqual({ words, controls: [], text: format !== 'inspect-eval-v1' });
  });

  test('[T52] gets exact bytes only where --raw asks for them; a pipe and a file get them always', { tags: 'long' }, async () => {
    const { machine: own, tip, source, history } = material;
    const escaped = await inTerminal(own, ['materialize', tip, '--format', 'markdown']);
    const raw = await inTerminal(own, ['materialize', tip, '--format', 'markdown', '--raw']);
    const piped = await own.run('materialize', tip, '--format', 'markdown');
    expect(controlsIn(escaped.text)).toEqual([]);
    expect(raw.text).toContain(hostile);
    expect(piped.out).toContain(hostile);
    const file = own.path('exact.jsonl');
    const sources = JSON.parse((await own.run('source', 'list', '--json')).out) as { sourceId: string; path: string }[];
    expect((await own.run('source', 'get', source, '-o', file)).code).toBe(0);
    const original = sources.find(({ sourceId }) => sourceId === source)?.path ?? '';
    expect(original.startsWith(history)).toBe(true);
    expect(readFileSync(file)).toEqual(readFileSync(original));
  });

  test('[T53] a JSON document means the same with its control characters escaped', { tags: 'long' }, async () => {
    const { machine: own, tip } = material;
    const { out } = await own.run('show', tip, '--all', '--json');
    expect(controlsIn(out)).toEqual([]);
    const { entries } = JSON.parse(out) as { entries: { text?: string }[] };
    expect(entries.some(({ text }) => text?.endsWith(hostile))).toBe(true);
  });
});

/** Makes a project whose name, folder, histories, tickets and experiments are hostile, and finds the ids in it. */
async function hostileProject(own: Machine): Promise<Material> {
  own.cwd = own.path(`work${hostile}`);
  mkdirSync(own.cwd);
  const dir = join(own.cwd, `p${hostile}.stemma`);
  const history = join(own.cwd, 'history');
  hostileCopy(join(root, 'resources', 'sample', 'larder'), history);
  writeFileSync(join(history, `recorded${hostile}.jsonl`), `${recordedCalls()}{"type":"user${hostile}\n`);
  writeFileSync(own.path('settings.json'), JSON.stringify({ theme: `dark${hostile}` }).replaceAll('\\u001b', '\\u001b'));
  writeFileSync(own.path('empty'), '');
  writeFileSync(own.path('tasks.md'), `- [ ] ${hostile.replaceAll(/[\r\n\u2028]/g, '')} task\n`);

  const json = async <T>(...words: string[]): Promise<T> => {
    const ran = await own.ask(...words);
    expect(ran.code, ran.err).toBe(0);
    return JSON.parse(ran.out) as T;
  };
  await json('init', dir, '--name', `p${hostile}`, '--json');
  await json('import', history, '--json');
  const { rows } = await json<{ rows: { commit: { id: string; parent: string | null; checkpoint: string } }[] }>('log', '--json');
  const tip = rows.find(({ commit }) => commit.parent !== null && commit.checkpoint === 'turn_boundary')?.commit;
  if (!tip?.parent) throw new Error('the history has no turn after another');
  const { entries } = await json<{ entries: { key: string }[] }>('show', tip.id, '--all', '--json');
  const key = entries.at(-2)?.key ?? '';
  const edits = JSON.stringify([{ op: 'append', entry: { role: 'user', kind: 'text', text: hostile } }]);
  const [first] = (await json<{ id: string }[]>('log', tip.id, '--json')).toReversed();
  const fork = await json<{ id: string }>('fork', first?.id ?? '', '--edits', edits, '--summary', hostile, '--json');
  const { requests } = await json<{ requests: { requestId: string; sessionId?: string }[] }>('request', 'list', '--json');
  const [part] = await json<{ partId: string }[]>('request', 'prompts', '--json');
  const [source] = await json<{ sourceId: string }[]>('source', 'list', '--json');
  const ticket = await json<{ ticketId: string }>('ticket', 'create', hostile, '--body', hostile, '--by', hostile, '--context', tip.id, '--json');
  await json('ticket', 'move', ticket.ticketId, 'review', '--reviewer', hostile, '--by', hostile, '--json');
  const about = ['--type', 'review_finding', '--parent', ticket.ticketId, '--by', hostile, '--context', tip.parent, '--json'];
  const finding = await json<{ ticketId: string }>('ticket', 'create', hostile, ...about);
  // The question that came next in the history, so that the recorded answer is the model's.
  const added = await json<{ entries: { role: string; text?: string }[] }>('show', tip.id, '--json');
  const question = added.entries.find(({ role }) => role === 'user')?.text ?? '';
  await json('ticket', 'discuss', finding.ticketId, question, '--by', '@asker', '--json');
  const other = await json<{ ticketId: string }>('ticket', 'create', hostile, '--json');
  await json('ticket', 'move', other.ticketId, 'review', '--reviewer', hostile, '--json');
  const [event] = await json<{ event: number }[]>('ticket', 'events', '--ticket', other.ticketId, '--json');
  const experiment = await json<{ experimentId: string }>('experiment', 'save', '--input', experimentFile(own, tip.id), '--json');
  const { results } = await json<{ results: { resultId: string }[] }>('experiment', 'run', experiment.experimentId, '--json');
  const started = await own.ask('job', 'start', '--commit', fork.id, '--provider', 'recorded', '--model', hostile, '--json');
  const { jobId: job } = JSON.parse(started.out) as { jobId: string };
  return {
    job,
    hub: await hostileHub(),
    ...{ machine: own, dir, history, key, tip: tip.id, older: tip.parent, fork: fork.id, part: part?.partId ?? '', source: source?.sourceId ?? '' },
    requests: requests.map(({ requestId }) => requestId),
    ...{ ticket: ticket.ticketId, finding: finding.ticketId, event: String(event?.event) },
    ...{ experiment: experiment.experimentId, result: results[0]?.resultId ?? '' },
  };
}

/** A hub that refuses every call in hostile words. */
async function hostileHub(): Promise<string> {
  const body = JSON.stringify({ json: { defined: false, code: 'UNAUTHORIZED', status: 401, message: hostile, data: {} }, meta: [] });
  const server = createServer((_, response) => void response.writeHead(401, { 'content-type': 'application/json' }).end(body));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  server.unref();
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

function experimentFile(own: Machine, turnId: string): string {
  const path = own.path('experiment.json');
  writeFileSync(path, JSON.stringify({ title: hostile, cases: [{ title: hostile, turnId, provider: 'recorded' }] }));
  return `@${path}`;
}

/** A session with records of two model calls whose prompts and tools are hostile. */
function recordedCalls(): string {
  const writer = openWriter('11111111-1111-4111-8111-111111111111');
  const shape = (word: string) => ({
    system: [{ type: 'text', text: word + hostile }],
    tools: [{ name: `tool${hostile}`, description: hostile, input_schema: { type: 'object', properties: { [word + hostile]: { type: 'string' } } } }],
  });
  const first = { role: 'user', content: `first${hostile}` };
  writer.prompt(`first${hostile}`);
  writer.send(shape('one'), [first]);
  const reply = writer.reply([{ type: 'text', text: `reply${hostile}` }]);
  writer.prompt(`second${hostile}`);
  writer.send(shape('two'), [first, reply, { role: 'user', content: `second${hostile}` }]);
  writer.reply([{ type: 'text', text: `again${hostile}` }]);
  return writer.text();
}

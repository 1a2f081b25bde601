import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { WriteChain } from '../../../../src/core/chain/index.js';
import { getSource, listSources } from '../../../../src/core/import/index.js';
import { getRequest, listRequests } from '../../../../src/core/requests/index.js';
import { importInto } from '../../../support/imports.js';
import { emptyChain, scratch } from '../../../support/project.js';
import { runs } from '../../../support/properties.js';
import { type Block, hashOf, type Mark, type Message, openWriter, type Sent, type Shape, type Writer } from '../../../support/request-records.js';

const user = (text: string): Message => ({ role: 'user', content: [{ type: 'text', text }] });
const text = (words: string): Block => ({ type: 'text', text: words });
const shape = (name: string): Shape => ({
  system: [text(`You are ${name}.`)],
  tools: [{ name: 'Bash', description: 'Runs', input_schema: { type: 'object', properties: { command: { type: 'string' } } } }],
});
const ephemeral = { type: 'ephemeral' } as const;
const markLast = (messages: readonly Message[]): Mark[] => [
  { path: ['system', 0], value: ephemeral },
  { path: ['messages', messages.length - 1, 'content', 0], value: ephemeral },
];

/** Writes the files, imports them, and returns the project's chain. */
function imported(files: Readonly<Record<string, string | Buffer>>, chain = emptyChain(), folder = scratch()): { chain: WriteChain; folder: string } {
  for (const [name, content] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), content);
  }
  importInto(chain, folder);
  return { chain, folder };
}

/** A session of three answered calls. */
function threeCalls(session = 's1'): Writer {
  const writer = openWriter(session);
  const messages: Message[] = [];
  for (const question of ['one', 'two', 'three']) {
    writer.prompt(question);
    messages.push(user(`${question} of ${session}`));
    writer.send(shape('a tester'), [...messages], { marks: markLast(messages) });
    messages.push(writer.reply([text(`answer to ${question} of ${session}`)]));
  }
  return writer;
}

const verdicts = (chain: WriteChain): [string, string, string | undefined][] =>
  listRequests(chain, {}).map(({ requestId, proof, problem }) => [requestId, proof, problem]);

function expectSent(chain: WriteChain, sent: readonly Sent[]): void {
  const listed = listRequests(chain, {});
  expect(listed.map(({ requestId }) => requestId).sort()).toEqual(sent.map(({ id }) => id).sort());
  for (const { id, body, digest, messages, answered, agentId, sessionId } of sent) {
    const row = listed.find(({ requestId }) => requestId === id);
    expect(row).toMatchObject({ proof: 'digest', messageCount: messages.length, sessionId, ...(agentId !== undefined && { agentId }) });
    expect(row?.problem).toBeUndefined();
    expect(row?.replyKey === null).toBe(!answered);
    const got = getRequest(chain, id);
    expect(got).toMatchObject({ proof: 'digest', digest, recordedDigest: digest });
    expect(got.body).toEqual(body);
    expect(JSON.stringify(got.body.messages)).toBe(JSON.stringify(body.messages));
  }
}

describe('recorded calls', () => {
  test('[R3] calls of a session are listed in the order sent and proved', () => {
    const writer = threeCalls();
    const { chain } = imported({ 's1.jsonl': writer.text() });
    expect(verdicts(chain)).toEqual(writer.sent.map(({ id }) => [id, 'digest', undefined]));
    expectSent(chain, writer.sent);
    expect(listRequests(chain, {})[0]).toMatchObject({ model: 'claude-test', tokens: { input: 3, output: 5, cacheRead: 7, cacheWrite: 11 } });
  });

  test('[R1] a call belongs to the commit that holds its reply', () => {
    const writer = threeCalls();
    const { chain } = imported({ 's1.jsonl': writer.text() });
    const rows = listRequests(chain, { sessionId: 's1' });
    expect(new Set(rows.map((row) => row.commit)).size).toBe(3);
    for (const row of rows) expect(listRequests(chain, { id: row.commit as never }).map((each) => each.requestId)).toEqual([row.requestId]);
    expect(listRequests(chain, { id: rows[2]?.commit as never, stop: 'root' })).toHaveLength(3);
    expect(listRequests(chain, { sessionId: 'another' })).toEqual([]);
  });

  test('importing again adds nothing, and a grown file adds new calls and late replies', () => {
    const writer = threeCalls();
    const whole = writer.text();
    const lastCall = whole.lastIndexOf('{"type":"api-request",');
    const afterCall = whole.indexOf('\n', lastCall) + 1;
    const { chain, folder } = imported({ 's1.jsonl': whole.slice(0, afterCall) });
    expect(listRequests(chain, {}).map((row) => row.replyKey === null)).toEqual([false, false, true]);
    imported({ 's1.jsonl': whole }, chain, folder);
    expectSent(chain, writer.sent);
    imported({ 's1.jsonl': whole }, chain, folder);
    expect(listRequests(chain, {})).toHaveLength(3);
  });

  test('messages that sessions share are stored once, and each file comes back byte for byte', () => {
    const shared = 'x'.repeat(40_000);
    const files: Record<string, string> = {};
    for (const session of ['s1', 's2', 's3']) {
      const writer = openWriter(session);
      writer.prompt('go');
      writer.send(shape('a tester'), [user(shared)]);
      writer.reply([text('done')]);
      files[`${session}.jsonl`] = writer.text();
    }
    const { chain, folder } = imported(files);
    const stored = chain.db.one<{ bytes: number }>("SELECT SUM(size) AS bytes FROM artifact WHERE contentType = 'application/x-stemma-messages'");
    expect(stored?.bytes).toBeLessThan(2 * shared.length);
    const pieces = chain.db.one<{ bytes: number }>('SELECT SUM(size) AS bytes FROM artifact');
    expect(pieces?.bytes).toBeLessThan(2 * shared.length);
    for (const source of listSources(chain)) {
      const back = join(scratch(), 'back.jsonl');
      getSource(chain, source.sourceId, back);
      expect(getSource(chain, source.sourceId).hash).toBe(source.hash);
    }
    rmSync(folder, { recursive: true });
  });

  test('a message that one session sent as a string and another as a block stays as each sent it', () => {
    const files: Record<string, string> = {};
    const sent: Sent[] = [];
    for (const [session, message] of [
      ['s1', user('the same')],
      ['s2', { role: 'user', content: 'the same' }],
    ] as const) {
      const writer = openWriter(session);
      writer.prompt('go');
      sent.push(writer.send(shape('a tester'), [message]));
      writer.reply([text('done')]);
      files[`${session}.jsonl`] = writer.text();
    }
    expectSent(imported(files).chain, sent);
  });

  test('a call that names withheld keys is proved without them, and says what is missing', () => {
    const writer = threeCalls();
    const lines = writer.lines.map((line) => line.replace('"cacheControl":', '"withheld":["top_k"],"cacheControl":'));
    const { chain } = imported({ 's1.jsonl': `${lines.join('\n')}\n` });
    const got = getRequest(chain, writer.sent[0]?.id ?? '');
    expect(got.proof).toBe('digest');
    expect(got.missing).toContain('top_k');
  });

  test('a call recorded without account memory is held against the digest of what is left', () => {
    const writer = threeCalls();
    const lines = writer.lines.map((line) => line.replace('"requestDigest":', '"cut":[{"path":["system",1]}],"cutRequestDigest":'));
    const { chain } = imported({ 's1.jsonl': `${lines.join('\n')}\n` });
    const got = getRequest(chain, writer.sent[0]?.id ?? '');
    expect(got).toMatchObject({ proof: 'digest', recordedDigest: writer.sent[0]?.digest });
    expect(got.missing).toContain('account memory');
  });

  test('records with spaces between their tokens say the same', () => {
    const writer = threeCalls();
    const lines = writer.lines.map((line) =>
      line.includes('"api-request') ? JSON.stringify(JSON.parse(line), null, 1).replaceAll('\n', ' ') : line,
    );
    const { chain } = imported({ 's1.jsonl': `${lines.join('\n')}\n` });
    expectSent(chain, writer.sent);
  });

  test('[R3] the first mark-free words of a paused reply belong to both halves of its call', () => {
    const writer = threeCalls();
    const [, second, third] = writer.sent;
    const [replyMessage] = /msg_[^"]+/.exec(writer.lines.filter((line) => line.includes('"assistant"')).at(-1) ?? '') ?? [];
    const lines = writer.lines.filter((line) => !(line.includes('"assistant"') && line.includes('answer to two')));
    lines.push(
      JSON.stringify({
        type: 'api-request-resumed',
        sessionId: 's1',
        messageId: replyMessage,
        pausedRequestId: second?.id,
        resumedRequestId: third?.id,
      }),
    );
    const { chain } = imported({ 's1.jsonl': `${lines.join('\n')}\n` });
    const rows = listRequests(chain, {});
    expect(rows[1]?.replyKey).toBe(rows[2]?.replyKey);
    expect(rows[1]?.replyKey).not.toBeNull();
  });
});

describe('bad input: the call is listed as not verified, with a reason', () => {
  /** Changes one line of the first session and compares the proofs of both sessions with the expected ones. */
  function verdictsAfter(change: (line: string, record: Record<string, unknown>) => string | string[]): {
    problems: (string | undefined)[];
    ids: string[];
  } {
    const writer = threeCalls('s1');
    const other = threeCalls('s2');
    const lines = writer.lines.flatMap((line) => change(line, JSON.parse(line) as Record<string, unknown>));
    const { chain } = imported({ 's1.jsonl': `${lines.join('\n')}\n`, 's2.jsonl': other.text() });
    const listed = listRequests(chain, {});
    expect(listed.filter((row) => row.sessionId === 's2').map((row) => row.proof)).toEqual(['digest', 'digest', 'digest']);
    const own = listed.filter((row) => row.sessionId === 's1');
    expect(own).toHaveLength(3);
    for (const row of own) {
      expect(row.proof === 'digest').toBe(row.problem === undefined);
      const got = getRequest(chain, row.requestId);
      expect([got.proof, got.problem]).toEqual([row.proof, row.problem]);
    }
    for (const source of listSources(chain)) expect(getSource(chain, source.sourceId).bytes).toBe(source.bytes);
    return { problems: own.map((row) => row.problem), ids: writer.sent.map(({ id }) => id) };
  }
  const isCall = (record: Record<string, unknown>, n: number): boolean =>
    record.type === 'api-request' && (record.tail as string[]).length + (record.keep as number) === 2 * n - 1;
  const edited = (record: Record<string, unknown>, edit: Record<string, unknown>): string => JSON.stringify({ ...record, ...edit });

  test('a base that is recorded nowhere; what builds on the call shares its fate', () => {
    const { problems } = verdictsAfter((line, record) => (isCall(record, 2) ? edited(record, { base: 'nobody' }) : line));
    expect(problems).toEqual([
      undefined,
      expect.stringMatching(/base nobody is recorded nowhere/),
      expect.stringMatching(/cannot be put together: its base nobody/),
    ]);
  });

  test('a cycle of bases', () => {
    let second = '';
    let third = '';
    const { problems } = verdictsAfter((line, record) => {
      if (isCall(record, 2)) second = record.id as string;
      third = `00000000-0000-4000-8000-${String(Number(second.slice(-12)) + 1).padStart(12, '0')}`;
      return isCall(record, 2) ? edited(record, { base: record.id }) : line;
    });
    expect(third).not.toBe('');
    expect(problems).toEqual([undefined, expect.stringMatching(/is recorded only after it/), expect.stringMatching(/cannot be put together/)]);
  });

  test('more messages kept than the base has', () => {
    const { problems } = verdictsAfter((line, record) => (isCall(record, 3) ? edited(record, { keep: 1_000_000_000 }) : line));
    expect(problems).toEqual([undefined, undefined, expect.stringMatching(/keeps 1000000000 messages of its base .*, which has 3/)]);
  });

  test.each([[-1], ['1'], [1.5], [null]])('keep is %j', (keep) => {
    const { problems } = verdictsAfter((line, record) => (isCall(record, 3) ? edited(record, { keep }) : line));
    expect(problems).toEqual([undefined, undefined, expect.stringMatching(/keeps .* messages of its base/)]);
  });

  test('a shape that is recorded nowhere', () => {
    const { problems } = verdictsAfter((line, record) => (isCall(record, 2) ? edited(record, { shapeHash: '0'.repeat(64) }) : line));
    expect(problems).toEqual([undefined, expect.stringMatching(/no system prompt and tools with the hash 0000/), undefined]);
  });

  test('a message that is recorded nowhere is named, in every call that has it', () => {
    let dropped = '';
    const { problems } = verdictsAfter((line, record) => {
      if (record.type !== 'api-request-blob' || !line.includes('two of')) return line;
      dropped = record.hash as string;
      return [];
    });
    const named = expect.stringMatching(new RegExp(`message 2 \\(${dropped.slice(0, 12)}…\\): no message, reply or prompt`));
    expect(problems).toEqual([undefined, named, named]);
  });

  test.each([
    [['messages', 9, 'content', 0]],
    [['messages', 0, 'content', 7]],
    [['messages', 0, '__proto__']],
    [['__proto__']],
    [['constructor', 'prototype']],
    [['messages']],
    [['system', 0, 'text']],
    ['system'],
  ])('a cache mark at %j', (path) => {
    const { problems } = verdictsAfter((line, record) =>
      isCall(record, 1) ? edited(record, { cacheControl: [{ path, value: { type: 'polluted' } }] }) : line,
    );
    expect(problems).toEqual([expect.stringMatching(/the cache mark/), undefined, undefined]);
    expect(({} as Record<string, unknown>).cache_control).toBeUndefined();
    expect(Object.keys(Object.prototype)).toEqual([]);
  });

  test('two messages under one hash: the false one makes the true one doubtful', () => {
    const { problems } = verdictsAfter((line, record) =>
      record.type === 'api-request-blob' && line.includes('two of') ? [line, edited(record, { message: user('something else') })] : line,
    );
    expect(problems).toEqual([undefined, expect.stringMatching(/message 2 .*2 records give messages/), expect.stringMatching(/message 2/)]);
  });

  test('two shapes under one hash', () => {
    const { problems } = verdictsAfter((line, record) =>
      record.type === 'api-request-shape' ? [line, edited(record, { shape: shape('an impostor') })] : line,
    );
    expect(problems).toEqual([1, 2, 3].map(() => expect.stringMatching(/2 records give some under this hash/)));
  });

  test('a record on the line of an incomplete one counts, and the other is missing', () => {
    let torn = '';
    const { problems } = verdictsAfter((line, record) => {
      if (record.type === 'api-request-blob' && line.includes('two of')) {
        torn = line.slice(0, -20);
        return [];
      }
      const whole = torn + line;
      torn = '';
      return whole;
    });
    const named = expect.stringMatching(/message 2 \([0-9a-f]{12}…\): no message, reply or prompt/);
    expect(problems).toEqual([undefined, named, named]);
  });

  test('a parameter that is not what was sent', () => {
    const { problems } = verdictsAfter((line, record) => (isCall(record, 2) ? edited(record, { params: { model: 'another' } }) : line));
    expect(problems).toEqual([undefined, expect.stringMatching(/digest of the rebuilt body differs/), undefined]);
  });

  test('no digest at all', () => {
    const { problems } = verdictsAfter((line, record) => (isCall(record, 2) ? edited(record, { requestDigest: 7 }) : line));
    expect(problems).toEqual([undefined, 'the record has no digest', undefined]);
  });

  test('a message nested deeper than a stack', () => {
    const deep = `${'['.repeat(200_000)}${']'.repeat(200_000)}`;
    const { problems } = verdictsAfter((line, record) =>
      record.type === 'api-request-blob' && line.includes('two of')
        ? line.replace(/"message":.*$/, `"message":{"role":"user","content":${deep}}}`)
        : line,
    );
    expect(problems).toEqual([undefined, expect.stringMatching(/message 2/), expect.stringMatching(/message 2/)]);
  });

  test('a shape of 100 MB', { tags: 'long' }, () => {
    const { problems } = verdictsAfter((line, record) =>
      record.type === 'api-request-shape' ? line.replace('You are', `You are ${'very '.repeat(20_000_000)}`) : line,
    );
    expect(problems).toEqual([1, 2, 3].map(() => expect.stringMatching(/larger than any request|more than any request/)));
  });

  test('two calls with one id and other content: both are listed', () => {
    const writer = threeCalls();
    const again = writer.lines.flatMap((line) =>
      line.includes('"api-request"') && line.includes(writer.sent[1]?.id ?? '') && !line.includes(`"base":"${writer.sent[1]?.id}"`)
        ? [line, line.replace('"querySource":"sdk"', '"querySource":"other"')]
        : [line],
    );
    const { chain } = imported({ 's1.jsonl': `${again.join('\n')}\n` });
    const ids = listRequests(chain, {}).map((row) => row.requestId);
    expect(ids).toHaveLength(4);
    expect(new Set(ids).size).toBe(4);
    expect(ids).toEqual(expect.arrayContaining(writer.sent.map(({ id }) => id)));
  });

  test('a record without an id is named as skipped, with its line', () => {
    const writer = threeCalls();
    const lines = [...writer.lines, '{"type":"api-request","keep":0,"tail":[]}'];
    const folder = scratch();
    const path = join(folder, 's1.jsonl');
    writeFileSync(path, `${lines.join('\n')}\n`);
    const { skipped } = importInto(emptyChain(), path);
    expect(skipped).toEqual([{ path, line: lines.length, reason: 'the request record has no id' }]);
  });

  test('what is damaged in the store makes its calls unproved, and the list still stands', () => {
    const writer = threeCalls();
    const { chain } = imported({ 's1.jsonl': writer.text() });
    const page = chain.db.one<{ artifact: number }>('SELECT artifact FROM requestPage');
    const data = chain.db.one<{ data: Buffer }>('SELECT data FROM artifact WHERE no = ?', page?.artifact ?? 0)?.data as Buffer;
    data[20] = (data[20] as number) ^ 1;
    chain.db.run('UPDATE artifact SET data = ? WHERE no = ?', data, page?.artifact ?? 0);
    for (const [, proof, problem] of verdicts(chain))
      expect([proof, problem]).toEqual(['recorded', expect.stringMatching(/does not match its hash/)]);
  });
});

/** The possible steps of a conversation. */
type Step =
  | {
      readonly kind: 'ask';
      readonly words: string;
      readonly asString: boolean;
      readonly blocks: number;
      readonly keepLess: number;
      readonly mark: boolean;
    }
  | { readonly kind: 'interrupt'; readonly words: string; readonly kept: number }
  | { readonly kind: 'retry' }
  | { readonly kind: 'restart' }
  | { readonly kind: 'compact'; readonly preserved: number }
  | { readonly kind: 'rewind'; readonly to: number }
  | { readonly kind: 'shape'; readonly name: string };

const words = fc.string({ unit: 'grapheme', minLength: 1, maxLength: 30 });
const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({
      kind: fc.constant('ask' as const),
      words,
      asString: fc.boolean(),
      blocks: fc.integer({ min: 0, max: 3 }),
      keepLess: fc.nat(2),
      mark: fc.boolean(),
    }),
  },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('interrupt' as const), words, kept: fc.integer({ min: 1, max: 2 }) }) },
  fc.record({ kind: fc.constant('retry' as const) }),
  fc.record({ kind: fc.constant('restart' as const) }),
  fc.record({ kind: fc.constant('compact' as const), preserved: fc.nat(3) }),
  fc.record({ kind: fc.constant('rewind' as const), to: fc.nat(6) }),
  fc.record({ kind: fc.constant('shape' as const), name: fc.constantFrom('an elf', 'a dwarf', 'an ent') }),
);

interface Play {
  readonly writer: Writer;
  messages: Message[];
  shape: Shape;
  turns: number;
}

const begin = (writer: Writer): Play => ({ writer, messages: [], shape: shape('a tester'), turns: 0 });

const toolUse = (id: string, value: string): Block => ({
  type: 'tool_use',
  id,
  name: 'Bash',
  input: { zeta: 1.5, command: value, '10': 1, '9': [true, null, { b: '', a: '\u2028' }] },
});

function play(state: Play, what: Step): void {
  const { writer } = state;
  state.turns += 1;
  if (what.kind === 'restart') return void writer.restart();
  if (what.kind === 'shape') {
    state.shape = shape(what.name);
    return;
  }
  if (what.kind === 'rewind') {
    state.messages = state.messages.slice(0, what.to - (what.to % 2));
    return;
  }
  if (what.kind === 'retry') {
    const last = writer.sent.at(-1);
    if (last) writer.send(state.shape, last.messages);
    return;
  }
  if (what.kind === 'compact') {
    const kept = what.preserved ? state.messages.slice(-what.preserved) : [];
    state.messages = [{ role: 'user', content: `Summary of ${state.messages.length}` }, ...kept];
    return void writer.restart();
  }
  writer.prompt(what.words);
  const question: Message = what.kind === 'ask' && what.asString ? { role: 'user', content: `Plainly: ${what.words}` } : user(what.words);
  state.messages = [...state.messages, question];
  const options =
    what.kind === 'ask' ? { marks: what.mark ? markLast(state.messages) : [], keep: Math.max(0, state.messages.length - 1 - what.keepLess) } : {};
  writer.send(state.shape, state.messages, options);
  const id = `toolu_${writer.sent.at(-1)?.id}`;
  const blocks = [{ type: 'thinking', thinking: what.words, signature: 'c2ln' }, text(`About ${what.words}`), toolUse(id, what.words)];
  if (what.kind === 'interrupt') state.messages = [...state.messages, writer.reply(blocks, what.kept)];
  else if (what.blocks > 0) state.messages = [...state.messages, writer.reply(blocks.slice(0, what.blocks))];
}

/** Several conversations at once: main ones in files of their own, and one file that two agents share. */
const stories = fc.record({
  steps: fc.array(fc.tuple(fc.nat(3), step), { minLength: 1, maxLength: 40 }),
  cuts: fc.array(fc.nat(1_000), { maxLength: 3 }),
});

function tell(steps: readonly (readonly [number, Step])[]): { plays: Play[]; files: Record<string, string[]> } {
  const sharedFile: string[] = [];
  const plays = [
    begin(openWriter('s1')),
    begin(openWriter('s2')),
    begin(openWriter('s3', undefined, sharedFile)),
    begin(openWriter('s3', 'agent7', sharedFile)),
  ];
  for (const [who, what] of steps) play(plays[who] as Play, what);
  const files = Object.fromEntries(
    [
      ['s1.jsonl', plays[0]?.writer.lines ?? []],
      ['s2.jsonl', plays[1]?.writer.lines ?? []],
      ['s3.jsonl', sharedFile],
    ].filter(([, lines]) => lines?.length),
  ) as Record<string, string[]>;
  return { plays, files };
}

const ended = (lines: readonly string[]): string => lines.map((line) => `${line}\n`).join('');

describe('against a plain model', () => {
  test('[R3] many growing conversations of every shape are rebuilt and verified', { tags: 'long' }, () => {
    fc.assert(
      fc.property(stories, ({ steps, cuts }) => {
        const { plays, files } = tell(steps);
        const { chain, folder } = imported({});
        for (const cut of [...cuts].sort((a, b) => a - b))
          imported(
            Object.fromEntries(Object.entries(files).map(([name, lines]) => [name, ended(lines.slice(0, Math.ceil((lines.length * cut) / 1_000)))])),
            chain,
            folder,
          );
        imported(Object.fromEntries(Object.entries(files).map(([name, lines]) => [name, ended(lines)])), chain, folder);
        expectSent(
          chain,
          plays.flatMap(({ writer }) => writer.sent),
        );
        for (const source of listSources(chain)) expect(getSource(chain, source.sourceId).hash).toBe(source.hash);
      }),
      { numRuns: runs(40) },
    );
  });

  test('[R3] one wrong byte in a message unproves exactly the calls that contain it', { tags: 'long' }, () => {
    fc.assert(
      fc.property(stories, fc.nat(), ({ steps }, pick) => {
        const { plays, files } = tell(steps);
        const blobs = Object.entries(files).flatMap(([name, lines]) =>
          lines.flatMap((line, index) => (line.startsWith('{"type":"api-request-blob"') ? [{ name, index }] : [])),
        );
        fc.pre(blobs.length > 0);
        const { name, index } = blobs[pick % blobs.length] as { name: string; index: number };
        const lines = files[name] as string[];
        const { hash } = JSON.parse(lines[index] as string) as { hash: string };
        lines[index] = (lines[index] as string).replace(
          /("message":\{"role":")(.)/,
          (_, before: string, letter: string) => `${before}${letter === 'u' ? 'v' : 'u'}`,
        );
        const { chain } = imported(Object.fromEntries(Object.entries(files).map(([file, each]) => [file, ended(each)])));
        const listed = listRequests(chain, {});
        for (const { writer } of plays)
          for (const sent of writer.sent) {
            const at = writer.lines === lines ? sent.messages.findIndex((message) => hashOf(message) === hash) : -1;
            const row = listed.find(({ requestId }) => requestId === sent.id);
            if (at < 0) expect(row).toMatchObject({ proof: 'digest' });
            else expect(row).toMatchObject({ proof: 'recorded', problem: expect.stringContaining(`message ${at} (${hash.slice(0, 12)}…)`) });
          }
      }),
      { numRuns: runs(40) },
    );
  });
});

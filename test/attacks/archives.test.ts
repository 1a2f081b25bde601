// Archives that lie about their entries, or that programs read in different ways: each costs little, and is refused by name or read whole.
import { closeSync, ftruncateSync, mkdirSync, openSync, writeFileSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { deflateRawSync, gzipSync, zstdCompressSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import { readZip } from '../../src/core/evidence/zip.js';
import { importableFormats, unzstd, zipList } from '../../src/core/formats/index.js';
import { atOnce, checkProject } from '../../src/core/project/index.js';
import { receivedIn } from '../../src/main/otlp/decode.js';
import { decoded } from '../../src/main/proxy/decode.js';
import { importInto } from '../support/imports.js';
import { emptyChain, emptyProject, scratch } from '../support/project.js';
import { type RawEntry, rawZip } from '../support/zips.js';

/** Milliseconds that reading takes at most. What grew with the square of its size took minutes. */
const linear = 20_000;
const mebibyte = 1024 ** 2;
const inspect = importableFormats.find(({ id }) => id === 'inspect-eval-v1');
const started = { name: '_journal/start.json', content: Buffer.from('{"eval":{"task":"t","eval_id":"e"}}') };
const sample = (id: string): Buffer => Buffer.from(JSON.stringify({ id, epoch: 1, messages: [{ role: 'user', content: `asked ${id}` }] }));
const members = (zip: Buffer): readonly { readonly id: string; lines(): { readonly bytes: { readonly length: number } } }[] => [
  ...(inspect?.exports?.members(zip, 'log.eval') ?? []),
];

function imported(zip: Buffer) {
  const folder = scratch();
  const path = join(folder, 'log.eval');
  writeFileSync(path, zip);
  const project = emptyProject();
  return { project, path, ...importInto(project.chain, path) };
}

test.each([
  ['stored', 0, (content: Buffer) => content],
  ['deflated', 8, deflateRawSync],
  ['compressed with Zstandard', 93, zstdCompressSync],
] as const)('[T15] an entry that is %s and holds more than its archive says is not read', (_, method, pack) => {
  const content = Buffer.alloc(mebibyte, 'a');
  const entryOf = (length: number) => zipList(rawZip([{ name: 'a.json', content: pack(content), method, length }]))?.[0];
  expect(entryOf(mebibyte)?.read()).toHaveLength(mebibyte);
  expect(() => entryOf(100)?.read()).toThrow();
});

describe('[T15] an archive whose directory lies', () => {
  test(
    'about the length of stored entries is read no further',
    () => {
      // Each of the entries says that it has one byte, and gives a megabyte.
      const content = Buffer.from(`{"id":1,"epoch":1,"messages":[],"more":"${'x'.repeat(mebibyte)}"}`);
      const some = Array.from(
        { length: 12 },
        (_, at): RawEntry => ({ name: `samples/${at}_epoch_1.json`, size: content.length, length: 1, place: 0 }),
      );
      const first = { name: 'samples/first_epoch_1.json', content, length: 1 };
      for (const member of members(rawZip([first, ...some]))) expect(member.lines().bytes.length).toBeLessThan(10_000);
      const many = Array.from({ length: 20_000 }, (_, at): RawEntry => ({ ...(some[0] as RawEntry), name: `samples/m${at}_epoch_1.json` }));
      const { commits, skipped } = imported(rawZip([first, ...many]));
      expect(commits).toBe(0);
      expect(skipped.map(({ reason }) => reason).join('\n')).toMatch(/share their bytes more than 16 times/);
    },
    linear,
  );

  test(
    'about the place of entries, so that each takes most of the file, is refused by name',
    () => {
      const packed = deflateRawSync(Buffer.alloc(4 * mebibyte, 'abcdefgh'));
      const body = { name: 'samples/a_epoch_1.json', content: Buffer.concat([packed, Buffer.alloc(4 * mebibyte)]), method: 8, length: 1 };
      const names = Array.from(
        { length: 60_000 },
        (_, at): RawEntry => ({ name: `samples/${at}_epoch_1.json`, method: 8, size: 4 * mebibyte, length: 1, place: at }),
      );
      const { commits, skipped } = imported(rawZip([body, ...names]));
      expect(commits).toBe(0);
      expect(skipped).toEqual([expect.objectContaining({ reason: expect.stringMatching(/share their bytes/) })]);
    },
    linear,
  );

  test('about its own size, in a file with a hole, is refused by name', () => {
    const path = join(scratch(), 'log.eval');
    const file = openSync(path, 'w');
    const zip = rawZip([started]);
    writeSync(file, zip.subarray(0, zip.length - 22), 0, null, 0);
    const size = 100 * mebibyte;
    ftruncateSync(file, size);
    const end = Buffer.from(zip.subarray(zip.length - 22));
    // The directory would be nearly all of the file.
    end.writeUInt32LE(100, 16);
    writeSync(file, end, 0, null, size - 22);
    closeSync(file);
    const chain = emptyChain();
    const before = process.memoryUsage().arrayBuffers;
    const { commits, skipped } = importInto(chain, path);
    expect(commits).toBe(0);
    expect(skipped).toEqual([expect.objectContaining({ path, reason: expect.stringMatching(/its directory has \d+ bytes/) })]);
    expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(80 * mebibyte);
  });

  const huge = 0xffff_ffff;
  const none = Buffer.alloc(0);
  test.each<[string, readonly RawEntry[], Parameters<typeof rawZip>[1]?]>([
    ['numbers of ZIP64 in its end', [started], { count: 0xffff, directory: huge }],
    ['entries of ZIP64', [started, { name: 'samples/a.json', size: huge, length: huge, place: huge, extra: Buffer.from([1, 0, 24, 0]) }]],
    [
      'more entries than it says',
      [started, ...Array.from({ length: 9 }, (_, at) => ({ name: `samples/${at}.json`, content: sample(String(at)) }))],
      { count: 3 },
    ],
    ['fewer entries than it says', [started, { name: 'samples/a.json', content: sample('a') }], { count: 60_000 }],
    ['entries beyond its end', [started, { name: 'samples/a.json', size: 40, length: 40, place: 2 ** 31 }]],
    ['an unknown method', [started, { name: 'samples/a.json', content: sample('a'), method: 14 }]],
    ['an encrypted entry', [started, { name: 'samples/a.json', content: sample('a'), flags: 1, method: 8 }]],
    ['an entry that is no archive of its method', [started, { name: 'samples/a.json', content: Buffer.from('plain'), method: 8, length: 9_000 }]],
    ['nothing but a directory of nameless entries', Array.from({ length: 5_000 }, () => ({ name: '', content: none }))],
  ])('with %s fails nothing', (_, entries, ending) => {
    const { project, commits, skipped } = imported(rawZip(entries, ending));
    expect(commits + skipped.length).toBeGreaterThan(0);
    expect(atOnce(checkProject(project)).problems).toEqual([]);
  });

  test('entries that were written as a stream are read', () => {
    const content = sample('streamed');
    const zip = rawZip([
      started,
      { name: 'samples/streamed_epoch_1.json', content: deflateRawSync(content), length: content.length, method: 8, flags: 8 },
    ]);
    expect(imported(zip).commits).toBeGreaterThan(0);
  });

  test('an archive in an archive is no sample, however deep', () => {
    let zip = rawZip([started, { name: 'samples/deep_epoch_1.json', content: sample('deep') }]);
    for (let depth = 0; depth < 40; depth++) zip = rawZip([started, { name: `samples/level${depth}_epoch_1.json`, content: zip }]);
    expect(imported(zip).commits).toBeLessThan(2);
  });
});

describe('[T15] names in an archive', () => {
  const names: readonly (string | Buffer)[] = [
    'samples/a\0b_epoch_1.json',
    'samples/\0.json',
    'samples/../../../etc/passwd.json',
    'samples/C:\\x.json',
    'samples/__proto__.json',
    'samples/constructor/sample.json',
    'samples/a\nb\u001b[31m.json',
    `samples/${'n'.repeat(60_000)}.json`,
    Buffer.from([...Buffer.from('samples/'), 0xff, 0xfe, ...Buffer.from('.json')]),
    Buffer.from([...Buffer.from('samples/'), 0xed, 0xa0, 0x80, ...Buffer.from('.json')]),
  ];

  test.each(names.map((name) => [JSON.stringify(String(name)).slice(0, 40), name] as const))('%s is data', (_, name) => {
    const { project, commits, skipped } = imported(rawZip([started, { name, content: sample('x') }]));
    expect(commits + skipped.length).toBeGreaterThan(0);
    expect(atOnce(checkProject(project)).problems).toEqual([]);
  });

  test('that are the same count once: the last of them', () => {
    const zip = rawZip([started, ...Array.from({ length: 2_000 }, (_, at) => ({ name: 'samples/a_epoch_1.json', content: sample(`v${at}`) }))]);
    const [member, ...others] = members(zip);
    expect(others).toEqual([]);
    expect(Buffer.from(member?.lines().bytes as never).toString()).toContain('asked v1999');
  });
});

describe('[V2] a pack of evidence', () => {
  const good = (): Buffer => rawZip([{ name: 'a.json', content: Buffer.from('{}') }]);
  test.each<[string, () => Buffer]>([
    ['another flag', good],
    ['a name with NUL', () => rawZip([{ name: 'a\0.json', content: Buffer.from('{}') }])],
    ['the same name twice', () => rawZip(['1', '2'].map((text) => ({ name: 'a', content: Buffer.from(text) })))],
    ['a stream', () => rawZip([{ name: 'a', content: Buffer.from('x'), flags: 8 }])],
    ['numbers of ZIP64', () => rawZip([{ name: 'a', content: Buffer.from('x') }], { count: 0xffff, directory: 0xffff_ffff })],
    ['a size beyond the file', () => rawZip([{ name: 'a', content: Buffer.from('x'), size: 0xffff_ffff, length: 0xffff_ffff }])],
    ['bytes before it', () => Buffer.concat([Buffer.from('x'), good()])],
    ['bytes after it', () => Buffer.concat([good(), Buffer.alloc(70_000)])],
    ['60,000 entries without a name', () => rawZip(Array.from({ length: 60_000 }, () => ({ name: '', content: Buffer.alloc(0) })))],
    ['nothing', () => Buffer.alloc(0)],
  ])('with %s is BAD_REQUEST', (_, make) => {
    expect(() => readZip(make())).toThrow(expect.objectContaining({ code: 'BAD_REQUEST' }));
  });
});

describe('[T15] compressed data in several parts', () => {
  const lines = ['session_meta', 'response_item'].map((type, at) => ({
    timestamp: `2026-01-01T00:00:0${at}.000Z`,
    type,
    payload:
      type === 'session_meta'
        ? { id: 's', cwd: '/work', cli_version: '0.60.0' }
        : { type: 'message', role: 'user', content: [{ type: 'input_text', text: 'in the second frame' }] },
  }));
  const empty = zstdCompressSync('');
  const manyFrames = (): Buffer => Buffer.alloc(empty.length * 100_000, empty);
  const frames = (): Buffer[] => lines.map((line) => zstdCompressSync(`${JSON.stringify(line)}\n`));

  // Node reads the first frame only, and says nothing of the others.
  test('every frame of a compressed rollout is read', () => {
    const folder = join(scratch(), 'history');
    mkdirSync(folder);
    writeFileSync(join(folder, 'rollout-2026-01-01T00-00-00-s.jsonl.zst'), Buffer.concat(frames()));
    const chain = emptyChain();
    expect(importInto(chain, folder).skipped).toEqual([]);
    expect(
      JSON.stringify(chain.db.all('SELECT data FROM artifact WHERE data IS NOT NULL').map((row) => String((row as { data: Buffer }).data))),
    ).toContain('in the second frame');
  });

  test('every frame of a recorded reply is read, and a frame that was cut off as far as it arrived', { tags: 'long' }, async () => {
    const [one, two] = [zstdCompressSync('first '), zstdCompressSync('second')];
    expect(await decoded(Buffer.concat([one, two]), 'zstd')).toBe('first second');
    const skippable = Buffer.from([0x5a, 0x2a, 0x4d, 0x18, 4, 0, 0, 0, 1, 2, 3, 4]);
    expect(await decoded(Buffer.concat([skippable, one, skippable, two, skippable]), 'zstd')).toBe('first second');
    expect(await decoded(Buffer.concat([one, two.subarray(0, 5)]), 'zstd')).toBe('first ');
    expect(await decoded(Buffer.concat([one, Buffer.from('no frame')]), 'zstd')).toBe('first ');
    await expect(decoded(manyFrames(), 'zstd')).rejects.toThrow(/more than 5000 frames/);
    const large = zstdCompressSync(Buffer.alloc(33 * mebibyte));
    await expect(decoded(Buffer.concat([large, large]), 'zstd')).rejects.toThrow();
  });

  test(
    'frames share one limit of bytes, and have one of their number',
    () => {
      const large = zstdCompressSync(Buffer.alloc(mebibyte));
      expect(unzstd(Buffer.concat([large, large]), { maxOutputLength: 2 * mebibyte })).toHaveLength(2 * mebibyte);
      expect(() => unzstd(Buffer.concat([large, large, large]), { maxOutputLength: 2 * mebibyte })).toThrow();
      const tiny = manyFrames();
      expect(() => unzstd(tiny, { maxOutputLength: mebibyte })).toThrow(/more than 5000 frames/);
    },
    linear,
  );

  test('an export of spans in several members of gzip is read whole, within its limit', { tags: 'long' }, () => {
    const json = JSON.stringify({ resourceSpans: [{ scopeSpans: [{ spans: [{ traceId: 'a', spanId: 'b', name: 'n' }] }] }] });
    const members = [json.slice(0, 20), json.slice(20)].map((part) => gzipSync(part));
    expect(receivedIn('spans', Buffer.concat(members), 'application/json', 'gzip')[0]).toHaveLength(1);
    const bomb = Buffer.concat(Array.from({ length: 200 }, () => gzipSync(Buffer.alloc(mebibyte, 0x20))));
    expect(() => receivedIn('spans', bomb, 'application/json', 'gzip')).toThrow(expect.objectContaining({ status: 400 }));
  });
});

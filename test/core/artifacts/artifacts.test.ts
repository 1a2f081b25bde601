import { existsSync, readdirSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type Artifacts, blake3Of, pressBlocks, refOf, shortOf } from '../../../src/core/artifacts/index.js';
import type { ArtifactNo } from '../../../src/core/base/index.js';
import { openProject, type Project } from '../../../src/core/project/index.js';
import { emptyProject, type HeldClock, heldClock, objectTotals } from '../../support/project.js';

const type = 'text/plain';
/** Text that compresses, different for each seed. */
const prose = (seed: number, size: number): Buffer =>
  Buffer.from(Array.from({ length: Math.ceil(size / 12) }, (_, at) => `line ${seed} ${at % 97} of `).join('')).subarray(0, size);
/** Bytes that do not compress. */
const noise = (seed: number, size: number): Buffer => {
  const parts: Buffer[] = [];
  for (let at = 0; at * 32 < size; at++) parts.push(blake3Of(Buffer.from(`${seed}/${at}`)));
  return Buffer.concat(parts).subarray(0, size);
};
const drain = <T>(steps: Generator<undefined, T>): T => {
  for (;;) {
    const step = steps.next();
    if (step.done) return step.value;
  }
};
const objects = (project: Project): string => join(project.dir, 'objects');
const packsOf = (project: Project): string[] => readdirSync(objects(project)).filter((name) => name.endsWith('.pack'));
const put = (artifacts: Artifacts, bytes: Uint8Array, more: Partial<Parameters<Artifacts['put']>[1]> = {}): ArtifactNo =>
  artifacts.put(bytes, { contentType: type, ...more }).no;

describe('reading and writing', () => {
  const sizes = [0, 1, 100, 8 * 1024, 8 * 1024 + 1, 256 * 1024, 256 * 1024 + 1, 3_000_000];

  test('[S1] an object of any size is found by its BLAKE3 ref and by its first twelve digits', { tags: 'long' }, () => {
    const { artifacts } = emptyProject().chain;
    for (const bytes of sizes.flatMap((size) => [prose(size, size), noise(size, size)])) {
      const { no, ref, size } = artifacts.put(bytes, { contentType: type });
      expect([ref, size]).toEqual([refOf(bytes), bytes.length]);
      expect([artifacts.find(ref), artifacts.find(shortOf(ref))]).toEqual([no, no]);
      expect(Buffer.from(artifacts.read(no)).equals(bytes)).toBe(true);
    }
    expect(refOf(Buffer.from('abc'))).toBe('blake3:6437b3ac38465133ffb63b75273a8db548c558465d79db03fd359c6cd5bd9d85');
  });

  test('[S1, S2] an object that comes in parts is the same object; other parts are CORRUPT', () => {
    const { chain } = emptyProject();
    const { artifacts } = chain;
    const bytes = noise(1, 700_000);
    const parts = [bytes.subarray(0, 300_000), bytes.subarray(300_000, 300_001), bytes.subarray(300_001)];
    const wrong = () => artifacts.putInParts(refOf(bytes), parts.slice(1), { contentType: type });
    expect(wrong).toThrow(expect.objectContaining({ code: 'CORRUPT' }));
    expect(() => artifacts.find(refOf(bytes))).toThrow();
    const { no, ref, size } = artifacts.putInParts(refOf(bytes), parts, { contentType: type });
    expect([ref, size, artifacts.find(ref)]).toEqual([refOf(bytes), bytes.length, no]);
    expect(Buffer.from(artifacts.read(no)).equals(bytes)).toBe(true);
    expect(Buffer.concat([...artifacts.readParts(no)]).equals(bytes)).toBe(true);
    expect(artifacts.putInParts(ref, parts, { contentType: type })).toMatchObject({ no, existed: true });
    expect(artifacts.putInParts(refOf(Buffer.of()), [], { contentType: type }).size).toBe(0);
  });

  test('[S2] a large object of a pack is read in parts, and a flipped byte in it is CORRUPT', { tags: 'long' }, () => {
    const project = emptyProject();
    const { artifacts } = project.chain;
    const bytes = noise(2, 9_000_000);
    const no = put(artifacts, bytes);
    const parts = [...artifacts.readParts(no)];
    expect(parts.length).toBeGreaterThan(2);
    expect(Buffer.concat(parts).equals(bytes)).toBe(true);
    const file = join(objects(project), packsOf(project)[0] ?? '');
    const flipped = readFileSync(file);
    flipped[5_000_000] = (flipped[5_000_000] ?? 0) ^ 1;
    writeFileSync(file, flipped);
    expect(() => [...artifacts.readParts(no)]).toThrow(expect.objectContaining({ code: 'CORRUPT' }));
    truncateSync(file, 8_500_000);
    expect(() => [...artifacts.readParts(no)]).toThrow(expect.objectContaining({ code: 'CORRUPT' }));
  });

  test('[S1] an unknown ref is NOT_FOUND, an ambiguous short ref is BAD_REQUEST', () => {
    const { chain } = emptyProject();
    const no = put(chain.artifacts, Buffer.from('a'));
    expect(() => chain.artifacts.find(refOf(Buffer.from('b')))).toThrow(expect.objectContaining({ code: 'NOT_FOUND' }));
    expect(() => chain.artifacts.find('art-000000000000')).toThrow(expect.objectContaining({ code: 'NOT_FOUND' }));
    const other = put(chain.artifacts, Buffer.from('b'));
    const { hash, key } = chain.db.one<{ hash: Buffer; key: number }>('SELECT hash, key FROM artifact WHERE no = ?', no) ?? {
      hash: Buffer.of(),
      key: 0,
    };
    const near = Buffer.from(hash);
    near[31] = (near[31] ?? 0) ^ 1;
    chain.db.run('UPDATE artifact SET hash = ?, key = ? WHERE no = ?', near, key, other);
    expect(() => chain.artifacts.find(shortOf(refOf(Buffer.from('a'))))).toThrow(expect.objectContaining({ code: 'BAD_REQUEST' }));
  });

  test('[S5] equal content is stored once, and the second put reports that it existed', () => {
    const { chain } = emptyProject();
    for (const bytes of [Buffer.from('small'), noise(1, 400_000)]) {
      expect(chain.artifacts.put(bytes, { contentType: type }).existed).toBe(false);
      expect(chain.artifacts.put(bytes, { contentType: type }).existed).toBe(true);
    }
    expect(objectTotals(chain)).toEqual({ objects: 2, logical: 400_005, stored: 400_005 });
  });

  test('[S9] a range returns exactly its bytes, however the object is stored', { tags: 'long' }, () => {
    const { artifacts } = emptyProject().chain;
    const all = [prose(1, 3_000), prose(2, 300_000), noise(3, 2_500_000), prose(4, 2_500_000)].map((bytes) => ({ bytes, no: put(artifacts, bytes) }));
    const check = (): void =>
      fc.assert(
        fc.property(fc.nat(all.length - 1), fc.double({ min: 0, max: 1, noNaN: true }), fc.double({ min: 0, max: 1, noNaN: true }), (which, x, y) => {
          const { bytes, no } = all[which] as (typeof all)[number];
          const [start, end] = [Math.floor(Math.min(x, y) * bytes.length), Math.ceil(Math.max(x, y) * bytes.length)];
          expect(Buffer.from(artifacts.readRange(no, start, end)).equals(bytes.subarray(start, end))).toBe(true);
        }),
        { numRuns: 60 },
      );
    check();
    drain(artifacts.repack());
    check();
    expect(() => artifacts.readRange(all[0]?.no as ArtifactNo, 2, 1)).toThrow(expect.objectContaining({ code: 'BAD_REQUEST' }));
    expect(() => artifacts.readRange(all[0]?.no as ArtifactNo, 0, 3_001)).toThrow(expect.objectContaining({ code: 'BAD_REQUEST' }));
  });

  test('[S6, S7] large objects of a failed transaction leave nothing behind', () => {
    const project = emptyProject();
    const { artifacts } = project.chain;
    expect(() =>
      artifacts.transaction(() => {
        put(artifacts, noise(1, 300_000));
        throw new Error('stop');
      }),
    ).toThrow('stop');
    const other = openProject(project.dir, heldClock());
    const theirs = put(other.chain.artifacts, noise(2, 300_000));
    const ours = put(artifacts, noise(3, 300_000));
    expect(Buffer.from(artifacts.read(theirs)).equals(noise(2, 300_000))).toBe(true);
    expect(Buffer.from(artifacts.read(ours)).equals(noise(3, 300_000))).toBe(true);
    expect(Buffer.from(other.chain.artifacts.read(ours)).equals(noise(3, 300_000))).toBe(true);
    expect(objectTotals(project.chain).objects).toBe(2);
    other.close();
  });
});

describe('repack', () => {
  const deltas = Array.from({ length: 100 }, (_, at) => prose(at, 3_000 + at));

  test('neighbors share blocks, large objects share chunks, and all content stays readable', () => {
    const project = emptyProject();
    const { artifacts } = project.chain;
    const large = noise(7, 2_000_000);
    const incompressible = Array.from({ length: 64 }, (_, at) => noise(at + 8, 2_000));
    const contents = [
      ...deltas,
      large,
      Buffer.concat([large.subarray(0, 900_000), Buffer.from('an insertion'), large.subarray(900_000)]),
      ...incompressible,
    ];
    const nos = contents.map((bytes) => put(artifacts, bytes));
    const done = drain(artifacts.repack());
    expect(done.objects).toBeGreaterThanOrEqual(contents.length);
    const small = project.db.one<{ stored: number }>('SELECT SUM(storedSize) AS stored FROM block')?.stored ?? 0;
    expect(small).toBeGreaterThan(0);
    expect(small).toBeLessThan(deltas.reduce((sum, bytes) => sum + bytes.length, 0) / 4);
    // Two large objects that differ by an insertion are stored once and a little.
    expect(objectTotals(project.chain).stored).toBeLessThan(large.length * 1.25);
    expect(objectTotals(project.chain)).toMatchObject({ objects: contents.length, logical: contents.reduce((sum, bytes) => sum + bytes.length, 0) });
    for (const [at, no] of nos.entries()) expect(Buffer.from(artifacts.read(no)).equals(contents[at] as Buffer)).toBe(true);
    expect(artifacts.readAll(nos).map((bytes) => bytes.length)).toEqual(contents.map((bytes) => bytes.length));
    // An object that does not get smaller stays as it is.
    expect(project.db.one('SELECT block, size = storedSize AS plain FROM artifact WHERE no = ?', nos.at(-1) as number)).toEqual({
      block: null,
      plain: 1,
    });
  });

  test('[S21] the steps of a repack fill every block but the last', () => {
    const project = emptyProject();
    const { artifacts } = project.chain;
    project.chain.db.transaction(() => {
      for (let seed = 0; seed < 30; seed++) put(artifacts, prose(seed, 110_000), { bulk: true });
    });
    drain(artifacts.repack());
    const sizes = project.db.all<{ size: number }>('SELECT size FROM block ORDER BY no').map(({ size }) => size);
    expect(sizes).toEqual([990_000, 990_000, 990_000, 330_000]);
  });

  test('objects that were compressed ahead are stored as blocks, unless one is known', () => {
    const project = emptyProject();
    const { artifacts } = project.chain;
    const contents = [...deltas.slice(0, 40), noise(1, 1_500_000), ...deltas.slice(40), noise(2, 2_000)];
    const blocks = [...pressBlocks(contents)];
    expect(blocks.map(({ first, objects }) => [first, objects.length])).toEqual([
      [0, 40],
      [41, 61],
    ]);
    const [first, second] = blocks as [(typeof blocks)[0], (typeof blocks)[0]];
    const putBlock = (block: (typeof blocks)[0]) => project.db.transaction(() => artifacts.putBlock(block, { contentType: type }));
    const puts = putBlock(first) ?? [];
    expect(puts.map(({ ref }) => ref)).toEqual(contents.slice(0, 40).map(refOf));
    for (const [at, { no }] of puts.entries()) expect(Buffer.from(artifacts.read(no)).equals(contents[at] as Buffer)).toBe(true);
    expect(puts.reduce((sum, { storedSize }) => sum + storedSize, 0)).toBe(first.stored.length);
    expect(objectTotals(project.chain).stored).toBe(first.stored.length);
    put(artifacts, contents[60] as Buffer);
    const before = objectTotals(project.chain);
    expect(putBlock(second)).toBeUndefined();
    const [twice] = pressBlocks([deltas[90], deltas[90]] as Buffer[]);
    expect(twice && putBlock(twice)).toBeUndefined();
    expect(objectTotals(project.chain)).toEqual(before);
    expect(drain(artifacts.repack())).toMatchObject({ objects: 1 });
  });

  test('packed objects are not examined again, new objects are', () => {
    const { artifacts } = emptyProject().chain;
    for (const bytes of deltas) put(artifacts, bytes);
    expect(drain(artifacts.repack()).objects).toBe(100);
    expect(drain(artifacts.repack())).toEqual({ objects: 0, before: 0, after: 0 });
    put(artifacts, prose(1_000, 4_000));
    expect(drain(artifacts.repack()).objects).toBe(1);
  });

  test('objects younger than the limit are not packed', () => {
    const clock = heldClock();
    const { artifacts } = emptyProject(clock).chain;
    for (const bytes of deltas) put(artifacts, bytes);
    clock.at += 1_000;
    expect(drain(artifacts.repack({ olderThanMs: 5_000 })).objects).toBe(0);
    expect(drain(artifacts.repack({ olderThanMs: 500 })).objects).toBe(100);
  });

  test('another process can read while packs are rewritten', () => {
    const project = emptyProject();
    const { artifacts } = project.chain;
    const contents = [...deltas, ...[1, 2, 3].map((seed) => prose(seed, 900_000))];
    const nos = contents.map((bytes) => put(artifacts, bytes, { bulk: true }));
    const other = openProject(project.dir, heldClock());
    const check = (): void => {
      for (const [at, no] of nos.entries()) expect(Buffer.from(other.chain.artifacts.read(no)).equals(contents[at] as Buffer)).toBe(true);
    };
    check();
    const before = packsOf(project);
    drain(artifacts.repack());
    expect(packsOf(project)).not.toEqual(before);
    check();
    other.close();
  });
});

describe('damage', () => {
  /** A project with an object in each form: in its row, in a pack, in a block, in chunks. */
  function everyForm(): { project: Project; contents: Buffer[]; nos: ArtifactNo[] } {
    const project = emptyProject();
    const { artifacts } = project.chain;
    const packed = [...Array.from({ length: 40 }, (_, at) => prose(at, 2_000)), noise(9, 1_500_000)];
    const loose = [prose(100, 1_000), noise(101, 300_000)];
    const nos = packed.map((bytes) => put(artifacts, bytes));
    drain(artifacts.repack());
    return { project, contents: [...packed, ...loose], nos: [...nos, ...loose.map((bytes) => put(artifacts, bytes))] };
  }

  /** For each object its bytes, or the code and id of the error. */
  const outcomes = (dir: string, contents: readonly Buffer[], nos: readonly ArtifactNo[]): string[] => {
    const { chain, close } = openProject(dir, heldClock());
    const results = nos.map((no, at) => {
      try {
        return Buffer.from(chain.artifacts.read(no)).equals(contents[at] as Buffer) ? 'right' : 'WRONG';
      } catch (error) {
        const { code, data } = error as { code: string; data: { id: string } };
        return data.id === refOf(contents[at] as Buffer) ? code : `${code} of ${data.id}`;
      }
    });
    close();
    return results;
  };

  test('[S2] a flipped byte anywhere in a pack is CORRUPT naming the ref, and never wrong bytes', { tags: 'long' }, () => {
    const { project, contents, nos } = everyForm();
    project.close();
    for (const pack of packsOf(project)) {
      const file = join(objects(project), pack);
      const sound = readFileSync(file);
      for (let step = 0; step < 12; step++) {
        const place = Math.floor((sound.length * (step + 0.5)) / 12);
        const flipped = Buffer.from(sound);
        flipped[place] = (flipped[place] ?? 0) ^ (1 << (step % 8));
        writeFileSync(file, flipped);
        const results = outcomes(project.dir, contents, nos);
        expect(new Set(results)).toEqual(new Set(['right', 'CORRUPT']));
      }
      writeFileSync(file, sound);
    }
    expect(new Set(outcomes(project.dir, contents, nos))).toEqual(new Set(['right']));
  });

  test('[S2] of objects that are read together from a pack, a flipped byte names its own', () => {
    const project = emptyProject();
    const { artifacts } = project.chain;
    const contents = Array.from({ length: 40 }, (_, at) => prose(at, 2_000 + at));
    const nos = artifacts.transaction(() => contents.map((bytes) => put(artifacts, bytes, { bulk: true })));
    expect(artifacts.readAll(nos.toReversed())).toEqual(contents.toReversed());
    const file = join(objects(project), packsOf(project)[0] ?? '');
    const flipped = readFileSync(file);
    const place = flipped.indexOf(contents[20] as Buffer) + 5;
    flipped[place] = (flipped[place] ?? 0) ^ 1;
    writeFileSync(file, flipped);
    expect(() => artifacts.readAll(nos)).toThrow(expect.objectContaining({ code: 'CORRUPT', data: { id: refOf(contents[20] as Buffer) } }));
    expect(artifacts.readAll(nos.toSpliced(20, 1))).toEqual(contents.toSpliced(20, 1));
  });

  test('[S2] objects in a short or missing pack are CORRUPT, all others are readable', () => {
    const { project, contents, nos } = everyForm();
    project.close();
    const file = join(objects(project), packsOf(project)[0] ?? '');
    truncateSync(file, readFileSync(file).length - 10);
    expect(new Set(outcomes(project.dir, contents, nos))).toEqual(new Set(['right', 'CORRUPT']));
    rmSync(file);
    expect(new Set(outcomes(project.dir, contents, nos))).toEqual(new Set(['right', 'CORRUPT']));
  });

  test('[S2] a flipped byte in a row, or in the list of chunks, is CORRUPT', () => {
    const { project, contents, nos } = everyForm();
    const flip = (column: string, no: ArtifactNo): void => {
      const { value } = project.db.one<{ value: Buffer }>(`SELECT ${column} AS value FROM artifact WHERE no = ?`, no) ?? { value: Buffer.of() };
      const changed = Buffer.from(value);
      changed[3] = (changed[3] ?? 0) ^ 4;
      project.db.run(`UPDATE artifact SET ${column} = ? WHERE no = ?`, changed, no);
    };
    flip('data', nos[41] as ArtifactNo);
    flip('chunks', nos[40] as ArtifactNo);
    expect(outcomes(project.dir, contents, nos).filter((each) => each === 'CORRUPT')).toHaveLength(2);
    expect(() => project.chain.artifacts.readRange(nos[40] as ArtifactNo, 0, 10)).toThrow(expect.objectContaining({ code: 'CORRUPT' }));
  });

  test('damaged, short or missing caches are made again', () => {
    const project = emptyProject();
    const { artifacts } = project.chain;
    const { no, ref } = artifacts.putCache(Buffer.from('can be made again'), type);
    const file = join(objects(project), 'snapshots', ref.slice(7));
    writeFileSync(file, 'can be made AGAIN');
    expect(() => artifacts.read(no)).toThrow(expect.objectContaining({ code: 'NOT_FOUND', data: { id: ref, reason: 'dropped' } }));
    artifacts.putCache(Buffer.from('can be made again'), type);
    rmSync(file);
    artifacts.putCache(Buffer.from('can be made again'), type);
    expect(existsSync(file)).toBe(true);
    expect(Buffer.from(artifacts.read(no)).toString()).toBe('can be made again');
  });
});

describe('lifecycle', () => {
  const hour = 3_600_000;
  interface Kept {
    readonly project: Project;
    readonly artifacts: Artifacts;
    readonly clock: HeldClock;
  }
  function fresh(): Kept {
    const clock = heldClock();
    const project = emptyProject(clock);
    return { project, artifacts: project.chain.artifacts, clock };
  }
  const collect = ({ artifacts }: Kept, options: { dryRun?: boolean; budgetBytes?: number } = {}) => drain(artifacts.gc({ roots: [], ...options }));

  test('[S11] garbage older than the grace period goes; pinned, labeled and young objects stay', () => {
    const kept = fresh();
    const { artifacts, clock } = kept;
    const garbage = put(artifacts, noise(1, 1_000));
    const large = put(artifacts, noise(2, 300_000));
    const pinned = put(artifacts, noise(3, 1_000), { policy: 'pin' });
    const labeled = put(artifacts, noise(4, 1_000), { labels: ['release'] });
    expect(collect(kept)).toEqual({ examined: 4, removed: 0, freedBytes: 0, kept: { reachable: 1, pinned: 1, young: 2 } });
    clock.at += 2 * hour;
    const young = put(artifacts, noise(5, 1_000));
    const planned = { examined: 5, removed: 2, freedBytes: 301_000, kept: { reachable: 1, pinned: 1, young: 1 } };
    expect(collect(kept, { dryRun: true })).toEqual(planned);
    expect(artifacts.read(garbage)).toHaveLength(1_000);
    expect(collect(kept)).toEqual(planned);
    for (const no of [garbage, large]) expect(() => artifacts.read(no)).toThrow(expect.objectContaining({ code: 'NOT_FOUND' }));
    for (const no of [pinned, labeled, young]) expect(artifacts.read(no)).toHaveLength(1_000);
    expect(packsOf(kept.project)).toEqual([]);
  });

  test('[S11] garbage that is put again is young again, and numbers are never reused', () => {
    const kept = fresh();
    const { artifacts, clock } = kept;
    const no = put(artifacts, Buffer.from('again'));
    clock.at += 2 * hour;
    expect(put(artifacts, Buffer.from('again'))).toBe(no);
    expect(collect(kept).removed).toBe(0);
    clock.at += 2 * hour;
    expect(collect(kept).removed).toBe(1);
    expect(put(artifacts, Buffer.from('other'))).toBeGreaterThan(no);
    expect(collect(kept).examined).toBe(1);
  });

  test('[S11] chunks stay as long as an object consists of them', () => {
    const kept = fresh();
    const { artifacts, clock } = kept;
    const bytes = noise(1, 2_000_000);
    const [keeps, goes] = [put(artifacts, bytes, { policy: 'pin' }), put(artifacts, Buffer.concat([bytes, noise(2, 500_000)]))];
    drain(artifacts.repack());
    clock.at += 2 * hour;
    expect(collect(kept)).toMatchObject({ examined: 2, removed: 1, kept: { pinned: 1 } });
    expect(() => artifacts.read(goes)).toThrow();
    expect(Buffer.from(artifacts.read(keeps)).equals(bytes)).toBe(true);
    artifacts.setPolicy(keeps, 'default');
    clock.at += 2 * hour;
    expect(collect(kept).removed).toBe(1);
    expect(objectTotals(kept.project.chain)).toEqual({ objects: 0, logical: 0, stored: 0 });
  });

  test('[S11] blocks and packs with mostly garbage are rewritten', () => {
    const kept = fresh();
    const { project, artifacts, clock } = kept;
    const nos = Array.from({ length: 64 }, (_, at) => put(artifacts, prose(at, 4_000), at % 8 ? {} : { policy: 'pin' }));
    drain(artifacts.repack());
    const before = packsOf(project);
    clock.at += 2 * hour;
    expect(collect(kept)).toMatchObject({ removed: 56, kept: { pinned: 8 } });
    expect(packsOf(project)).not.toEqual(before);
    for (let at = 0; at < 64; at += 8) expect(Buffer.from(artifacts.read(nos[at] as ArtifactNo)).equals(prose(at, 4_000))).toBe(true);
    expect(drain(artifacts.repack()).objects).toBe(8);
    for (let at = 0; at < 64; at += 8) expect(Buffer.from(artifacts.read(nos[at] as ArtifactNo)).equals(prose(at, 4_000))).toBe(true);
    expect(project.db.integrity()).toEqual([]);
  });

  test('[S11] a new pack with the number of a removed one is not confused with it', () => {
    const kept = fresh();
    const { project, artifacts, clock } = kept;
    const size = 300_000;
    const first = put(artifacts, noise(1, size));
    const other = openProject(project.dir, clock);
    expect(other.chain.artifacts.read(first)).toHaveLength(size);
    clock.at += 2 * hour;
    collect(kept);
    expect(packsOf(project)).toEqual([]);
    // The next pack gets the number of the removed one.
    const nos = [2, 3, 4, 5].map((seed) => put(artifacts, noise(seed, size), seed === 2 ? { policy: 'pin' } : {}));
    clock.at += 2 * hour;
    expect(collect({ ...kept, artifacts: other.chain.artifacts })).toMatchObject({ removed: 3, kept: { pinned: 1 } });
    expect(Buffer.from(artifacts.read(nos[0] as ArtifactNo)).equals(noise(2, size))).toBe(true);
    expect(Buffer.from(other.chain.artifacts.read(nos[0] as ArtifactNo)).equals(noise(2, size))).toBe(true);
    other.close();
  });

  test('[S12] an ephemeral object of any form expires after its time, and reading it says so', () => {
    const kept = fresh();
    const { artifacts, clock } = kept;
    const bytes = prose(1, 5_000);
    const { no, ref } = artifacts.put(bytes, { contentType: type, policy: 'ephemeral', ttlSeconds: 60 });
    put(artifacts, prose(2, 5_000));
    clock.at += 59_000;
    expect(artifacts.read(no)).toHaveLength(5_000);
    clock.at += 1_000;
    const gone = expect.objectContaining({ code: 'NOT_FOUND', data: { id: ref, reason: 'expired' } });
    expect(() => artifacts.read(no)).toThrow(gone);
    collect(kept);
    expect(() => artifacts.read(no)).toThrow(gone);
    expect(artifacts.put(bytes, { contentType: type })).toMatchObject({ no, existed: false });
    expect(Buffer.from(artifacts.read(no)).equals(bytes)).toBe(true);
  });

  test('[S11, S12] a dry run says what an expiry and a budget would free, and frees nothing', () => {
    const kept = fresh();
    const { artifacts, clock } = kept;
    const soon = artifacts.put(noise(1, 2_000), { contentType: type, policy: 'ephemeral', ttlSeconds: 60 }).no;
    artifacts.putCache(noise(3, 4_000), type);
    clock.at += 30_000;
    for (const after of [0, 40_000, 2 * hour]) {
      clock.at += after;
      put(artifacts, noise(after + 4, 1_000));
      for (const options of [{ budgetBytes: 0 }, { budgetBytes: 2_500 }, {}]) {
        const planned = collect(kept, { ...options, dryRun: true });
        expect(collect(kept, { ...options, dryRun: true }), `${after} ${JSON.stringify(options)}`).toEqual(planned);
        if (after === 0) expect(artifacts.read(soon)).toHaveLength(2_000);
        expect(collect(kept, options), `${after} ${JSON.stringify(options)}`).toEqual(planned);
      }
    }
    expect(() => artifacts.read(soon)).toThrow();
  });

  test('[S12] the longer of two lifetimes counts, and only ephemeral objects have one', () => {
    const kept = fresh();
    const { artifacts, clock } = kept;
    const no = put(artifacts, Buffer.from('a'), { policy: 'ephemeral', ttlSeconds: 60 });
    put(artifacts, Buffer.from('a'), { policy: 'ephemeral', ttlSeconds: 30 });
    expect(artifacts.stat(no)).toMatchObject({ policy: 'ephemeral', expiresAt: '2026-01-01T00:01:00.000Z' });
    put(artifacts, Buffer.from('a'));
    clock.at += 100_000;
    expect(artifacts.read(no)).toHaveLength(1);
    for (const [policy, ttl] of [
      ['ephemeral', undefined],
      ['ephemeral', 0],
      ['pin', 5],
      ['default', 5],
    ] as const)
      expect(() => artifacts.setPolicy(no, policy, ttl)).toThrow(expect.objectContaining({ code: 'BAD_REQUEST', data: { field: 'ttlSeconds' } }));
  });

  test('a pinned cache becomes a stored object', () => {
    const kept = fresh();
    const { no, ref } = kept.artifacts.putCache(Buffer.from('a cache'), type);
    kept.artifacts.setPolicy(no, 'pin');
    rmSync(join(objects(kept.project), 'snapshots', ref.slice(7)));
    expect(Buffer.from(kept.artifacts.read(no)).toString()).toBe('a cache');
  });
});

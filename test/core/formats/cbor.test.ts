import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { bureauAgent, cardbox, events, type Format } from '../../../src/core/formats/index.js';
import { type Cbor, decodeCbor, encodeCbor, readArray, spliceArrays, toJson } from '../../../src/core/formats/shared/cbor.js';

const hex = (value: Cbor): string => Buffer.from(encodeCbor(value)).toString('hex');
const bytes = (text: string): Uint8Array => Buffer.from(text, 'hex');

describe('[F28] the core deterministic encoding', () => {
  // RFC 8949, Appendix A.
  test.each([
    [0, '00'],
    [23, '17'],
    [24, '1818'],
    [1000, '1903e8'],
    [1_000_000, '1a000f4240'],
    [1_000_000_000_000, '1b000000e8d4a51000'],
    [-1, '20'],
    [-1000, '3903e7'],
    [-0, 'f98000'],
    [1.1, 'fb3ff199999999999a'],
    [1.5, 'f93e00'],
    [65504.5, 'fa477fe080'],
    [100000.5, 'fa47c35040'],
    [2 ** -24, 'f90001'],
    [0.00006103515625, 'f90400'],
    [-4.1, 'fbc010666666666666'],
    [1e300, 'fb7e37e43c8800759c'],
    ['ü', '62c3bc'],
    ['𐅑', '64f0908591'],
    [[1, [2, 3], [4, 5]], '8301820203820405'],
    [{ a: 1, b: [2, 3] }, 'a26161016162820203'],
    [null, 'f6'],
    [true, 'f5'],
  ] as [Cbor, string][])('%j is %s', (value, expected) => {
    expect(hex(value)).toBe(expected);
    expect(decodeCbor(bytes(expected))).toEqual(value);
  });

  test('keys are in byte order, and keys without a value are dropped', () => {
    expect(hex({ bb: 1, a: 2, c: undefined, '': 3 })).toBe('a3600361610262626201');
  });

  test('what is written is read, and written again the same', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        const encoded = encodeCbor(value as Cbor);
        const read = decodeCbor(encoded) as Cbor;
        expect(read).toEqual(value);
        expect(encodeCbor(read)).toEqual(encoded);
      }),
    );
  });
});

describe('[F28] CBOR read as JSON', () => {
  test('-0 is 0, a number that JSON lacks is null, a byte string is base64', () => {
    const read = toJson(decodeCbor(encodeCbor({ a: [-0, Number.NaN, Number.NEGATIVE_INFINITY], b: Uint8Array.of(1, 2) })) ?? null);
    expect(read).toEqual({ a: [0, null, null], b: 'AQI=' });
  });

  test('a lone surrogate is written as U+FFFD, because texts are UTF-8', () => {
    expect(decodeCbor(encodeCbor(['a\ud800b', { '\udc00': 1 }]))).toEqual(['a\ufffdb', { '\ufffd': 1 }]);
  });
});

describe('[F28] arrays', () => {
  test('deltas are joined without decoding: one head, unchanged items', () => {
    fc.assert(
      fc.property(fc.array(fc.array(fc.jsonValue({ maxDepth: 2 }), { maxLength: 30 }), { maxLength: 5 }), (deltas) => {
        const spliced = spliceArrays(deltas.map((items) => encodeCbor(items as Cbor)));
        expect(Buffer.from(spliced).equals(Buffer.from(encodeCbor(deltas.flat() as Cbor)))).toBe(true);
      }),
    );
    expect(Buffer.from(spliceArrays([bytes('9f0102ff'), bytes('8103'), new Uint8Array()])).toString('hex')).toBe('83010203');
    expect(Buffer.from(spliceArrays([])).toString('hex')).toBe('80');
  });

  test.each([
    // Some decoders create the object that tag 27 names, and call it.
    ['81d81b82646576616c781f676c6f62616c546869732e70776e65642e707573682827707776656427', 'tag'],
    ['9b7fffffffffffffff', 'ends too early'],
    ['81bb7fffffffffffffff', 'longer than its bytes'],
    ['817b7fffffffffffffff', 'ends too early'],
    [`81${'81'.repeat(200)}`, 'nested deeper'],
    ['81ff', 'stop code in the wrong place'],
    ['81fc', 'invalid head'],
    ['8101ff', 'follow the array'],
    ['a0', 'not a CBOR array'],
  ])('%s is named, and nothing is followed, believed or thrown', (text, reason) => {
    expect(
      readArray(bytes(text))
        .problems.map((problem) => problem.reason)
        .join(),
    ).toContain(reason);
  });

  test('items before a torn item are read', () => {
    const whole = encodeCbor(['one', 'two', 'three']);
    const torn = readArray(whole.subarray(0, whole.length - 1));
    expect(torn.items.map(({ value }) => value)).toEqual(['one', 'two']);
    expect(torn.problems).toMatchObject([{ line: 3 }]);
  });

  test('keys such as __proto__ are data', () => {
    const read = decodeCbor(encodeCbor(JSON.parse('{"__proto__": {"polluted": true}}') as Cbor));
    expect(Object.keys(read as object)).toEqual(['__proto__']);
    expect(({} as { polluted?: boolean }).polluted).toBeUndefined();
  });
});

/** An array without items, with its length in as many bytes as its head says, or an open one. */
const mayBeEmptyArray = ([first = 0, ...rest]: Uint8Array): boolean =>
  first === 0x80 || first === 0x9f || (first >= 0x98 && first <= 0x9b && rest.slice(0, 2 ** (first - 0x98)).every((byte) => byte === 0));

describe('[F10] [F28] the formats in CBOR', () => {
  test.each([bureauAgent, events, cardbox].map((format) => [format.id, format] as [string, Format]))(
    '%s reads whatever bytes there are without a throw, and names what it could not',
    (_, format) => {
      fc.assert(
        fc.property(fc.uint8Array({ maxLength: 200 }), (noise) => {
          const { entries, problems } = format.parse(noise);
          if (noise.some((byte) => byte > 0x20)) expect(entries.length + problems.length).toBeGreaterThanOrEqual(mayBeEmptyArray(noise) ? 0 : 1);
          format.recognize(noise, 'x');
        }),
      );
    },
  );
});

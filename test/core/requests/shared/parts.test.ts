import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { canonicalJson, type Json } from '../../../../src/core/base/index.js';
import { inOrder } from '../../../../src/core/requests/shared/canonical.js';
import { canonicalOrder, membersAt, membersUntil, placesAt } from '../../../../src/core/requests/shared/json-ranges.js';
import { copyCanonicals, listText, openPage, textAt, writePage } from '../../../../src/core/requests/shared/pages.js';
import { packNumbers, unpackNumbers } from '../../../../src/core/requests/shared/varints.js';

const bytes = (text: string): Buffer => Buffer.from(text);
const slice = (text: Buffer, { start, end }: { start: number; end: number }): string => text.subarray(start, end).toString();

describe('canonical JSON by ranges', () => {
  test('what is found is the canonical form, whatever the value', { tags: 'long' }, () => {
    fc.assert(
      fc.property(fc.jsonValue({ noUnicodeString: false, maxDepth: 6 }), (value) => {
        const text = bytes(JSON.stringify(value));
        const order = canonicalOrder(text, 'cache_control');
        expect(order && Buffer.from(inOrder(text, order)).toString()).toBe(canonicalJson(JSON.parse(text.toString()) as Json));
      }),
      { numRuns: 500 },
    );
  });

  test.each([
    ['{"b":1,"\\u0061":2}', '{"\\u0061":2,"b":1}'],
    ['{"é":1,"z":2}', '{"z":2,"é":1}'],
    ['{"\u{10000}":1,"\uffff":2}', '{"\u{10000}":1,"\uffff":2}'],
    ['{"10":1,"9":2}', '{"10":1,"9":2}'],
    ['{"b":"a\\\\","a":"\\""}', '{"a":"\\"","b":"a\\\\"}'],
  ])('keys of %s are sorted by UTF-16 code unit, as they read', (text, canonical) => {
    const order = canonicalOrder(bytes(text), 'cache_control');
    expect(order && Buffer.from(inOrder(bytes(text), order)).toString()).toBe(canonical);
  });

  test.each([
    ['{"a": 1}'],
    ['{"a":1,"a":2}'],
    ['{"a":1'],
    ['{"a"}'],
    ['["a"'],
    ['"a'],
    ['{"a":1}x'],
    ['{"a":nul!}'],
    [''],
    ['{"b":1,"a":{"cache_control":1}}'],
    ['{"b":1,"cache\\u005fcontrol":1}'],
    [`${'['.repeat(1_000)}${']'.repeat(1_000)}`],
  ])('of %.40s no form is found by ranges', (text) => {
    expect(canonicalOrder(bytes(text), 'cache_control')).toBeUndefined();
  });

  test('members and elements are found where they stand; the last of a key counts', () => {
    const text = bytes('{"type":"x","list":[1,"]",{"a":[]}],"type":"y"}');
    const members = membersAt(text, 0);
    expect(members && [...members].map(([key, range]) => [key, slice(text, range)])).toEqual([
      ['type', '"y"'],
      ['list', '[1,"]",{"a":[]}]'],
    ]);
    expect(placesAt(text, 0, [{ key: 'list', isList: true }])?.elements?.map((range) => slice(text, range))).toEqual(['1', '"]"', '{"a":[]}']);
    expect(membersAt(text, 0, ['list'])?.size).toBe(1);
  });

  test('members of members are found in one pass, by their paths', () => {
    const text = bytes('{"id":0,"message":{"id":1,"more":{"id":2},"content":[[],{}]},"type":"a"}');
    const places = placesAt(text, 0, [{ key: 'message', inner: [{ key: 'id' }, { key: 'content', isList: true }] }, { key: 'type' }]);
    const found = [...(places?.ranges ?? [])].map(([path, range]) => [path, slice(text, range)]);
    expect(Object.fromEntries(found)).toEqual({
      'message.id': '1',
      'message.content': '[[],{}]',
      message: '{"id":1,"more":{"id":2},"content":[[],{}]}',
      type: '"a"',
    });
    expect(places?.elements?.map((range) => slice(text, range))).toEqual(['[]', '{}']);
    expect(placesAt(bytes('{"message":{"id":1}'), 0, [{ key: 'message', inner: [{ key: 'id' }] }])).toBeUndefined();
  });

  test('text after a member is not read where only earlier members are wanted', () => {
    const text = bytes('{"hash":"h","other":[1],"message":{"a":1},nonsense');
    const until = membersUntil(text, 0, ['hash', 'later'], 'message');
    expect(until && [...until.members].map(([key, range]) => [key, slice(text, range)])).toEqual([['hash', '"h"']]);
    expect(text.subarray(until?.valueStart).toString()).toBe('{"a":1},nonsense');
    expect(membersUntil(bytes('{"hash":"h"}'), 0, ['hash'], 'message')).toBeUndefined();
  });
});

describe('pages', () => {
  test('texts and their canonical forms come back, from any place in memory', () => {
    fc.assert(
      fc.property(fc.array(fc.jsonValue(), { maxLength: 20 }), fc.nat(7), (values, shift) => {
        const texts = values.map((value) => {
          const text = bytes(JSON.stringify(value));
          return { text, order: canonicalOrder(text, 'cache_control') };
        });
        const written = writePage(texts);
        const moved = Buffer.alloc(written.length + shift).subarray(shift);
        written.copy(moved);
        const page = openPage(moved);
        expect(page.count).toBe(values.length);
        expect(values.length === 0 ? [] : JSON.parse(listText(page, 0, values.length))).toEqual(JSON.parse(JSON.stringify(values)));
        values.forEach((value, index) => {
          const text = JSON.stringify(value);
          expect(Buffer.from(textAt(page, index)).toString()).toBe(text);
          const target = Buffer.alloc(page.bytes.length);
          const { end, stoppedAt } = copyCanonicals(page, index, index + 1, target);
          expect(stoppedAt).toBe(texts[index]?.order ? index + 1 : index);
          expect(target.subarray(0, end).toString()).toBe(texts[index]?.order ? `,${canonicalJson(JSON.parse(text) as Json)}` : '');
        });
      }),
    );
  });

  test('lists of numbers come back, in about a byte each where they go up by one', () => {
    fc.assert(
      fc.property(fc.array(fc.integer({ min: -(2 ** 40), max: 2 ** 40 })), (numbers) => {
        expect(unpackNumbers(packNumbers(numbers))).toEqual(numbers);
      }),
    );
    expect(packNumbers(Array.from({ length: 2_000 }, (_, index) => 5_000 + index)).length).toBeLessThan(2_010);
  });
});

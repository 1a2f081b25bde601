import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { canonicalJson, parseJson } from '../../../src/core/base/index.js';

describe('canonical JSON', () => {
  test('-0 is written as 0 at every position', () => {
    expect(canonicalJson(-0)).toBe('0');
    expect(canonicalJson({ b: [-0, { c: -0 }], a: 0 })).toBe('{"a":0,"b":[0,{"c":0}]}');
  });

  test('a lone surrogate is written as its escape, so that texts that differ stay different', () => {
    expect(canonicalJson('\ud800')).toBe('"\\ud800"');
    expect(canonicalJson('\ud800')).not.toBe(canonicalJson('\ufffd'));
    expect(canonicalJson('😀')).toBe('"😀"');
  });

  test('keys are sorted by code unit, and members without a value are left out', () => {
    expect(canonicalJson({ '\u{1f600}': 1, '\uffff': 2, a: undefined as unknown as null, Z: 3 })).toBe('{"Z":3,"😀":1,"\uffff":2}');
  });
});

describe('parsed JSON', () => {
  test('every JSON text is read, with white space around it, and a torn one is refused', () => {
    const space = fc.stringMatching(/^[ \t\r\n]{0,3}$/);
    fc.assert(
      fc.property(fc.json(), space, space, fc.nat(), (text, before, after, cut) => {
        expect(parseJson(before + text + after)).toEqual(JSON.parse(text));
        const torn = text.slice(0, cut % text.length);
        expect(parseJson(torn)).toEqual(read(torn));
      }),
    );
    for (const text of ['', ' ', '{', '[', '{"a":', '[]]', 'nul', '1.', '\u00a0', '[]\u00a0']) expect(parseJson(text), text).toBeUndefined();
  });
});

function read(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

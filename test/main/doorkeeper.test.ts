import { describe, expect, test } from 'vitest';
import { foreign, isKnown } from '../../src/main/web/doorkeeper.js';
import { isLoopback } from '../../src/main/web/index.js';

const door = { port: 4000, token: 'the-token', session: 'the-session' };
const host = '127.0.0.1:4000';

describe('who is let in', () => {
  test.each(['127.0.0.1:4000', 'localhost:4000', '[::1]:4000'])('the host %s is ours', (ours) =>
    expect(foreign({ host: ours }, door)).toBeUndefined(),
  );

  test.each([undefined, '', 'localhost', '127.0.0.1:4001', 'evil.example:4000', 'localhost.evil.example:4000', '0.0.0.0:4000'])(
    'the host %s is foreign',
    (other) => expect(foreign({ host: other }, door)).toBeTypeOf('string'),
  );

  test.each(['http://evil.example', 'null', 'https://127.0.0.1:4000', 'http://127.0.0.1:4001', 'http://127.0.0.1', ''])(
    'a page of %s is foreign',
    (origin) => expect(foreign({ host, origin }, door)).toBeTypeOf('string'),
  );

  test.each(['cross-site', 'same-site'])('a request that the browser calls %s is foreign', (site) =>
    expect(foreign({ host, 'sec-fetch-site': site }, door)).toBeTypeOf('string'),
  );

  test('our own page and a typed address are not', () => {
    expect(foreign({ host, origin: 'http://127.0.0.1:4000', 'sec-fetch-site': 'same-origin' }, door)).toBeUndefined();
    expect(foreign({ host, 'sec-fetch-site': 'none' }, door)).toBeUndefined();
  });

  test('the token is known as a bearer, the session as a cookie, and neither in the place of the other', () => {
    expect(isKnown({ authorization: 'Bearer the-token' }, door)).toBe(true);
    expect(isKnown({ cookie: 'other=1; stemma-4000=the-session' }, door)).toBe(true);
    expect(isKnown({ authorization: 'Bearer the-session' }, door)).toBe(false);
    expect(isKnown({ cookie: 'stemma-4000=the-token' }, door)).toBe(false);
    expect(isKnown({ cookie: 'stemma-4001=the-session' }, door)).toBe(false);
    expect(isKnown({ authorization: 'Bearer the-toke' }, door)).toBe(false);
    expect(isKnown({ authorization: 'Basic the-token' }, door)).toBe(false);
    // A wrong bearer is not made good by a cookie that somebody else's page could bring along.
    expect(isKnown({ authorization: 'Bearer no', cookie: 'stemma-4000=the-session' }, door)).toBe(false);
    expect(isKnown({}, door)).toBe(false);
  });

  test('only loopback addresses are loopback', () => {
    expect(['127.0.0.1', '127.1.2.3', '::1', 'localhost'].filter((address) => !isLoopback(address))).toEqual([]);
    expect(['0.0.0.0', '::', '', '192.168.0.1', '127.0.0.1.evil.example', 'localhost.', 'example.com'].filter(isLoopback)).toEqual([]);
  });
});

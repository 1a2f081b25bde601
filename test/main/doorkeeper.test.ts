import { describe, expect, test } from 'vitest';
import { findCaller, mayAct, refuseForeign } from '../../src/main/web/doorkeeper.js';
import { isLoopback } from '../../src/main/web/index.js';
import { linkCodes, linkLifetime } from '../../src/main/web/link.js';

const port = 4000;
const door = { port, bearer: 'the-bearer', sessions: new Set(['a-session', 'another-session']) };
const host = '127.0.0.1:4000';

describe('requests of other hosts and pages', () => {
  test.each(['127.0.0.1:4000', 'localhost:4000', '[::1]:4000'])('accepts the host %s', (ours) =>
    expect(refuseForeign({ host: ours }, port)).toBeUndefined(),
  );

  test.each([undefined, '', 'localhost', '127.0.0.1:4001', 'evil.example:4000', 'localhost.evil.example:4000', '0.0.0.0:4000'])(
    'refuses the host %s',
    (other) => expect(refuseForeign({ host: other }, port)).toBeTypeOf('string'),
  );

  test.each([
    'http://evil.example',
    'null',
    'https://127.0.0.1:4000',
    'http://127.0.0.1:4001',
    'http://127.0.0.1',
    '',
    // Another server may listen on the same port of another loopback address.
    'http://localhost:4000',
    'http://[::1]:4000',
  ])('refuses a page of %s', (origin) => expect(refuseForeign({ host, origin }, port)).toBeTypeOf('string'));

  test.each(['cross-site', 'same-site'])('refuses a request that the browser calls %s', (site) =>
    expect(refuseForeign({ host, 'sec-fetch-site': site }, port)).toBeTypeOf('string'),
  );

  test('accepts its own page and a typed address', () => {
    expect(refuseForeign({ host, origin: 'http://127.0.0.1:4000', 'sec-fetch-site': 'same-origin' }, port)).toBeUndefined();
    expect(refuseForeign({ host, 'sec-fetch-site': 'none' }, port)).toBeUndefined();
  });
});

describe('callers', () => {
  test('the bearer is a script, a session is a window, and neither works in the place of the other', () => {
    expect(findCaller({ authorization: 'Bearer the-bearer' }, door)).toBe('script');
    expect(findCaller({ cookie: 'other=1; stemma-4000=a-session' }, door)).toBe('window');
    expect(findCaller({ cookie: 'stemma-4000=another-session' }, door)).toBe('window');
    expect(findCaller({ authorization: 'Bearer a-session' }, door)).toBeUndefined();
    expect(findCaller({ cookie: 'stemma-4000=the-bearer' }, door)).toBeUndefined();
    expect(findCaller({ cookie: 'stemma-4001=a-session' }, door)).toBeUndefined();
    expect(findCaller({ authorization: 'Bearer the-beare' }, door)).toBeUndefined();
    expect(findCaller({ authorization: 'Basic the-bearer' }, door)).toBeUndefined();
    expect(findCaller({}, door)).toBeUndefined();
  });

  test('a wrong bearer is not made good by a cookie that the browser adds', () => {
    expect(findCaller({ authorization: 'Bearer no', cookie: 'stemma-4000=a-session' }, door)).toBeUndefined();
  });

  test('without a bearer, no authorization is accepted', () => {
    for (const authorization of ['Bearer ', 'Bearer undefined', '', 'Bearer the-bearer'])
      expect(findCaller({ authorization }, { ...door, bearer: undefined })).toBeUndefined();
  });

  test('a window must name its Origin to act, a script need not', () => {
    expect(mayAct('window', { origin: 'http://127.0.0.1:4000' })).toBe(true);
    expect(mayAct('window', {})).toBe(false);
    expect(mayAct('script', {})).toBe(true);
  });

  test('only loopback addresses are loopback', () => {
    expect(['127.0.0.1', '127.1.2.3', '::1', 'localhost'].filter((address) => !isLoopback(address))).toEqual([]);
    expect(['0.0.0.0', '::', '', '192.168.0.1', '127.0.0.1.evil.example', 'localhost.', 'example.com'].filter(isLoopback)).toEqual([]);
  });
});

describe('[T41] codes of links', () => {
  test('a code works once, and only until it expires or another one is made', () => {
    let now = 0;
    const links = linkCodes(() => now);
    const first = links.current() ?? '';
    expect([links.take('none'), links.take(first), links.take(first), links.current()]).toEqual(['unknown', 'current', 'used', undefined]);
    const second = links.renew();
    const third = links.renew();
    expect([links.take(second), links.current()]).toEqual(['expired', third]);
    now = linkLifetime - 1;
    expect(links.current()).toBe(third);
    now = linkLifetime;
    expect([links.current(), links.take(third), links.take(first)]).toEqual([undefined, 'expired', 'used']);
  });
});

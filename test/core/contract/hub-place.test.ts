import { expect, test } from 'vitest';
import { hubPlaceOf } from '../../../src/core/contract/index.js';

test('[E20] an address of a hub names its project, and a share link its token too', () => {
  expect(hubPlaceOf('https://hub.example/web-shop')).toEqual({ hub: 'https://hub.example', project: 'web-shop' });
  expect(hubPlaceOf('http://127.0.0.1:8080/team/web-shop/')).toEqual({ hub: 'http://127.0.0.1:8080/team', project: 'web-shop' });
  expect(hubPlaceOf('https://hub.example/share/web-shop/stm_x-Y_1')).toEqual({ hub: 'https://hub.example', project: 'web-shop', token: 'stm_x-Y_1' });
  for (const text of ['', 'web-shop', 'https://hub.example', 'https://hub.example/', 'ftp://hub.example/a', 'https:///a'])
    expect(hubPlaceOf(text), text).toBeUndefined();
});

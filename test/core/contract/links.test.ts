import { describe, expect, test } from 'vitest';
import { commitLink, deepLinkOf } from '../../../src/core/contract/index.js';

const project = '7826ba70-da8e-48c0-9387-eb5ed3a14be1';
const share = 'https://hub.example/share/web-shop/stm_abc';

describe('links', () => {
  test('[D7] a link names a commit, a session or a share', () => {
    expect(deepLinkOf(`stemma://commit/ctx-3f9a12c4?project=${project}`)).toEqual({ kind: 'commit', commit: 'ctx-3f9a12c4', project });
    expect(deepLinkOf('stemma://commit/ctx-3f9a12c4')).toEqual({ kind: 'commit', commit: 'ctx-3f9a12c4', project: undefined });
    expect(deepLinkOf(`stemma://session/ses_1%2F2?project=${project}`)).toEqual({ kind: 'session', session: 'ses_1/2', project });
    expect(deepLinkOf(`stemma://share?link=${encodeURIComponent(share)}`)).toEqual({ kind: 'share', share });
    expect(deepLinkOf(commitLink('ctx-3f9a12c4', project))).toMatchObject({ kind: 'commit', project });
  });

  test.each([
    '',
    'stemma:',
    'stemma://',
    'https://hub.example/',
    'stemma://run/ctx-3f9a12c4',
    'stemma://commit/',
    'stemma://commit/ctx-zz',
    'stemma://commit/../../etc/passwd',
    'stemma://commit/ctx-3f9a12c4?project=/home/me/other.stemma',
    'stemma://commit/ctx-3f9a12c4?project=..%2Fother.stemma',
    `stemma://commit/ctx-3f9a12c4?project=${project}&dir=/tmp`,
    `stemma://commit/ctx-3f9a12c4?project=${project}&project=${project}`,
    'stemma://commit/ctx-3f9a12c4?dir=%2Ftmp%2Fx.stemma',
    'stemma://commit/ctx-3f9a12c4#/settings',
    'stemma://me@commit/ctx-3f9a12c4',
    'stemma://commit:80/ctx-3f9a12c4',
    'stemma://session/a%00b',
    'stemma://session/%E0%A4%A',
    'stemma://session/a\nb',
    'stemma://session/',
    `stemma://session/${'a'.repeat(201)}`,
    `stemma://share?link=${encodeURIComponent(share.replace('https', 'http'))}`,
    'stemma://share?link=https%3A%2F%2Fhub.example%2Fweb-shop',
    'stemma://share?link=file%3A%2F%2F%2Fetc%2Fshare%2Fa%2Fb',
    `stemma://share/x?link=${encodeURIComponent(share)}`,
    'stemma://share?project=x',
    ` stemma://commit/ctx-3f9a12c4`,
    `stemma://commit/ctx-${'a'.repeat(3_000)}`,
  ])('[D7] %j is no link', (text) => {
    expect(deepLinkOf(text)).toBeUndefined();
  });
});

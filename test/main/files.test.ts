import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { answerFor, fileAt } from '../../src/main/window/files.js';
import { scratch } from '../support/project.js';

const root = '/srv/window';

describe('files of the window', () => {
  test('the root is the page; assets are below it', () => {
    expect(fileAt(root, '/')).toBe('/srv/window/index.html');
    expect(fileAt(root, '/assets/index-1.js')).toBe('/srv/window/assets/index-1.js');
  });

  test.each([
    '/../package.json',
    '/assets/../../package.json',
    '/%2e%2e/package.json',
    '/..%2f..%2fpackage.json',
    '/..\\..\\package.json',
    '/%5c..%5cpackage.json',
    '/.git/config.json',
    '/C:/windows.json',
    '/index.html%00.js',
    '/%',
    '/stemma.db',
    '/index',
  ])('%s names no file of the window', (path) => expect(fileAt(root, path)).toBeUndefined());

  test('every answer is a file below the root', () => {
    const part = fc.oneof(fc.constantFrom('..', '.', '%2e%2e', '%2f', '\\', '//', 'assets', 'index.html', '%c0%ae'), fc.string());
    fc.assert(
      fc.property(fc.array(part), (parts) => {
        const path = fileAt(root, `/${parts.join('/')}`);
        expect(path === undefined || path.startsWith(`${root}/`)).toBe(true);
        expect(path?.split('/').includes('..') ?? false).toBe(false);
      }),
    );
  });

  test('a built file has the policy and its type; a missing one is 404', async () => {
    const dir = scratch();
    mkdirSync(join(dir, 'assets'));
    writeFileSync(join(dir, 'index.html'), '<p>page');
    writeFileSync(join(dir, 'assets', 'a-1.js'), 'script');
    const page = await answerFor(dir, '/');
    expect(page.status).toBe(200);
    expect(Buffer.from(page.body).toString()).toBe('<p>page');
    expect(page.headers).toMatchObject({
      'content-type': 'text/html; charset=utf-8',
      'cache-control': 'no-store',
      'x-content-type-options': 'nosniff',
    });
    expect(page.headers['content-security-policy']).toContain("script-src 'self'");
    expect((await answerFor(dir, '/assets/a-1.js')).headers['cache-control']).toContain('immutable');
    expect((await answerFor(dir, '/assets/b.js')).status).toBe(404);
  });
});

import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { filesBelow, lineAt, root, textAt } from '../support/source.js';

/** Hosts that a source may contain: this machine, reserved names, and names of XML vocabularies. */
const harmlessHosts = /^(127\.0\.0\.1|\[::1\]|[\w-]+|([\w-]+\.)*(example(\.(com|org|net))?|invalid|test)|www\.w3\.org)$/;

/** Hosts that a file contains on purpose. Stemma calls them only with a key that a person gave. */
const named: readonly { readonly file: string; readonly host: string; readonly because: string }[] = [
  { file: 'src/main/providers/addresses.ts', host: 'api.anthropic.com', because: 'with the default address, a key is all that is needed' },
  { file: 'src/main/providers/addresses.ts', host: 'api.openai.com', because: 'the same; and an agent that is recorded asks for it to be called' },
  { file: 'src/main/providers/addresses.ts', host: 'generativelanguage.googleapis.com', because: 'the same' },
];

const texts = [...['src', 'test', 'resources', 'docs', '.ci'].flatMap((folder) => filesBelow(folder, isText)), ...readdirSync(root).filter(isText)];
function isText(path: string): boolean {
  return (
    /\.(tsx?|mts|mjs|cjs|js|json|css|html|svg|md|ya?ml)$|\.ci\/run$/.test(path) &&
    !path.endsWith('package-lock.json') &&
    !path.startsWith('test/vectors/')
  );
}

/** The hosts of URLs in any text, without template expressions. */
const hostsIn = (text: string): { host: string; line: number }[] =>
  [...text.matchAll(/\b(?:https?|wss?):\/\/(\[[0-9a-f:]+\]|[a-z0-9][a-z0-9.-]*)/gi)].map((match) => ({
    host: (match[1] ?? '').toLowerCase().replace(/\.$/, ''),
    line: lineAt(text, match.index),
  }));

/** Folders with an `index.ts`: every folder of core, and others that have one. */
const doors = [...filesBelow('src', (path) => /\/index\.tsx?$/.test(path))];

describe('sources', () => {
  test('contain no public host', () => {
    const found = texts.flatMap((path) =>
      hostsIn(textAt(path)).flatMap(({ host, line }) =>
        harmlessHosts.test(host) || named.some((one) => one.file === path && one.host === host) ? [] : [`${path}:${line} ${host}`],
      ),
    );
    expect(found).toEqual([]);
  });

  test('every exception is needed', () => {
    expect(named.filter(({ file, host }) => !hostsIn(textAt(file)).some((one) => one.host === host))).toEqual([]);
  });

  test('every folder of core has an index.ts', () => {
    const folders = new Set(filesBelow('src/core').flatMap((path) => /^(src\/core\/[^/]+)\//.exec(path)?.[1] ?? []));
    expect([...folders].filter((folder) => !doors.includes(`${folder}/index.ts`))).toEqual([]);
  });

  test('every index.ts begins with a comment about its folder', () => {
    const bare = doors.filter((path) => {
      const lines = textAt(path).split('\n');
      return !lines.slice(0, 3).every((line) => line.startsWith('// ')) || lines[3]?.startsWith('//');
    });
    expect(bare).toEqual([]);
  });

  test('package.json has exact versions, and there is one lock', () => {
    const { dependencies, devDependencies } = JSON.parse(textAt('package.json')) as Record<string, Record<string, string>>;
    const loose = Object.entries({ ...dependencies, ...devDependencies }).filter(
      ([, version]) => !/^(\d+\.\d+\.\d+(-[\w.]+)?|file:src\/[\w/]+)$/.test(version),
    );
    expect(loose).toEqual([]);
    expect(readdirSync(join(root)).filter((name) => /^(yarn\.lock|pnpm-lock\.yaml|bun\.lockb?)$/.test(name))).toEqual([]);
  });

  test('these checks can fail', () => {
    const bad = ['https:', '//registry.of.something.org/x'].join('');
    expect(hostsIn(`see ${bad} and http://127.0.0.1:8080`).map(({ host }) => [host, harmlessHosts.test(host)])).toEqual([
      ['registry.of.something.org', false],
      ['127.0.0.1', true],
    ]);
  });
});

import { generateKeyPairSync } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { verifiedText } from '../../src/main/electron/signature.js';
import { notesOf, signatureOf } from '../../src/main/start/release.js';
import { filesBelow, textAt } from '../support/source.js';

const { version } = JSON.parse(textAt('package.json')) as { version: string };
const workflows = filesBelow('.github/workflows', (path) => path.endsWith('.yml'));

describe('a release', () => {
  test('the tag, the manifest and the changelog name the same version', () => {
    const changelog = '# Changelog\n\n## [Unreleased]\n\n## [1.2.0] - 2026-01-02\n\n### Fixed\n\n- A fault.\n\n## [1.1.0] - 2026-01-01\n\n- Old.\n';
    expect(notesOf('v1.2.0', '1.2.0', changelog)).toBe('### Fixed\n\n- A fault.\n');
    expect(() => notesOf('v1.2.0', '1.3.0', changelog)).toThrow('v1.3.0');
    expect(() => notesOf('v1.3.0', '1.3.0', changelog)).toThrow('no notes under "## [1.3.0]');
    expect(() => notesOf('v1.0', '1.0', changelog)).toThrow('no notes');
    expect(notesOf(`v${version}`, version, textAt('CHANGELOG.md'))).toContain('###');
  });

  test('[D13] what a release signs is what the app proves', () => {
    const pem = generateKeyPairSync('ed25519').privateKey.export({ format: 'pem', type: 'pkcs8' }).toString();
    const { signature, key } = signatureOf('version: 9.0.0\n', pem);
    expect(verifiedText('version: 9.0.0\n', signature, key)).toBe('version: 9.0.0\n');
    const rsa = generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey.export({ format: 'pem', type: 'pkcs8' }).toString();
    expect(() => signatureOf('', rsa)).toThrow('Ed25519');
  });

  test.each(workflows)('%s pins its actions by commit and starts with the right to read', (path) => {
    const text = textAt(path);
    const uses = [...text.matchAll(/uses: (\S+)(.*)/g)];
    expect(uses.length).toBeGreaterThan(0);
    expect(uses.filter(([, name = '', rest = '']) => !/@[0-9a-f]{40}$/.test(name) || !/# v\d/.test(rest)).map(([line]) => line)).toEqual([]);
    expect(text).toMatch(/^permissions:\n {2}contents: read\n/m);
    expect(text).not.toContain('pull_request_target');
    // Text of a pull request must not become part of a script.
    expect([...text.matchAll(/run: .*\$\{\{/g)]).toEqual([]);
  });
});

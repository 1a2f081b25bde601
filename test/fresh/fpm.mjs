#!/usr/bin/env node
/**
 * A stand-in for fpm, which no registry here has: makes a deb of what electron-builder gives fpm, with Debian's dpkg-deb. electron-builder starts it as
 * CUSTOM_FPM_PATH. It knows the options that electron-builder uses, refuses all others, and writes the fields that fpm writes.
 */
import { execFileSync } from 'node:child_process';
import { chmodSync, cpSync, lstatSync, mkdirSync, mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { parseArgs } from 'node:util';

const text = { type: 'string' };
const names =
  'architecture after-install after-remove description version package name maintainer vendor url category license deb-priority deb-compression';
const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    ...Object.fromEntries(names.split(' ').map((name) => [name, text])),
    source: { ...text, short: 's' },
    target: { ...text, short: 't' },
    depends: { ...text, short: 'd', multiple: true },
    'deb-recommends': { ...text, multiple: true },
    force: { type: 'boolean' },
  },
});
if (values.source !== 'dir' || values.target !== 'deb') throw new Error(`This makes a deb of folders, and no ${values.target} of ${values.source}.`);

const stage = mkdtempSync(join(tmpdir(), 'fpm-'));
chmodSync(stage, 0o755);
for (const pair of positionals) {
  const at = pair.indexOf('=');
  const [from, to] = [pair.slice(0, at), join(stage, pair.slice(at + 1))];
  mkdirSync(dirname(to), { recursive: true });
  cpSync(from, to, { recursive: true, preserveTimestamps: true, verbatimSymlinks: true });
}

/** The kilobytes of all files. */
const kilobytes = readdirSync(stage, { recursive: true })
  .map((name) => lstatSync(join(stage, name)))
  .reduce((sum, file) => sum + Math.ceil(file.size / 1_024), 0);

const [synopsis = '', ...more] = values.description.split('\n').map((line) => line.trim());
const fields = {
  Package: values.name,
  Version: values.version,
  License: values.license,
  Vendor: values.vendor,
  Architecture: values.architecture,
  Maintainer: values.maintainer,
  'Installed-Size': kilobytes,
  Depends: values.depends?.join(', '),
  Recommends: values['deb-recommends']?.join(', '),
  Section: values.category,
  Priority: values['deb-priority'],
  Homepage: values.url,
  Description: [synopsis, ...more.map((line) => ` ${line || '.'}`)].join('\n'),
};
const control = join(stage, 'DEBIAN');
mkdirSync(control);
const lines = Object.entries(fields).flatMap(([name, value]) => (value === undefined ? [] : [`${name}: ${value}`]));
writeFileSync(join(control, 'control'), `${lines.join('\n')}\n`);
for (const [option, name] of [
  ['after-install', 'postinst'],
  ['after-remove', 'postrm'],
]) {
  if (values[option] === undefined) continue;
  cpSync(values[option], join(control, name));
  chmodSync(join(control, name), 0o755);
}
// Folders that npm's umask made private would be private for everybody.
for (const name of readdirSync(stage, { recursive: true })) if (statSync(join(stage, name)).isDirectory()) chmodSync(join(stage, name), 0o755);
rmSync(values.package, { force: true });
execFileSync('dpkg-deb', ['--root-owner-group', '-Z', values['deb-compression'] ?? 'xz', '-z1', '--build', stage, values.package], {
  stdio: 'inherit',
});
rmSync(stage, { recursive: true });

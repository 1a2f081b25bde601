import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { systemClock } from '../../../src/core/base/index.js';
import { checkpoint, show } from '../../../src/core/chain/index.js';
import { atOnce, checkProject, createProject, openProject } from '../../../src/core/project/index.js';
import { prompt } from '../../support/claude-lines.js';
import { scratch, trustEverything } from '../../support/project.js';
import { refusal } from '../../support/refusal.js';

function made() {
  const dir = join(scratch(), 'p.stemma');
  const project = createProject({ dir, name: 'Mine' }, systemClock);
  const text = prompt('u1', 'question');
  const { id } = checkpoint(project.chain, { parent: null, type: 'delta', format: 'claude-code-v1', text, template: 't', checkpoint: 'explicit' });
  project.close();
  return { dir, id, file: join(dir, 'project.json'), before: readFileSync(join(dir, 'project.json'), 'utf8') };
}

const damages: readonly (readonly [string, (file: string) => void])[] = [
  ['is missing', (file) => rmSync(file)],
  ['is empty', (file) => writeFileSync(file, '')],
  ['contains zeros', (file) => writeFileSync(file, Buffer.alloc(200))],
  ['ends early', (file) => writeFileSync(file, readFileSync(file).subarray(0, 40))],
];

test.each(damages)('[T32] a project.json that %s is restored from the database', (_, damage) => {
  const { dir, id, file, before } = made();
  damage(file);
  const project = openProject(dir, systemClock);
  onTestFinished(() => project.close());
  expect(readFileSync(file, 'utf8')).toBe(before);
  expect(show(project.chain, id).id).toBe(id);
  expect(project.name).toBe('Mine');
  expect(atOnce(checkProject(project)).problems).toEqual([]);
});

test('[T32] a read-only project opens without project.json and does not get one', () => {
  const { dir, id, file } = made();
  rmSync(file);
  const trusted = { ...trustEverything, has: () => false };
  const project = openProject(dir, systemClock, { replicas: { of: () => new Map(), set: () => {} }, trusted });
  onTestFinished(() => project.close());
  expect(show(project.chain, id).id).toBe(id);
  expect(existsSync(file)).toBe(false);
});

test('[T32] a folder is refused if neither manifest nor database names the project', () => {
  const { dir, file } = made();
  rmSync(file);
  writeFileSync(join(dir, 'stemma.db'), '');
  expect(refusal(() => openProject(dir, systemClock))).toMatchObject({ code: 'CORRUPT', message: expect.stringContaining('project.json') });
  rmSync(join(dir, 'stemma.db'));
  expect(refusal(() => openProject(dir, systemClock))).toMatchObject({ code: 'NOT_FOUND' });
});

import { statSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { ContextId } from '../../../src/core/base/index.js';
import { materialize, materializedBytes } from '../../../src/core/chain/index.js';
import { importPaths } from '../../../src/core/import/index.js';
import { atOnce, createProject, projectInfo, storageOf } from '../../../src/core/project/index.js';
import { filesOf } from '../../support/agents.js';
import { root } from '../../support/machine.js';
import { emptyProject, heldClock, scratch } from '../../support/project.js';

test('[S17] the parts add up to the size of the folder without the journal', () => {
  const project = createProject({ dir: join(scratch(), 'test') }, heldClock(Date.now()));
  const { artifacts } = project.chain;
  atOnce(importPaths(project.chain, { paths: [join(root, 'resources/sample')] }));
  const before = atOnce(storageOf(project));
  for (const { bytes } of [before].flatMap(({ disk }) => disk).filter(({ area }) => ['content', 'search', 'reading', 'history'].includes(area)))
    expect(bytes).toBeGreaterThan(0);
  const sumOf = ({ disk }: typeof before): number => disk.reduce((sum, { area, bytes }) => (area === 'journal' ? sum : sum + bytes), 0);
  expect(sumOf(before)).toBe(projectInfo(project.reading()).bytes.stored);
  expect(before.logical).toBe(projectInfo(project.reading()).bytes.logical);
  atOnce(artifacts.repack());
  const after = atOnce(storageOf(project));
  expect(sumOf(after)).toBe(projectInfo(project.reading()).bytes.stored);
  expect(after.logical).toBe(before.logical);
  expect(after.disk.find(({ area }) => area === 'journal')?.bytes).toBeGreaterThan(0);
  project.close();
  expect(sumOf(after)).toBe(filesOf(project.dir, /(?<!-seal)$/).reduce((sum, path) => sum + statSync(path).size, 0));
});

test('[S11] [S17] caches are counted, dropped, and rebuilt with the same bytes', () => {
  const project = emptyProject(heldClock(Date.now()));
  const { chain } = project;
  atOnce(importPaths(chain, { paths: [join(root, 'resources/sample')] }));
  const cached = () => atOnce(storageOf(project)).disk.find(({ area }) => area === 'caches')?.bytes;
  const { id } = chain.db.one<{ id: ContextId }>('SELECT id FROM commits ORDER BY depth DESC LIMIT 1') ?? { id: '' as ContextId };
  const asked = { id, stop: 'root', format: 'openai-chat-v1' } as const;
  materialize(chain, asked);
  const { bytes } = materializedBytes(chain, asked);
  expect(cached()).toBeGreaterThan(0);
  expect(chain.artifacts.dropCaches()).toBeGreaterThan(0);
  expect(cached()).toBe(0);
  expect(Buffer.compare(materializedBytes(chain, asked).bytes, bytes)).toBe(0);
});

test('[S17] objects are counted by policy, and missing ones by reason', () => {
  const clock = heldClock(Date.now());
  const project = emptyProject(clock);
  const { artifacts } = project.chain;
  const text = { contentType: 'text/plain' };
  artifacts.put(Buffer.from('kept'), { ...text, policy: 'pin' });
  artifacts.put(Buffer.from('copied'), { ...text, policy: 'replicate' });
  const passing = artifacts.put(Buffer.from('for a minute'), text);
  artifacts.setPolicy(passing.no, 'ephemeral', 60);
  const counted = ({ objects }: ReturnType<typeof report>) => objects.map(({ policy, count, bytes }) => [policy, count, bytes]);
  const report = () => atOnce(storageOf(project));
  expect(counted(report())).toEqual([
    ['default', 0, 0],
    ['pin', 1, 4],
    ['ephemeral', 1, 12],
    ['replicate', 1, 6],
  ]);
  clock.at += 61_000;
  artifacts.expire();
  const later = report();
  expect(later.objects.find(({ policy }) => policy === 'ephemeral')?.count).toBe(0);
  expect(later.gone.map(({ why, count }) => [why, count])).toEqual([
    ['expired', 1],
    ['evicted', 0],
    ['deleted', 0],
    ['lost', 0],
  ]);
});

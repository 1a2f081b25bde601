import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { ContextId } from '../../../src/core/base/index.js';
import { checkpoint, entries, fork, materialize, materializedBytes, show } from '../../../src/core/chain/index.js';
import { getSource, importPaths, listSources } from '../../../src/core/import/index.js';
import { atOnce, checkProject, openProject, projectInfo, roots } from '../../../src/core/project/index.js';
import { answer, prompt } from '../../support/claude-lines.js';
import { root } from '../../support/machine.js';
import { emptyProject, heldClock } from '../../support/project.js';

const hour = 3_600_000;
const turn = (n: number): string => prompt(`u${n}`, `question ${n}`) + answer(`a${n}`, `answer ${n}`, { parent: `u${n}` });

describe('object lifecycle', () => {
  test('[S11] garbage collection keeps everything of imported sessions, packed or not', () => {
    const clock = heldClock(Date.now());
    const project = emptyProject(clock);
    const { chain } = project;
    const sample = join(root, 'resources/sample');
    const files = readdirSync(sample, { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.jsonl'));
    atOnce(importPaths(chain, { paths: [sample] }));
    const garbage = chain.artifacts.put(Buffer.from('no reference to this'), { contentType: 'text/plain' });
    for (const packed of [false, true]) {
      clock.at += 2 * hour;
      const { removed, kept } = atOnce(chain.artifacts.gc({ roots }));
      expect([removed, kept.pinned, kept.young]).toEqual([packed ? 0 : 1, 0, 0]);
      expect(() => chain.artifacts.read(garbage.no)).toThrow(expect.objectContaining({ code: 'NOT_FOUND' }));
      expect(atOnce(checkProject(project)).problems).toEqual([]);
      for (const { sourceId } of listSources(chain)) expect(getSource(chain, sourceId).bytes).toBeGreaterThan(0);
      atOnce(chain.artifacts.repack());
    }
    expect(listSources(chain).length).toBeGreaterThanOrEqual(files.length - 1);
  });

  test('[S12] a commit outlives its ephemeral content, and materializing it says why it fails', () => {
    const clock = heldClock();
    const { chain, ...project } = emptyProject(clock);
    const first = checkpoint(chain, { parent: null, type: 'delta', format: 'claude-code-v1', text: turn(1), template: 't', checkpoint: 'explicit' });
    const next = checkpoint(chain, {
      parent: first.id,
      type: 'delta',
      format: 'claude-code-v1',
      text: turn(2),
      template: 't',
      checkpoint: 'explicit',
    });
    chain.artifacts.setPolicy(chain.artifacts.find(first.artifactRef), 'ephemeral', 60);
    expect(materializedBytes(chain, { id: next.id }).bytes.length).toBeGreaterThan(0);
    clock.at += 60_000;
    // A cached result must not return it either.
    for (const id of [first.id, next.id] as ContextId[])
      expect(() => materialize(chain, { id })).toThrow(
        expect.objectContaining({ code: 'NOT_FOUND', data: { id: first.artifactRef, reason: 'expired' } }),
      );
    expect(() => entries(chain, { id: next.id })).toThrow(expect.objectContaining({ code: 'NOT_FOUND' }));
    expect(show(chain, first.id).artifactRef).toBe(first.artifactRef);
    expect(atOnce(checkProject({ chain, ...project })).problems).toEqual([]);
  });

  test('[S11] an object of a cache is kept once a commit names it', () => {
    const clock = heldClock();
    const { chain } = emptyProject(clock);
    const first = checkpoint(chain, { parent: null, type: 'delta', format: 'claude-code-v1', text: turn(1), template: 't', checkpoint: 'explicit' });
    const { id: edited } = fork(chain, { id: first.id, edits: [{ op: 'append', entry: { role: 'user', kind: 'text', text: 'more' } }] });
    const { artifactRef } = materialize(chain, { id: edited });
    const imported = checkpoint(chain, {
      parent: null,
      type: 'snapshot',
      format: 'claude-code-v1',
      artifactRef,
      template: 't',
      checkpoint: 'explicit',
    });
    const before = Buffer.from(materializedBytes(chain, { id: imported.id }).bytes).toString();
    chain.db.run('DELETE FROM materialized');
    clock.at += 2 * hour;
    atOnce(chain.artifacts.gc({ roots, budgetBytes: 0 }));
    expect(Buffer.from(materializedBytes(chain, { id: imported.id }).bytes).toString()).toBe(before);
  });
});

test('[C10] a project names its tokenizer, also in a Stemma with another one', () => {
  const project = emptyProject(heldClock());
  const { dir } = project;
  const { tokenizer } = projectInfo(project.reading());
  expect(tokenizer).toBe('utf8-quarter-1');
  project.close();
  const manifest = join(dir, 'project.json');
  writeFileSync(manifest, readFileSync(manifest, 'utf8').replace(tokenizer, 'cl100k_base'));
  const again = openProject(dir, heldClock());
  expect(projectInfo(again.reading()).tokenizer).toBe('cl100k_base');
  again.close();
});

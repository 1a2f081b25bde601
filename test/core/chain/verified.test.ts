import { join } from 'node:path';
import Database from 'better-sqlite3';
import { expect, test } from 'vitest';
import { type ContextId, systemClock } from '../../../src/core/base/index.js';
import { checkpoint, findCommit, walk } from '../../../src/core/chain/index.js';
import { createProject } from '../../../src/core/project/index.js';
import { scratch } from '../../support/project.js';
import { refusal } from '../../support/refusal.js';

test('[S15] a walk verifies rows again after another connection has changed the database', () => {
  const dir = join(scratch(), 'p.stemma');
  const project = createProject({ dir }, systemClock);
  const ids: ContextId[] = [];
  for (const size of [1, 2, 3])
    ids.push(
      checkpoint(project.chain, {
        parent: ids.at(-1) ?? null,
        type: 'delta',
        format: 'claude-code-v1',
        text: `${JSON.stringify({ type: 'user', uuid: `u${size}`, message: { role: 'user', content: 'x'.repeat(size) } })}\n`,
        template: 't',
        checkpoint: 'explicit',
      }).id,
    );
  const walked = (): unknown[] => walk(project.chain, findCommit(project.chain, ids[2] as ContextId), 'root').contributing.map(({ id }) => id);
  expect(walked()).toEqual(ids);

  const other = new Database(join(dir, 'stemma.db'));
  // Another program changes the time of a commit, which its id covers. It has none of the functions that keep checksums.
  other.prepare('UPDATE commits SET createdAt = createdAt + 1 WHERE id = ?').run(ids[1]);
  other.close();
  expect(refusal(walked)).toEqual(expect.objectContaining({ code: 'CORRUPT' }));
  project.close();
});

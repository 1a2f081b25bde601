import { join } from 'node:path';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { type Timestamp, toTimestamp } from '../../../src/core/base/index.js';
import { addCommit, checkpoint, listIsDue, listPrincipals, resolve } from '../../../src/core/chain/index.js';
import { atOnce, checkProject, type Project, repairProject } from '../../../src/core/project/index.js';
import { openDatabase } from '../../../src/core/store/index.js';
import { prompt } from '../../support/claude-lines.js';
import { emptyProject } from '../../support/project.js';

const day = (number: number): Timestamp => toTimestamp(Date.UTC(2026, 0, 1) + number * 86_400_000);

interface Made {
  readonly who: string | undefined;
  readonly at: number;
}

/** Writes many commits with the same content, each with its principal and day. */
function make({ chain }: Project, all: readonly Made[]): string[] {
  return chain.artifacts.transaction(() => {
    const { no, ref } = chain.artifacts.put(Buffer.from(prompt('u', 'hello')), { contentType: 'application/jsonl' });
    return all.map(
      ({ who, at }, number) =>
        addCommit(chain, {
          parent: null,
          type: 'delta',
          artifact: no,
          ref,
          format: 'claude-code-v1',
          template: `t ${number} ${chain.db.one<{ n: number }>('SELECT COUNT(*) AS n FROM commits')?.n}`,
          principal: who,
          checkpoint: 'explicit',
          messageCount: 1,
          tokenCount: 2,
          errors: 0,
          entries: 1,
          forked: false,
          createdAt: day(at),
        }).id,
    );
  });
}

const listed = ({ db }: Project): number => db.one<{ n: number }>('SELECT COUNT(*) AS n FROM principalCommit')?.n ?? 0;

test('[C11] resolve is right whether all, some or no commits are listed by principal', () => {
  const commits = fc.array(fc.record({ who: fc.constantFrom('a', 'b', undefined), at: fc.nat(20) }), { minLength: 1, maxLength: 900 });
  fc.assert(
    fc.property(fc.array(commits, { minLength: 1, maxLength: 3 }), (batches) => {
      const project = emptyProject();
      const all: (Made & { id: string })[] = [];
      for (const batch of batches) {
        const ids = make(project, batch);
        all.push(...batch.map((made, number) => ({ ...made, id: ids[number] as string })));
        for (const who of ['a', 'b', 'nobody'])
          for (const at of [0, 7, 20]) {
            const own = all.filter((made) => made.who === who && made.at <= at);
            const newest = own.reduce<(typeof own)[number] | undefined>((best, made) => (best && best.at > made.at ? best : made), undefined);
            expect(resolve(project.chain, who, day(at)).id).toBe(newest?.id ?? null);
          }
      }
      project.close();
    }),
    { numRuns: 6 },
  );
});

test('[C11, S13] a damaged list is reported and rebuilt; a reader works without it', { tags: 'long' }, () => {
  const project = emptyProject();
  const ids = make(
    project,
    Array.from({ length: 600 }, (_, at) => ({ who: 'p', at })),
  );
  const newest = (of: Project) => resolve(of.chain, 'p', day(10_000)).id;
  expect(newest(project)).toBe(ids[599]);
  expect(listIsDue(project.chain)).toBe(true);
  listPrincipals(project.chain);
  expect([newest(project), listed(project), listIsDue(project.chain)]).toEqual([ids[599], 600, false]);
  // Later commits are listed in batches, and are found before that.
  const next = checkpoint(project.chain, {
    parent: null,
    type: 'delta',
    format: 'claude-code-v1',
    text: prompt('v', 'more'),
    template: 't',
    principal: 'p',
    checkpoint: 'explicit',
    createdAt: day(700),
  });
  expect([newest(project), listed(project)]).toEqual([next.id, 600]);
  expect(atOnce(checkProject(project)).problems).toEqual([]);
  project.db.run('DELETE FROM principalCommit WHERE createdAt = ?', Date.parse(day(300)));
  project.db.run("UPDATE principalCommit SET principal = 'q' WHERE createdAt = ?", Date.parse(day(599)));
  expect(
    atOnce(checkProject(project))
      .problems.map(({ id }) => id)
      .sort(),
  ).toEqual([ids[300], ids[599]].sort());
  atOnce(repairProject(project));
  expect(atOnce(checkProject(project)).problems).toEqual([]);
  expect(resolve(project.chain, 'p', day(300)).id).toBe(ids[300]);
  // A progress value beyond the last commit is ignored.
  project.db.run("UPDATE progress SET value = 1000000 WHERE name = 'principals'");
  expect(newest(project)).toBe(next.id);
  project.db.run('DELETE FROM principalCommit');
  project.db.run("DELETE FROM derivedProgress WHERE name = 'principals'");
  const db = openDatabase(join(project.dir, 'stemma.db'), { readonly: true });
  expect(resolve({ ...project.chain, db: db as never }, 'p', day(10_000)).id).toBe(next.id);
  expect(listed(project)).toBe(0);
  db.close();
});

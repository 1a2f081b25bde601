import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { WriteChain } from '../../../src/core/chain/index.js';
import type { ImportResult } from '../../../src/core/contract/index.js';
import { importPaths } from '../../../src/core/import/index.js';
import { atOnce, checkProject, openProject } from '../../../src/core/project/index.js';
import { answer, prompt } from '../../support/claude-lines.js';
import { digestsOf } from '../../support/hub.js';
import { emptyProject, heldClock, scratch } from '../../support/project.js';

/** A session of many turns, and the file of its first ones. */
function session(turns: number, dir = scratch()): { readonly whole: string; readonly first: string } {
  const text = (turn: number): string => `${turn} ${'The queue keeps every order until its worker has answered. '.repeat(4_000)}`;
  const lines = Array.from({ length: turns }, (_, turn) => [
    prompt(`u${turn}`, `Question ${turn}`, { parent: turn === 0 ? null : `a${turn - 1}` }),
    answer(`a${turn}`, text(turn), { parent: `u${turn}` }),
  ]);
  const [whole, first] = [join(dir, 's1.jsonl'), join(dir, 's1-first.jsonl')];
  writeFileSync(whole, lines.flat().join(''));
  writeFileSync(
    first,
    lines
      .slice(0, turns / 2)
      .flat()
      .join(''),
  );
  return { whole, first };
}

function importing(chain: WriteChain, path: string): ImportResult {
  const steps = importPaths(chain, { paths: [path] } as never);
  for (;;) {
    const step = steps.next();
    if (step.done) return step.value;
  }
}

/** The chain, with work before each of its transactions. */
const before = (chain: WriteChain, work: (number: number) => void): WriteChain => {
  let number = 0;
  const transaction: WriteChain['artifacts']['transaction'] = (inside) => {
    work(number++);
    return chain.artifacts.transaction(inside);
  };
  return { ...chain, artifacts: { ...chain.artifacts, transaction } };
};

const turns = 60;

test('[S26] a large file is stored in many transactions, between which others write', () => {
  const { whole } = session(turns);
  const [project, other] = [emptyProject(), emptyProject()];
  const beside = openProject(project.dir, heldClock());
  let written = 0;
  const result = importing(
    before(project.chain, () => {
      beside.chain.db.run("INSERT INTO setting (project, name, value) VALUES (?, ?, '1')", beside.chain.project, `beside ${written++}`);
    }),
    whole,
  );
  beside.close();
  expect(written).toBeGreaterThan(4);
  expect(result).toMatchObject({ commits: turns, entries: 2 * turns, sessions: 1, skipped: [], notes: [] });
  importing(other.chain, whole);
  expect(digestsOf(project.chain)).toEqual(digestsOf(other.chain));
});

test('[S26] an import that ends between two transactions is completed by the next one', { tags: 'long' }, () => {
  const { whole } = session(turns);
  const sound = emptyProject();
  importing(sound.chain, whole);
  let ends = 0;
  for (let at = 0; ; at++) {
    const project = emptyProject();
    const stop = (number: number): void => {
      if (number === at) throw new Error('killed');
    };
    let hasEnded = false;
    try {
      importing(before(project.chain, stop), whole);
      hasEnded = true;
    } catch (error) {
      expect((error as Error).message).toBe('killed');
    }
    if (hasEnded) break;
    ends++;
    const made = digestsOf(project.chain);
    expect(digestsOf(sound.chain)).toEqual(expect.arrayContaining([...made]));
    expect(atOnce(checkProject(project)).problems).toEqual([]);
    importing(project.chain, whole);
    expect(digestsOf(project.chain)).toEqual(digestsOf(sound.chain));
    expect(importing(project.chain, whole)).toMatchObject({ commits: 0, sessions: 1 });
    project.close();
  }
  expect(ends).toBeGreaterThan(4);
});

test('[S26] another process that imports the same session meanwhile adds nothing twice', { tags: 'long' }, () => {
  const { whole, first } = session(turns);
  const [project, sound] = [emptyProject(), emptyProject()];
  importing(sound.chain, whole);
  for (const at of [1, 4, 5]) {
    const beside = openProject(project.dir, heldClock());
    importing(
      before(project.chain, (number) => {
        if (number === at) importing(beside.chain, at === 4 ? whole : first);
      }),
      whole,
    );
    beside.close();
    expect(digestsOf(project.chain)).toEqual(digestsOf(sound.chain));
    expect(project.chain.db.all('SELECT record FROM record GROUP BY record HAVING COUNT(*) > 1')).toEqual([]);
  }
});

import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { Runtime } from '../../../src/core/contract/index.js';
import { type Agent, folders, hasAgent, runAgent, unlessHere } from '../../support/agents.js';
import { desk } from '../../support/desk.js';
import { scratch } from '../../support/project.js';

const agents: readonly (readonly [Agent, Runtime, (sessionId: string) => readonly string[]])[] = [
  ['claude', 'claude-code', (sessionId) => ['--resume', sessionId]],
  ['codex', 'codex', (sessionId) => ['resume', sessionId]],
];
const edited = 'Now explain it to a child';

for (const [agent, runtime, resume] of agents)
  describe.skipIf(!hasAgent(agent))(`the real ${agent}${unlessHere(agent)}`, () => {
    test('[W74] edit, continue, answer and compare, and continue once more', { tags: 'long', timeout: 240_000 }, async () => {
      const home = scratch();
      const said = (when: string, text: string) => ({ when, text, usage: { input_tokens: 500, output_tokens: 20 } });
      await runAgent(
        agent,
        { steps: ['Fix the queue retry', 'Now explain it'], model: [said('Fix the queue', 'It is fixed.'), said('explain it$', 'It waits longer.')] },
        home,
      );
      const { call } = desk(scratch(), { agentRoots: [{ agent: runtime, root: join(home, `.${agent}`) }], clock: Date.now });
      await call.project.create({ dir: join(home, 'p.stemma') });
      const add = async () => {
        for await (const _ of await call.import.run({ paths: [join(home, folders[agent])] })) void _;
      };
      await add();
      const rows = async () => (await call.context.graph({ offset: 0, limit: 100, together: true })).rows;
      const trunk = async () => ({
        rows: (await rows()).filter(({ forked }) => !forked).map(({ commit, lane, turn }) => [commit.id, lane, turn]),
        session: (await call.session.list({})).sessions.map(({ sessionId, title, turns, repository }) => [sessionId, title, turns, repository]),
      });
      const before = await trunk();
      const original = (await rows()).find(({ commit }) => commit.summary === 'Now explain it')?.commit;
      const { entries } = await call.context.entries({ id: original?.id ?? '', stop: original?.id });
      const key = entries.find(({ text }) => text === 'Now explain it')?.key ?? '';
      const made = await call.context.fork({
        id: original?.id ?? '',
        at: key as never,
        edits: [{ op: 'replace', key: key as never, entry: { role: 'user', kind: 'text', text: edited } }],
      });
      const cwd = join(home, 'project');
      const answers: string[] = [];
      for (const words of ['It naps between tries.', 'It tries again later.']) {
        const planned = await call.export.resume({ id: made.id, cwd, dryRun: true });
        const opened = await call.export.continue({ id: made.id, cwd });
        expect([opened.path, opened.prompt]).toEqual([planned.path, edited]);
        const steps = await runAgent(agent, { args: resume(opened.sessionId), steps: [edited], model: [said('child$', words)] }, home);
        expect(steps.map(({ ok }) => ok)).toEqual([true]);
        await add();
        answers.push(words);
        const own = (await rows()).filter(({ forked }) => forked);
        expect(own.map(({ turn, fork }) => [fork?.commit, turn, fork?.title])).toEqual(answers.map(() => [made.id, 2, made.summary]));
        const contents = await Promise.all(own.map(({ commit }) => call.context.entries({ id: commit.id, stop: 'root' })));
        const shown = contents.map((one) => one.entries.filter(({ role, kind }) => role === 'assistant' && kind === 'text').at(-1)?.text);
        expect(shown.toSorted()).toEqual(answers.toSorted());
        for (const one of contents) expect(one.entries.filter(({ text }) => text === edited)).toHaveLength(1);
        expect(await trunk()).toEqual(before);
        const newest = own.find((_, at) => shown[at] === words)?.commit.id ?? null;
        for (const id of [made.id, newest as string, original?.id as string])
          expect(await call.turn.original({ id })).toEqual({ fork: made.id, answer: newest, original: original?.id });
        const compared = await call.turn.compare({ a: original?.id ?? '', b: made.id });
        expect(compared).toMatchObject({ base: original?.parent, b: { turnId: newest } });
        expect(compared.changed).toBeGreaterThanOrEqual(2);
      }
      expect((await call.session.list({})).sessions[0]).toMatchObject({ branches: 3, turns: 2 });
      expect(await call.project.check({})).toMatchObject({ ok: true });
    });
  });

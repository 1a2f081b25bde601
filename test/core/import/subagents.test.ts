import { join } from 'node:path';
import { expect, test } from 'vitest';
import { contextEntries, graph } from '../../../src/core/chain/index.js';
import { filesUnder } from '../../../src/core/import/files.js';
import { importPaths } from '../../../src/core/import/index.js';
import { atOnce } from '../../../src/core/project/index.js';
import { emptyChain } from '../../support/project.js';
import { root } from '../../support/source.js';

const calls = {
  codex: {
    call_1_0: 'Look at the README',
    call_1_1: 'Count the files',
  },
  gemini: {
    invoke_agent__call_1_0: 'Look at the README',
    invoke_agent__call_1_1: 'Count the files',
  },
} as const;

for (const agent of ['codex', 'gemini'] as const)
  test.each(['as they lie there', 'the other way round'])(
    `[F6] a subagent of ${agent} is linked from the call that started it, imported %s`,
    (order) => {
      const chain = emptyChain();
      const files = filesUnder([join(root, 'test/fixtures/subagents', agent)]).files.map(({ path }) => path);
      expect(files).toHaveLength(3);
      for (const path of order === 'as they lie there' ? files.sort() : files.sort().reverse())
        expect(atOnce(importPaths(chain, { paths: [path] })).skipped).toEqual([]);
      const { rows } = graph(chain, { offset: 0, limit: 100 });
      const first = rows.filter(({ depth, commit }) => depth === 0 && commit.template === `${agent}/agent`);
      const starter = rows.find(({ commit }) => commit.summary === 'Ask two helpers')?.commit;
      expect(starter?.template).toBe(agent);
      const found = Object.fromEntries(
        first.map(({ commit, startedBy }) => [startedBy?.toolCallId, [startedBy?.commit === starter?.id, commit.summary]] as const),
      );
      expect(found).toEqual(Object.fromEntries(Object.entries(calls[agent]).map(([call, asked]) => [call, [true, asked]])));
      const made = contextEntries(chain, { id: starter?.id as never }).flatMap(({ entry }) => (entry.kind === 'tool_call' ? [entry.toolCallId] : []));
      expect(made).toEqual(Object.keys(calls[agent]));
      // They are of the family of the session that started them.
      expect(graph(chain, { filter: { sessionId: starter?.sessionId ?? '' }, offset: 0, limit: 100 }).total).toBe(rows.length);
    },
  );

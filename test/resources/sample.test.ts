import { describe, expect, test } from 'vitest';
import { filesBelow, textAt } from '../support/source.js';

interface Line {
  readonly type: string;
  readonly uuid?: string;
  readonly parentUuid?: string | null;
  readonly message?: {
    readonly content: string | readonly { readonly type: string; readonly id?: string; readonly tool_use_id?: string; readonly is_error?: boolean }[];
  };
  readonly [key: string]: unknown;
}

const files = filesBelow('resources/sample', (path) => path.endsWith('.jsonl'));
const linesOf = (path: string): Line[] =>
  textAt(path)
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line) as Line);
const blocksOf = (lines: readonly Line[]) => lines.flatMap((line) => (Array.isArray(line.message?.content) ? line.message.content : []));
const all = files.flatMap(linesOf);

/** The sample is the first project of a new user: it must be complete and show every feature. */
describe('the sample', () => {
  test.each(files)('%s is complete: every parent exists and every call has its result', (path) => {
    const lines = linesOf(path);
    const byId = new Map(lines.flatMap((line) => (line.uuid ? [[line.uuid, line]] : [])));
    expect(textAt(path).endsWith('\n')).toBe(true);
    expect(lines.filter((line) => line.parentUuid && !byId.has(line.parentUuid))).toEqual([]);
    const called = blocksOf(lines).flatMap((block) => (block.type === 'tool_use' ? [block.id] : []));
    const answered = blocksOf(lines).flatMap((block) => (block.type === 'tool_result' ? [block.tool_use_id] : []));
    expect(answered.toSorted()).toEqual(called.toSorted());
  });

  test('has a rewind, compaction, subagent, fork, thinking, failed tool, model error and image', () => {
    const prompts = all.filter((line) => line.type === 'user' && typeof line.message?.content === 'string');
    const rewound = new Set(prompts.map((line) => line.parentUuid)).size < new Set(prompts.map((line) => line.uuid)).size;
    const text = JSON.stringify(all);
    const ids = all.flatMap((line) => line.uuid ?? []);
    expect({
      rewound,
      compaction: all.some((line) => line.subtype === 'compact_boundary'),
      subagent: all.some((line) => line.isSidechain === true),
      thinking: blocksOf(all).some((block) => block.type === 'thinking'),
      failedTool: blocksOf(all).some((block) => block.is_error === true),
      modelError: all.some((line) => line.subtype === 'api_error'),
      fork: new Set(ids).size < ids.length,
      image: text.includes('"media_type":"image/png"'),
    }).toEqual({ rewound: true, compaction: true, subagent: true, thinking: true, failedTool: true, modelError: true, fork: true, image: true });
  });

  test('names the call of a subagent in the file beside its transcript', () => {
    const [meta] = filesBelow('resources/sample', (path) => path.endsWith('.meta.json'));
    const { toolUseId } = JSON.parse(textAt(meta ?? '')) as { toolUseId: string };
    expect(blocksOf(all).some((block) => block.id === toolUseId)).toBe(true);
  });
});

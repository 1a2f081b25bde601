import { appendFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { entries, graph, tips, type WriteChain } from '../../../src/core/chain/index.js';
import type { Commit } from '../../../src/core/contract/index.js';
import { namedFile } from '../../../src/core/files/index.js';
import { importGrowth } from '../../../src/core/follow/index.js';
import { importPaths } from '../../../src/core/import/index.js';
import { checkProject } from '../../../src/core/integrity/index.js';
import { atOnce, type Project } from '../../../src/core/project/index.js';
import { answer, call, prompt, result } from '../../support/claude-lines.js';
import { codexLine } from '../../support/codex-lines.js';
import { door } from '../../support/door.js';
import { emptyChain, emptyProject, scratch } from '../../support/project.js';
import { refusalOf } from '../handover/world.js';

type GrowthOptions = Parameters<typeof importGrowth>[2];
type Setting = Pick<GrowthOptions, 'granularity' | 'regroup'>;
const each: Setting = { granularity: 'assistant_message' };
const everyTwo: Setting = { granularity: 'turn_boundary', regroup: { atMessages: false, every: 2, events: new Set() } };
const at = (...events: ('error' | 'permission' | 'model_change')[]): Setting => ({
  granularity: 'part',
  regroup: { atMessages: false, every: 1, events: new Set(events) },
});

const name = '11111111-1111-4111-8111-111111111111.jsonl';
const commitsOf = (chain: WriteChain): Commit[] =>
  graph(chain, { offset: 0, limit: 100 })
    .rows.map(({ commit }) => commit)
    .reverse();
const checkpointsOf = ({ chain }: Project): string[] => commitsOf(chain).map(({ checkpoint, messageCount }) => `${checkpoint} ${messageCount}`);
const textsOf = (chain: WriteChain): unknown[] =>
  tips(chain, {}).flatMap(({ id }) => entries(chain, { id, stop: 'root' }).entries.map(({ kind, text, toolName }) => [kind, text ?? toolName]));

/** A session as it grows, looked at after each line, then as its agent leaves it. */
function grown(lines: readonly string[], setting: Setting, { end = true } = {}): Project {
  const project = emptyProject();
  const { chain } = project;
  const path = join(scratch(), name);
  writeFileSync(path, '');
  let seam: GrowthOptions['seam'];
  for (const line of lines) {
    appendFileSync(path, line);
    seam = importGrowth(chain, namedFile(path), { what: 'settled', ...setting, seam }).seam;
  }
  if (end) importGrowth(chain, namedFile(path), { what: 'end', ...setting, seam });
  return project;
}

function whole(lines: readonly string[]): WriteChain {
  const chain = emptyChain();
  const path = join(scratch(), name);
  writeFileSync(path, lines.join(''));
  atOnce(importPaths(chain, { paths: [path] }));
  return chain;
}

const stop = (line: string, reason: string, model = 'm'): string => line.replace('"model":"m"', `"model":"${model}","stop_reason":"${reason}"`);
const turn = (n: number, { failed = false, model = 'm', later = model }: { failed?: boolean; model?: string; later?: string } = {}): string[] => [
  prompt(`u${n}`, `question ${n}`, { parent: n === 1 ? null : `a${n - 1}` }),
  stop(call(`c${n}`, `t${n}`, 'Bash', { command: 'ls' }, { parent: `u${n}` }), 'tool_use', model),
  failed
    ? result(`r${n}`, `t${n}`, 'no such file', { parent: `c${n}` }).replace('"type":"tool_result"', '"type":"tool_result","is_error":true')
    : result(`r${n}`, `t${n}`, 'files', { parent: `c${n}` }),
  stop(answer(`a${n}`, `answer ${n}`, { parent: `r${n}` }), 'end_turn', later),
];

/** The state is the same as after an import, and sound. */
function isSound(project: Project, lines: readonly string[]): void {
  expect(textsOf(project.chain)).toEqual(textsOf(whole(lines)));
  expect(atOnce(checkProject(project)).problems).toEqual([]);
}

describe('checkpoints within turns', () => {
  test('[L14] the message of an assistant is stored before its tools run', () => {
    const lines = [...turn(1), ...turn(2)];
    const project = grown(lines, each);
    expect(checkpointsOf(project)).toEqual(['assistant_message 2', 'turn_boundary 2', 'assistant_message 2', 'turn_boundary 2']);
    isSound(project, lines);
  });

  test('[L14] a call that runs for long is in the chain while it runs', () => {
    const project = emptyProject();
    const { chain } = project;
    const path = join(scratch(), name);
    writeFileSync(path, turn(1).slice(0, 2).join(''));
    expect(importGrowth(chain, namedFile(path), { what: 'settled', ...each })).toMatchObject({ commits: 0, rests: true });
    importGrowth(chain, namedFile(path), { what: 'resting', ...each });
    expect(checkpointsOf(project)).toEqual(['assistant_message 2']);
    appendFileSync(path, turn(1).slice(2).join(''));
    importGrowth(chain, namedFile(path), { what: 'settled', ...each });
    expect(checkpointsOf(project)).toEqual(['assistant_message 2', 'turn_boundary 2']);
    isSound(project, turn(1));
  });

  test('[L14] the same in a rollout of Codex', () => {
    const lines = [
      codexLine('session_meta', { id: 's', cwd: '/w' }),
      codexLine('event_msg', { type: 'task_started', turn_id: 't1' }),
      codexLine('response_item', { type: 'message', role: 'user', content: [{ type: 'input_text', text: 'list' }] }),
      codexLine('response_item', { type: 'function_call', name: 'shell', call_id: 'c1', arguments: '{}' }),
      codexLine('response_item', { type: 'function_call_output', call_id: 'c1', output: 'files' }),
      codexLine('response_item', { type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'done' }] }),
      codexLine('event_msg', { type: 'task_complete', turn_id: 't1' }),
    ];
    const project = grown(lines, each, { end: false });
    expect(checkpointsOf(project)).toEqual(['assistant_message 2', 'turn_boundary 2']);
    isSound(project, lines);
    isSound(grown(lines, at('error')), lines);
  });
});

describe('checkpoints of several turns', () => {
  test('[L14] every second turn makes a commit of both, and the end one of the rest', () => {
    const lines = [1, 2, 3, 4, 5].flatMap((n) => turn(n));
    const project = grown(lines, everyTwo, { end: false });
    expect(checkpointsOf(project)).toEqual(['every_n_turns 8', 'every_n_turns 8']);
    expect(commitsOf(project.chain).map(({ summary }) => summary)).toEqual(['question 1', 'question 3']);
    const ended = grown(lines, everyTwo);
    expect(checkpointsOf(ended)).toEqual(['every_n_turns 8', 'every_n_turns 8', 'session_end 4']);
    isSound(ended, lines);
  });

  test('[L14] a change of the model ends a commit early', () => {
    const lines = [...turn(1), ...turn(2, { model: 'other' }), ...turn(3, { model: 'other' }), ...turn(4, { model: 'other' })];
    const project = grown(
      lines,
      { granularity: 'part', regroup: { atMessages: false, every: 2, events: new Set(['model_change']) } },
      { end: false },
    );
    expect(checkpointsOf(project)).toEqual(['event 4', 'every_n_turns 8']);
  });
});

describe('checkpoints at events', () => {
  test('[L14] an error within a turn makes a checkpoint', () => {
    const lines = [...turn(1), ...turn(2, { failed: true }), ...turn(3)];
    const project = grown(lines, at('error'), { end: false });
    expect(checkpointsOf(project)).toEqual(['turn_boundary 4', 'event 3', 'turn_boundary 1', 'turn_boundary 4']);
    isSound(project, lines);
  });

  test('[L14] a refused permission makes a checkpoint, other results do not', () => {
    const refused = turn(1).map((line) => line.replace('"files"', `"The user doesn't want to proceed with this tool use."`));
    expect(checkpointsOf(grown(refused, at('permission'), { end: false }))).toEqual(['event 3', 'turn_boundary 1']);
    expect(checkpointsOf(grown(turn(1), at('permission'), { end: false }))).toEqual(['turn_boundary 4']);
  });

  test('[L14] a change of the model within a turn makes a checkpoint before it', () => {
    const lines = turn(1, { later: 'other' });
    expect(checkpointsOf(grown(lines, at('model_change'), { end: false }))).toEqual(['event 3', 'turn_boundary 1']);
  });
});

describe('the setting of the capture', () => {
  const watched = async (checkpoints: object, lines: readonly string[]) => {
    const { client } = door({ machine: 'desk' });
    const dir = scratch();
    writeFileSync(join(dir, name), lines.join(''));
    await client.capture.watch({ paths: [dir], checkpoints: checkpoints as never });
    await client.capture.stop({ end: true });
    const { rows } = await client.context.graph({ offset: 0, limit: 100 });
    return rows.map(({ commit }) => commit.checkpoint).reverse();
  };

  test('[L14] says when a checkpoint is taken', { tags: 'long' }, async () => {
    const lines = [...turn(1), ...turn(2, { failed: true }), ...turn(3)];
    expect(await watched({ at: 'turn' }, lines)).toHaveLength(3);
    expect(await watched({ at: 'assistant' }, lines)).toHaveLength(6);
    expect(await watched({ at: 'turns', every: 3 }, lines)).toHaveLength(1);
    expect(await watched({ at: 'turns' }, lines)).toHaveLength(1);
    expect(await watched({ at: 'turn', events: true }, lines)).toEqual(['turn_boundary', 'event', 'turn_boundary', 'session_end']);
    expect(await watched({ at: 'turns', every: 9, events: ['error'] }, lines)).toEqual(['event', 'session_end']);
  });

  test('[L14] settings that do not fit each other are refused', async () => {
    const { client } = door({ machine: 'desk' });
    const paths = [scratch()];
    const refused = (more: object) => refusalOf(client.capture.watch({ paths, ...more } as never));
    for (const every of [0, -1, 1.5, 1e9]) expect(await refused({ checkpoints: { at: 'turns', every } })).toMatchObject({ code: 'BAD_REQUEST' });
    expect(await refused({ checkpoints: { at: 'turn', every: 2 } })).toMatchObject({ code: 'BAD_REQUEST', data: { field: 'checkpoints.every' } });
    expect(await refused({ granularity: 'tool_call', checkpoints: { at: 'turn' } })).toMatchObject({
      code: 'BAD_REQUEST',
      data: { field: 'granularity' },
    });
    for (const checkpoints of [{}, { at: 'never' }, { at: 'turn', events: ['lunch'] }])
      expect(await refused({ checkpoints })).toMatchObject({ code: 'BAD_REQUEST' });
  });
});

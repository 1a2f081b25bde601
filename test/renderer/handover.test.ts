import './page.js';
import { describe, expect, test } from 'vitest';
import type { Agent, BoxEntry, ContextId, EntryKey, Timestamp } from '../../src/core/contract/index.js';
import { textOfContent } from '../../src/renderer/parts/words';
import { familyOfCard, joinCards } from '../../src/renderer/views/boxes/cards';
import { formFor, readForm } from '../../src/renderer/views/handover/form';
import { arrangeColumns, arrowsOf, type MapTurn } from '../../src/renderer/views/handover/map';

const fresh = formFor(undefined, undefined);
const at = '2026-01-01T00:00:00.000Z' as Timestamp;
const agent = (agentId: string, displayName: string): Agent => ({ agentId, displayName, status: 'idle', turnEpoch: 0, createdAt: at });
const turn = (sourceAgentId: string, agentId: string, more: Partial<MapTurn> = {}): MapTurn => ({
  agentTurnId: `${sourceAgentId}-${agentId}`,
  agentId,
  sourceAgentId,
  status: 'running',
  turnEpoch: 1,
  depth: 1,
  contextBoxId: 'c',
  outputBoxId: 'o',
  tool: 'delegate_async',
  strategy: 'new',
  createdAt: at,
  cards: 1,
  ...more,
});

describe('the map of handovers', () => {
  const agents = [agent('w2', 'Writer'), agent('lead', 'Lead'), agent('w1', 'Writer')];
  const turns = [
    turn('user', 'lead'),
    turn('lead', 'w1', { batchId: 'b', taskIndex: 0 }),
    turn('lead', 'w2', { batchId: 'b', taskIndex: 1 }),
    turn('w1', 'w1'),
  ];
  const columns = arrangeColumns(agents, turns);

  test('columns are in order of first appearance, and equal names are numbered', () => {
    expect(columns.map(({ agentId, name, number }) => [agentId, name, number])).toEqual([
      ['user', 'user', undefined],
      ['lead', 'Lead', undefined],
      ['w1', 'Writer', 1],
      ['w2', 'Writer', 2],
    ]);
    expect(columns[0]?.agent).toBeUndefined();
  });

  test('arrows lead from source to target and name their part of a batch', () => {
    expect(arrowsOf(columns, turns).map(({ from, to, part }) => [from, to, part])).toEqual([
      [0, 1, undefined],
      [1, 2, '1 of 2'],
      [1, 3, '2 of 2'],
      [2, 2, undefined],
    ]);
  });
});

describe('the form for packing a box', () => {
  test('starts with the text of a ticket and the selected box', () => {
    const form = formFor({ title: 'Retry failed jobs', body: 'Up to three times.\n' }, 'b1');
    expect(readForm({ ...form, profile: 'W' })).toMatchObject({
      arguments: { instruction: 'Retry failed jobs\n\nUp to three times.', input_box_ids: ['b1'] },
    });
    expect(formFor({ title: 'Only a title', body: ' ' }, undefined).args[0]?.value).toBe('Only a title');
  });

  test('has a problem without a profile or with invalid JSON', () => {
    expect(readForm(fresh)).toHaveProperty('problem');
    expect(readForm({ ...fresh, profile: 'W', args: [{ id: 1, name: 'x', value: '{', as: 'json' }] })).toEqual({
      problem: 'The value of “x” is not valid JSON.',
    });
  });

  test('becomes the input of handover.pack', () => {
    const form = {
      ...fresh,
      profile: 'Writer',
      args: [
        { id: 1, name: ' instruction ', value: 'go', as: 'text' as const },
        { id: 2, name: 'fields', value: '[{"name":"x"}]', as: 'json' as const },
        { id: 3, name: '', value: 'lost', as: 'text' as const },
      ],
      rules: [{ id: 1, argument: 'fields', type: 'task.result_fields', role: 'system' }],
      boxes: ['b'],
      parent: false,
    };
    expect(readForm(form)).toEqual({
      toolSuffix: 'by_hand',
      sourceAgentId: 'user',
      arguments: { instruction: 'go', fields: [{ name: 'x' }], input_box_ids: ['b'] },
      handover: {
        target_profile_config: { profile_name: 'Writer' },
        context_packing_config: {
          pack_arguments: [{ arg_key: 'fields', as_card_type: 'task.result_fields', card_metadata: { role: 'system' } }],
          inherit_context: { include_boxes_from_args: ['input_box_ids'], include_parent: false },
        },
      },
    });
  });
});

describe('cards in the window', () => {
  const entry = (kind: BoxEntry['kind'], cardId: string, toolCallId?: string, marks?: string[]): BoxEntry => ({
    key: `${cardId}.0` as EntryKey,
    role: kind === 'text' ? 'assistant' : 'tool',
    kind,
    cardId,
    tokens: 1,
    ...(toolCallId && { toolCallId }),
    ...(marks && { marks }),
  });

  test('calls are joined with results, lone results stay, hidden entries are left out', () => {
    const blocks = joinCards([
      entry('text', 'a'),
      entry('tool_call', 'b', 'c1'),
      entry('tool_call', 'hidden', 'c1', ['hidden']),
      entry('tool_result', 'c', 'c1'),
      entry('tool_call', 'd', 'c2'),
      entry('tool_result', 'e', 'c9'),
    ]);
    expect(blocks.map(({ cardId, result }) => [cardId, result === null ? null : result?.key])).toEqual([
      ['a', undefined],
      ['b', 'c.0'],
      ['d', null],
      ['e', undefined],
    ]);
    expect(blocks[0]?.entry.source.commit).toBe('' as ContextId);
  });

  test('a card has the color of its entry and the first line of its text', () => {
    const family = (type: string, role: 'user' | 'system' = 'user') => familyOfCard({ type, metadata: { type, role } });
    expect(['tool.call', 'agent.thought', 'sys.profile', 'meta.parent_pointer', 'task.instruction', 'a.b'].map((type) => family(type))).toEqual([
      'tool',
      'assistant',
      'system',
      'system',
      'user',
      'user',
    ]);
    expect(family('a.b', 'system')).toBe('system');
    expect(textOfContent({ kind: 'json', data: { agent: 'a1', depth: 2 } })).toBe('agent: a1\ndepth: 2');
    expect(textOfContent({ kind: 'json', data: { deep: { er: 1 } } })).toBe('{"deep":{"er":1}}');
    expect(
      textOfContent({
        kind: 'fields',
        fields: [
          { name: 'x', description: 'y' },
          { name: 'z', description: '' },
        ],
      }),
    ).toBe('x: y\nz');
  });
});

import { expect, test } from 'vitest';
import { defaultSender } from '../../src/renderer/views/timeline/space';

const member = (entityId: string, name: string, type: 'human' | 'agent') => ({ entityId, name, type }) as never;
const members = [member('p', 'Planner', 'agent'), member('a', 'Ann', 'human'), member('s', 'Sarah', 'human')];

test('[E46] a message is written as the person of the last message, or as whom the hub knows', () => {
  expect(defaultSender({ members }, null, null)).toBe('a');
  expect(defaultSender({ members }, null, 'sarah')).toBe('s');
  expect(defaultSender({ members }, 'a', 'Sarah')).toBe('a');
  // An agent, or someone who left, is not a person here.
  expect(defaultSender({ members }, 'p', 'Planner')).toBe('a');
  expect(defaultSender({ members: members.slice(0, 1) }, 'gone', 'Tom')).toBe('p');
});

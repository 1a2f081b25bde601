import './page.js';
import { expect, test } from 'vitest';
import { defaultSender, firstUnread, runWords } from '../../src/renderer/views/timeline/space';

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

test('an agent is said to run only while somebody works for it', () => {
  const run = { status: 'running', waiting: null } as const;
  expect([runWords(run, true), runWords(run, false)]).toEqual(['is running', 'has a run that nobody works on yet']);
  expect(runWords({ status: 'waiting_reply', waiting: { for: 'Ann' } } as never, false)).toBe('is waiting for Ann');
});

test('[B-30] what a person wrote is not unread, and without a mark nothing was read', () => {
  const messages = ['a', 'p', 'a', 'p'].map((id, place) => ({ id: `m${place}`, sender: { id } })) as never;
  expect(['m3', 'm1', 'm0', null, 'gone'].map((mark) => firstUnread(messages, mark, 'a'))).toEqual([undefined, 'm3', 'm1', 'm1', 'm1']);
});

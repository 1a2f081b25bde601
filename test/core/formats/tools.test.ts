import { join } from 'node:path';
import { expect, test } from 'vitest';
import { entries, tips } from '../../../src/core/chain/index.js';
import { formats, toolClassOf } from '../../../src/core/formats/index.js';
import { importInto } from '../../support/imports.js';
import { emptyChain } from '../../support/project.js';
import { filesBelow, isSource, root, textAt } from '../../support/source.js';

const tables = formats.flatMap(({ id, tools }) => (tools ? [{ id, tools }] : []));

test('a format knows the tools of its agent and no others', () => {
  expect(toolClassOf('claude-code-v1', 'Bash')).toBe('shell');
  expect(toolClassOf('claude-code-v1', 'constructor')).toBeUndefined();
  expect(toolClassOf('claude-code-v1', 'apply_patch')).toBeUndefined();
  expect(toolClassOf('codex-v1', 'apply_patch')).toBe('edit');
});

test('a format for any agent knows all tools, and the agents agree on each name', () => {
  for (const { tools } of tables)
    for (const [name, toolClass] of Object.entries(tools)) expect(toolClassOf('anthropic-messages-v1', name), name).toBe(toolClass);
  expect(toolClassOf('anthropic-messages-v1', '__proto__')).toBeUndefined();
});

test('an entry carries the class of its tool', () => {
  const chain = emptyChain();
  importInto(chain, join(root, 'test/fixtures/pi/tour.jsonl'));
  const calls = tips(chain, {}).flatMap(({ id }) => entries(chain, { id }).entries.filter(({ kind }) => kind === 'tool_call'));
  expect(calls.length).toBeGreaterThan(0);
  for (const { toolName = '', toolClass } of calls) expect(toolClass, toolName).toBe(toolClassOf('pi-v1', toolName));
  expect(calls.some(({ toolClass }) => toolClass !== undefined)).toBe(true);
});

test('the window names no tool of an agent', () => {
  const own = tables.flatMap(({ tools }) => Object.keys(tools)).filter((name) => /[A-Z_]/.test(name) && name !== 'Agent');
  const named = new RegExp(`['"](${own.join('|')})['"]`);
  expect(named.test("tool === 'Bash'")).toBe(true);
  expect(filesBelow('src/renderer', isSource).filter((path) => named.test(textAt(path)))).toEqual([]);
});

import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { root, textAt } from '../support/source.js';

describe('SECURITY.md', () => {
  const page = textAt('SECURITY.md');

  test('cites rules that exist', () => {
    const rules = new Set([...textAt('test/spec/trust.md').matchAll(/^- \*\*(T\d+)\*\*/gm)].map(([, rule = '']) => rule));
    const cited = [...page.matchAll(/\b(T\d+)(?:–(T\d+))?/g)].flatMap(([, first, last]) => [first, last]).filter((rule) => rule !== undefined);
    expect(cited.length).toBeGreaterThan(10);
    expect(cited.filter((rule) => !rules.has(rule))).toEqual([]);
  });

  test('links to files that exist', () => {
    const links = [...page.matchAll(/\]\(([^)#]+)\)/g)].map(([, link = '']) => link);
    expect(links.filter((link) => !existsSync(join(root, link)))).toEqual([]);
  });

  test('names every door', () => {
    const doors = ['desktop app', 'web host', 'HTTP', 'command line', 'MCP', 'hooks', 'proxy', 'import', 'exports'];
    expect(doors.filter((door) => !page.includes(door))).toEqual([]);
  });
});

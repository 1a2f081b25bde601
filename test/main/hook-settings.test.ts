import fc from 'fast-check';
import { parse } from 'jsonc-parser';
import { describe, expect, test } from 'vitest';
import { hookCommandIn, hookEvents, withHooks, withoutHooks } from '../../src/main/cli/hook-settings.js';
import { runs } from '../support/properties.js';

const command = 'stemma hook --project /work/shop.stemma';
const entry = (of: string) => ({ hooks: [{ type: 'command', command: of, timeout: 10 }] });

const others = `{
\t// what I like
\t"theme":   "dark", "permissions": {"allow": ["Bash(ls:*)"]},
\t"hooks": {
\t\t"Stop": [
\t\t\t{ "hooks": [ { "type": "command", "command": "say done" } ] } // mine
\t\t],
\t\t"PreToolUse": [{"matcher": "Bash", "hooks": [{"type": "command", "command": "stemma-lint hook"}]}]
\t}
}
`;

describe('hooks in the settings of an agent', () => {
  test('[L9] are added without changing any other byte', () => {
    const settings = withHooks(others, command);
    const { hooks } = read(settings) as { hooks: Record<string, unknown[]> };
    for (const event of hookEvents) expect(hooks[event]?.at(-1)).toEqual(entry(command));
    expect(hooks.Stop).toHaveLength(2);
    expect(hasAllOf(settings, others)).toBe(true);
    expect(hookCommandIn(settings)).toBe(command);
    expect(hookCommandIn(others)).toBeUndefined();
  });

  test('[L9] are removed again, and the earlier settings are restored', () => {
    for (const settings of [
      others,
      '{}\n',
      '{ "theme": "dark" }',
      '{\r\n    "model": "opus"\r\n}\r\n',
      '{\n  "hooks": { "Stop": [{ "hooks": [] }] }\n}',
    ])
      expect(withoutHooks(withHooks(settings, command))).toBe(settings);
    expect(withoutHooks(others)).toBe(others);
  });

  test('[L9] change nothing else in any settings', () => {
    const hook = fc.record({ type: fc.constant('command'), command: fc.string() });
    const group = fc.record({ matcher: fc.string(), hooks: fc.array(hook, { maxLength: 2 }) });
    const settings = fc.record({
      model: fc.string(),
      env: fc.dictionary(fc.string(), fc.string()),
      hooks: fc.dictionary(fc.constantFrom('Stop', 'PreCompact', 'PreToolUse', 'x'), fc.array(group, { minLength: 1, maxLength: 2 }), { minKeys: 1 }),
    });
    fc.assert(
      fc.property(settings, fc.constantFrom(undefined, 2, '\t'), (value, indent) => {
        const text = JSON.stringify(value, null, indent);
        const installed = withHooks(text, command);
        expect(withHooks(installed, command)).toBe(installed);
        expect(read(withoutHooks(installed))).toEqual(read(text));
      }),
      { numRuns: runs(200) },
    );
  });

  test('[L9] replace the hooks of an earlier installation', () => {
    const settings = withHooks(withHooks(others, "'/opt/my node' /app/out/cli/stemma.js hook"), command);
    expect(settings).toBe(withHooks(others, command));
  });

  test.each([
    ['{ "hooks": ', 'it is not JSON'],
    ['[]', 'not an object'],
    ['{ "hooks": [] }', '`hooks` is not an object'],
    ['{ "hooks": { "Stop": {} } }', '`hooks.Stop` is not a list'],
  ])('are not added to invalid settings: %s', (settings, reason) => {
    expect(() => withHooks(settings, command)).toThrow(reason);
  });
});

const read = (text: string): unknown => parse(text);
/** Whether a text contains all characters of a part in their order, so that only insertions separate the two. */
function hasAllOf(text: string, part: string): boolean {
  let at = 0;
  for (const character of text) if (character === part[at]) at++;
  return at === part.length;
}

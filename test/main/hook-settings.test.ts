import fc from 'fast-check';
import { parse } from 'jsonc-parser';
import { describe, expect, test } from 'vitest';
import { commandIn, hookEvents, withHooks, withoutHooks } from '../../src/main/cli/hook-settings.js';

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
  test('[L9] stand beside what is there, which keeps every byte', () => {
    const settings = withHooks(others, command);
    const { hooks } = read(settings) as { hooks: Record<string, unknown[]> };
    for (const event of hookEvents) expect(hooks[event]?.at(-1)).toEqual(entry(command));
    expect(hooks.Stop).toHaveLength(2);
    expect(hasAllOf(settings, others)).toBe(true);
    expect(commandIn(settings)).toBe(command);
    expect(commandIn(others)).toBeUndefined();
  });

  test('[L9] are taken out again, and what was there is as it was', () => {
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

  test('[L9] whatever the settings hold: what is not ours is the same before and after', () => {
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
      { numRuns: 200 },
    );
  });

  test('[L9] of an earlier installation give way to the new ones', () => {
    const settings = withHooks(withHooks(others, "'/opt/my node' /app/out/cli/stemma.js hook"), command);
    expect(settings).toBe(withHooks(others, command));
  });

  test.each([
    ['{ "hooks": ', 'they are not JSON'],
    ['[]', 'no object'],
    ['{ "hooks": [] }', 'their hooks are no object'],
    ['{ "hooks": { "Stop": {} } }', 'hooks.Stop is no list'],
  ])('are not written into what is none: %s', (settings, reason) => {
    expect(() => withHooks(settings, command)).toThrow(reason);
  });
});

const read = (text: string): unknown => parse(text);
/** Whether every character of the one stands in the other, in order: then only insertions are between them. */
function hasAllOf(text: string, part: string): boolean {
  let at = 0;
  for (const character of text) if (character === part[at]) at++;
  return at === part.length;
}

import './page.js';
import { describe, expect, test, vi } from 'vitest';
import { keyGroups } from '../../src/renderer/app/keys.js';
import { type MenuEntry, runByKey } from '../../src/renderer/parts/index.js';
import { commitActions } from '../../src/renderer/views/actions.js';
import { commandOf } from '../../src/renderer/views/replay/keys.js';
import { sessionActions } from '../../src/renderer/views/sessions/actions.js';

const commit = { id: 'ctx-00000001' as never, parent: 'ctx-00000000' as never, format: 'claude-code-v1' as const };
const session = { sessionId: 's1', title: 'A session', pinned: false, archived: false } as never;

/** The keys that the table shows for a group. */
const keysIn = (name: string): string[] => Object.keys(keyGroups[name] ?? {}).flatMap((keys) => keys.split(/\s+/));
/** The keys that a menu shows; Enter is in the group of lists. */
const keysOf = (menu: readonly MenuEntry[]): string[] =>
  menu.flatMap((item) => (item !== 'line' && item.keys !== undefined && item.keys !== 'Enter' ? [item.keys] : []));

const menus: readonly (readonly [group: string, menu: readonly MenuEntry[]])[] = [
  ['Commit', commitActions(commit, 'ctx-00000002' as never, { forked: true } as never)],
  ['Session', sessionActions({ key: 's1', title: 'A session', agent: 'codex', repository: null, lastAt: '', session, subagents: [] })],
];

describe('the table of keys', () => {
  test.each(menus)('[W58] %s: the menu and the table show the same keys, and each key runs its own action', (group, menu) => {
    expect(keysOf(menu).toSorted()).toEqual(keysIn(group).toSorted());
    for (const key of keysOf(menu)) {
      const ran: string[] = [];
      const watched = menu.map((item): MenuEntry => (item === 'line' ? item : { ...item, act: vi.fn(() => ran.push(item.keys ?? item.name)) }));
      expect(runByKey(watched, key)).toBe(true);
      expect(ran).toEqual([key]);
    }
  });

  test('[W58] every key of the replay in the table has a command', () => {
    for (const name of ['HTMLSelectElement', 'HTMLInputElement', 'HTMLTextAreaElement', 'HTMLButtonElement']) vi.stubGlobal(name, class {});
    const names: Readonly<Record<string, string>> = { '←': 'ArrowLeft', '→': 'ArrowRight', Space: ' ' };
    const pressed = keysIn('Replay').filter((key) => key !== 'Shift');
    expect(pressed.length).toBeGreaterThan(8);
    for (const key of pressed)
      expect(
        commandOf({ key: names[key] ?? key, shiftKey: false, ctrlKey: false, metaKey: false, altKey: false, target: null } as never),
        key,
      ).toBeDefined();
  });
});

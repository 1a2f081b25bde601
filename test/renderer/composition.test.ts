import './page.js';
import { expect, test } from 'vitest';
import { keepCompositions } from '../../src/renderer/app/composition.js';

test('[W73] no handler of the window gets a key of a composition, and every other key arrives', () => {
  const target = new EventTarget();
  keepCompositions(target as unknown as Window);
  const heard: string[] = [];
  for (const name of ['keydown', 'keyup']) target.addEventListener(name, (event) => heard.push(`${event.type} ${(event as KeyboardEvent).key}`));
  const send = (type: string, key: string, how: object = {}): void =>
    void target.dispatchEvent(Object.assign(new Event(type, { cancelable: true }), { key, isComposing: false, keyCode: 0, ...how }));
  send('keydown', 'Enter', { isComposing: true });
  send('keydown', 'Process', { keyCode: 229 });
  send('keyup', 'Enter', { isComposing: true });
  send('keydown', 'Escape', { isComposing: true });
  send('keydown', 'Enter', { keyCode: 13 });
  expect(heard).toEqual(['keydown Enter']);
});

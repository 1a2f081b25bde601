import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { ContextId, EntryKey } from '../../src/core/contract/index.js';
import { formatRoute, parseRoute, type Route, views } from '../../src/renderer/state/route.js';

describe('the address', () => {
  test('says a whole selection and reads it back', () => {
    const route: Route = {
      view: 'context',
      project: '/home/me/A project & more/Histories.stemma',
      session: 'a?b#c',
      commit: 'ctx-3f9a12c4' as ContextId,
      against: 'ctx-77e0aa11' as ContextId,
      entry: '0b1c.0' as EntryKey,
      stop: 'root',
    };
    expect(parseRoute(formatRoute(route))).toEqual(route);
  });

  test('any project and entry survive the way through it', () => {
    const text = fc.string({ minLength: 1, unit: 'grapheme' });
    fc.assert(
      fc.property(fc.constantFrom(...views), text, text, (view, project, entry) => {
        const read = parseRoute(formatRoute({ view, project, entry: entry as EntryKey }));
        expect(read).toMatchObject({ view, project, entry });
      }),
    );
  });

  test('leaves out what it does not know, and begins in the library', () => {
    expect(parseRoute('')).toMatchObject({ view: 'library', project: undefined, commit: undefined });
    expect(parseRoute('#/elsewhere?commit=javascript:alert(1)&stop=never')).toMatchObject({ view: 'library', commit: undefined, stop: undefined });
    expect(parseRoute('#/context?stop=ctx-12345678').stop).toBe('ctx-12345678');
  });
});

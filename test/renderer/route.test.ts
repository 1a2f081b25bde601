import './page.js';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { ContextId, EntryKey } from '../../src/core/contract/index.js';
import { formatRoute, parseRoute, type Route, views } from '../../src/renderer/state/route.js';

describe('the address', () => {
  test('contains a whole selection and is read back', () => {
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

  test('keeps any project and entry', () => {
    const text = fc.string({ minLength: 1, unit: 'grapheme' });
    fc.assert(
      fc.property(fc.constantFrom(...views), text, text, (view, project, entry) => {
        const read = parseRoute(formatRoute({ view, project, entry: entry as EntryKey }));
        expect(read).toMatchObject({ view, project, entry });
      }),
    );
  });

  test('drops unknown values, and defaults to the sessions', () => {
    expect(parseRoute('')).toMatchObject({ view: 'sessions', project: undefined, commit: undefined });
    expect(parseRoute('#/elsewhere?commit=javascript:alert(1)&stop=never')).toMatchObject({ view: 'sessions', commit: undefined, stop: undefined });
    expect(parseRoute('#/context?stop=ctx-12345678').stop).toBe('ctx-12345678');
  });

  test('[W1] links of earlier versions lead to the same view', () => {
    expect(parseRoute('#/library?project=/x.stemma')).toMatchObject({ view: 'sessions', project: '/x.stemma' });
    expect(parseRoute('#/request?commit=ctx-12345678&call=r1')).toMatchObject({ view: 'calls', commit: 'ctx-12345678', call: 'r1' });
    expect(parseRoute('#/diff?commit=ctx-12345678&against=ctx-87654321')).toMatchObject({ view: 'compare', against: 'ctx-87654321' });
    expect(parseRoute('#/storage')).toMatchObject({ view: 'settings', settings: 'storage' });
  });

  test('[W2] a page remembers the view it was opened from; other views do not', () => {
    expect(parseRoute('#/compare?from=replay').from).toBe('replay');
    expect(parseRoute('#/compare?from=run').from).toBeUndefined();
    expect(parseRoute('#/chain?from=replay').from).toBeUndefined();
  });
});

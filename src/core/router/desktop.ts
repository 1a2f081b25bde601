import { unavailable } from '../base/index.js';
import { cacheSize, resolveLink, updatesOf } from '../project/index.js';
import { machine } from './procedure.js';

export const desktopRouter = {
  link: machine.desktop.link.handler(({ input, context: { session } }) => resolveLink(session, input.url)),
  diagnostics: machine.desktop.diagnostics.handler(async ({ context: { session } }) => {
    const { diagnostics, readers } = session.engine.options;
    if (!diagnostics) throw unavailable('This engine knows nothing about its installation.');
    const reading = (await readers?.caches()) ?? [];
    const caches = [{ name: readers ? 'writer' : 'engine', ...cacheSize() }, ...reading.map((size, at) => ({ name: `reader ${at + 1}`, ...size }))];
    return { ...diagnostics(), caches: caches.map((each) => ({ ...each, kinds: { ...each.kinds } })) };
  }),
  updates: machine.desktop.updates.handler(({ context: { session } }) => updatesOf(session).settings()),
  setUpdates: machine.desktop.setUpdates.handler(({ input, context: { session } }) => updatesOf(session).set(input)),
  checkForUpdates: machine.desktop.checkForUpdates.handler(({ context: { session } }) => updatesOf(session).check()),
};

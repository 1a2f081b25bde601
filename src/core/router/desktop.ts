import { StemmaError } from '../base/index.js';
import { cacheSizes, resolveLink, updatesOf } from '../project/index.js';
import { machine } from './procedure.js';

/** The procedures of `desktop`. */
export const desktopRouter = {
  link: machine.desktop.link.handler(({ input, context: { session } }) => resolveLink(session, input.url)),
  diagnostics: machine.desktop.diagnostics.handler(({ context: { session } }) => {
    const { diagnostics } = session.engine.options;
    if (!diagnostics) throw new StemmaError('UNAVAILABLE', 'This engine knows nothing about its installation.');
    return { ...diagnostics(), caches: cacheSizes() };
  }),
  updates: machine.desktop.updates.handler(({ context: { session } }) => updatesOf(session).settings()),
  setUpdates: machine.desktop.setUpdates.handler(({ input, context: { session } }) => updatesOf(session).set(input)),
  checkForUpdates: machine.desktop.checkForUpdates.handler(({ context: { session } }) => updatesOf(session).check()),
};

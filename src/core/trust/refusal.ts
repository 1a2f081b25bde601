import { StemmaError } from '../base/index.js';

/** Why a project that nobody trusts here may only be read, and what to do. Ends without a period. */
export const whyUntrusted = (dir: string): string =>
  `this machine did not create ${dir}, and it is not trusted here. To change it, run "stemma trust ${quoted(dir)}" first`;

/** Refuses to choose or to write to a project that nobody trusts here. `refused` says what was not done. */
export const untrusted = (dir: string, refused: string): StemmaError =>
  new StemmaError('UNAUTHORIZED', `${refused}: ${whyUntrusted(dir)}.`, { reason: 'restricted', dir });

/** A path as a shell takes it. */
const quoted = (path: string): string => (/^[\w@%+=:,./\\-]+$/.test(path) ? path : `'${path.replaceAll("'", "'\\''")}'`);

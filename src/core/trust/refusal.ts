import { StemmaError } from '../base/index.js';
import { quoted, shellOf, thisSystem } from '../system/index.js';

/** The reason why a project that is not trusted on this machine is read-only, and what a person can do. Ends without a period. */
export const whyUntrusted = (dir: string): string =>
  `this machine did not create ${dir}, and it is not trusted here. To change it, run "stemma trust ${quoted(dir, shellOf(thisSystem))}" first`;

/** The error for writing to or choosing a project that is not trusted on this machine. `refused` says what was not done. */
export const untrusted = (dir: string, refused: string): StemmaError =>
  new StemmaError('UNAUTHORIZED', `${refused}: ${whyUntrusted(dir)}.`, { reason: 'restricted', dir });

import type { System } from './system.js';

/** Names of devices on Windows, with any ending and in any case. The superscript digits count as digits there. */
const device = /^(?:con|prn|aux|nul|conin\$|conout\$|com[0-9¹²³]|lpt[0-9¹²³])\s*(?:[.:]|$)/i;

/** Characters that Windows refuses in a name, besides control characters. A colon would name a hidden stream of the file. */
const refused = /[<>:"|?*\\]/;

/**
 * Why a system cannot have a file or folder of this name, or would mean another one; undefined if it can. The reason ends a sentence that begins
 * with the name.
 */
export function nameProblem(name: string, system: System): string | undefined {
  if (name === '' || name === '.' || name === '..') return 'is no name';
  if (name.includes('/') || name.includes('\0')) return 'contains a character that no name may contain';
  if (system !== 'windows') return undefined;
  const character = refused.exec(name)?.[0] ?? [...name].find((each) => each < ' ');
  if (character !== undefined) return `contains ${JSON.stringify(character)}, which Windows allows in no name`;
  if (/[. ]$/.test(name)) return 'ends with a dot or a space, which Windows removes';
  if (device.test(name)) return 'is the name of a device on Windows';
  return undefined;
}

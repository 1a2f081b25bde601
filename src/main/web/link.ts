import { randomBytes } from 'node:crypto';
import { isSame } from '../connections/index.js';

/** The state of a code in a link: `current` codes open a session, the other states say why a code does not. */
export type CodeState = 'current' | 'used' | 'expired' | 'unknown';

/** How long a link works after it was printed, in milliseconds. */
export const linkLifetime = 15 * 60_000;

/** A secret of 256 random bits, as text for addresses and headers. */
export const newSecret = (): string => randomBytes(32).toString('base64url');

interface Code {
  readonly text: string;
  readonly expiresAt: number;
  isUsed: boolean;
}

/** The one-time code of the printed link, and the codes before it. */
export type LinkCodes = ReturnType<typeof linkCodes>;

/** Makes one-time codes that expire by the clock (in milliseconds). The first code is current from the start. */
export function linkCodes(clock: () => number = Date.now) {
  /** Newest first. Some old codes are kept, to tell a person why an older link does not work. */
  let codes: Code[] = [];
  const stateOf = (code: Code): CodeState => {
    if (code.isUsed) return 'used';
    return code === codes[0] && clock() < code.expiresAt ? 'current' : 'expired';
  };
  const links = {
    /** Returns the state of a code. A current code is used up by this. */
    take(given: string): CodeState {
      const code = codes.find(({ text }) => isSame(given, text));
      if (!code) return 'unknown';
      const state = stateOf(code);
      if (state === 'current') code.isUsed = true;
      return state;
    },
    current: (): string | undefined => (codes[0] && stateOf(codes[0]) === 'current' ? codes[0].text : undefined),
    /** Makes a new code. The previous code becomes invalid. */
    renew(): string {
      const code = { text: newSecret(), expiresAt: clock() + linkLifetime, isUsed: false };
      codes = [code, ...codes].slice(0, 20);
      return code.text;
    },
  };
  links.renew();
  return links;
}

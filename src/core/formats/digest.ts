import { hash } from 'node:crypto';

/** The first hex digits of the SHA-256 hash of some content. They name what has no id of its own. */
export const digest = (content: string | Uint8Array, digits = 12): string => hash('sha256', content).slice(0, digits);

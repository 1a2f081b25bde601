import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

/**
 * Control characters that attack a terminal: a new title, a cleared screen, colors, their C1 forms, backspaces and carriage
 * returns that overwrite text, DEL, and characters that reverse or break lines.
 */
export const hostile = '\u001b]0;owned\u0007\u001b[2J\u001b[31mowned\u001b[0m\u009b31m\u009d0;owned\u009c\b\r\u007f\u202eowned\u2066\u2028';

/** Structural fields: ids, references and enumerations. */
const structural =
  /^(type|role|uuid|.*Uuid|timestamp|sessionId|id|.*Id|.*_id|subtype|operation|stop_reason|userType|entrypoint|renderedRole|hash|.*Hash|digest|trigger|level|status|isoDate)$/;

/** Copies transcripts to a folder, with `hostile` at the end of every text in every field that is not structural. */
export function hostileCopy(from: string, to: string): void {
  for (const name of readdirSync(from, { recursive: true, encoding: 'utf8' }).filter((each) => /\.jsonl?$/.test(each))) {
    mkdirSync(dirname(join(to, name)), { recursive: true });
    const lines = readFileSync(join(from, name), 'utf8').split('\n');
    writeFileSync(join(to, name), lines.map((line) => (line === '' ? line : JSON.stringify(poisoned(JSON.parse(line))))).join('\n'));
  }
}

function poisoned(value: unknown, field = ''): unknown {
  if (typeof value === 'string') return structural.test(field) ? value : value + hostile;
  if (Array.isArray(value)) return value.map((each) => poisoned(each, field));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, poisoned(each, key)]));
}

import { redactJson, redactor, redactText } from '../../../../src/core/export/redact/index.js';
import { negatives } from './negatives.js';
import { knownMisses, type Probe, positives } from './positives.js';
import { surroundings, tokens } from './tokens.js';

/** Every token in every surrounding. */
const inSurroundings: readonly Probe[] = tokens.flatMap(([issuer, token]) =>
  surroundings.map(([where, around]) => ({ name: `${issuer} token in ${where}`, text: around(token), secrets: [token] })),
);

/** All probes with secrets, those that no rule can find among them. */
export const probes: readonly Probe[] = [...positives, ...knownMisses, ...inSurroundings];

/** What an export says of a text. */
export async function redacted(text: string, { isJson, ips }: { isJson?: true; ips?: true } = {}): Promise<string> {
  const redact = redactor(new Map(), { ipAddresses: ips === true });
  return isJson ? redactJson(text, redact) : redactText(text, redact);
}

/** Whether 12 characters of a secret, or all of a shorter one, are left. */
export function isLeft(text: string, secret: string): boolean {
  const length = Math.min(12, secret.length);
  for (let from = 0; from + length <= secret.length; from++) if (text.includes(secret.slice(from, from + length))) return true;
  return false;
}

export interface Figures {
  readonly positives: number;
  readonly missed: readonly string[];
  readonly negatives: number;
  readonly changed: readonly string[];
}

/** Redacts the whole corpus and names what went wrong. */
export async function measure(): Promise<Figures> {
  const missed: string[] = [];
  for (const probe of probes) {
    const text = await redacted(probe.text, probe);
    if (probe.secrets.some((secret) => isLeft(text, secret))) missed.push(probe.name);
  }
  const changed: string[] = [];
  for (const harmless of negatives)
    if ((await redacted(harmless.text, { ips: true, ...(harmless.isJson && { isJson: true }) })) !== harmless.text) changed.push(harmless.name);
  return { positives: probes.length, missed, negatives: negatives.length, changed };
}

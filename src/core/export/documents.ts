import { badRequest, inWords } from '../base/index.js';
import type { AboutFormat, Fact, Format } from '../formats/index.js';
import { findFormat, formats } from '../formats/index.js';
import { html } from './html/index.js';
import type { Told } from './told.js';

/** A file for people: told a part at a time, and not read back. */
export interface Document {
  readonly id: string;
  readonly contentType: string;
  readonly about: AboutFormat;
  readonly tier: 'rendered';
  readonly holds: readonly Fact[];
  parts(told: Told): Iterable<string>;
}

/** What a context can leave as: a document that is told in parts, or a format. */
export type Target = { readonly doc: Document; readonly format?: Format | undefined } | { readonly doc?: undefined; readonly format: Format };

const asDocument = (format: Format & Required<Pick<Format, 'writeParts'>>): Document => ({
  ...format,
  tier: 'rendered',
  parts: (told) => format.writeParts(entriesOf(told)),
});

function* entriesOf(told: Told) {
  for (const { entries, repeats } of told.steps()) if (!repeats) yield* entries;
}

const isInParts = (format: Format): format is Format & Required<Pick<Format, 'writeParts'>> => format.writeParts !== undefined;

/** Every form that there is, documents for people first. */
export const targets: readonly Target[] = [
  { doc: html },
  ...formats
    .map((format): Target => (isInParts(format) ? { doc: asDocument(format), format } : { format }))
    .sort((a, b) => Number(b.doc !== undefined) - Number(a.doc !== undefined)),
];
export const idOf = (target: Target): string => (target.doc ?? target.format).id;

/** @throws BAD_REQUEST naming the formats that there are. */
export function targetOf(id: string): Target {
  const older = findFormat(id);
  const target = targets.find((one) => idOf(one) === id) ?? (older && { format: older });
  if (!target) throw badRequest('format', `${inWords(id)} is no format that Stemma writes; there are ${targets.map(idOf).join(', ')}`);
  return target;
}

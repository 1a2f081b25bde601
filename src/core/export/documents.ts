import { badRequest, inWords } from '../base/index.js';
import type { Format } from '../formats/index.js';
import { findFormat, formats } from '../formats/index.js';
import type { DocumentContent } from './content.js';
import { html } from './html/index.js';

/** A kind of file for people. It is written in parts and cannot be imported. */
export interface DocumentKind extends Pick<Format, 'id' | 'contentType' | 'about' | 'holds'> {
  readonly tier: 'rendered';
  parts(content: DocumentContent): Iterable<string>;
}

/** A target of an export: a document, which is written in parts, or a format. */
export type ExportTarget =
  | { readonly doc: DocumentKind; readonly format?: Format | undefined }
  | { readonly doc?: undefined; readonly format: Format };

const asDocument = (format: Format & Required<Pick<Format, 'writeParts'>>): DocumentKind => ({
  ...format,
  tier: 'rendered',
  parts: (content) => format.writeParts(shownEntries(content)),
});

function* shownEntries(content: DocumentContent) {
  for (const { entries, repeats } of content.steps()) if (!repeats) yield* entries;
}

const hasParts = (format: Format): format is Format & Required<Pick<Format, 'writeParts'>> => format.writeParts !== undefined;

/** All targets of an export, documents for people first. */
export const targets: readonly ExportTarget[] = [
  { doc: html },
  ...formats
    .map((format): ExportTarget => (hasParts(format) ? { doc: asDocument(format), format } : { format }))
    .sort((a, b) => Number(b.doc !== undefined) - Number(a.doc !== undefined)),
];
/** The name of a target in `export.context`. */
export const idOf = (target: ExportTarget): string => (target.doc ?? target.format).id;

/** The target of a name. @throws BAD_REQUEST for an unknown name, with the known ones. */
export function requireTarget(id: string): ExportTarget {
  const hidden = findFormat(id);
  const target = targets.find((one) => idOf(one) === id) ?? (hidden && { format: hidden });
  if (!target) throw badRequest('format', `${inWords(id)} is not a format that Stemma writes; the formats are ${targets.map(idOf).join(', ')}`);
  return target;
}

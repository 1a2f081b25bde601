import { zipEntries } from '../../src/core/formats/shared/zip.js';

/** The text of an exported file. Of an archive it is the text of all its members. */
export function textOfExport({ text, data }: { readonly text?: string | undefined; readonly data?: string | undefined }): string {
  const bytes = Buffer.from(data ?? '', 'base64');
  const members = text === undefined ? zipEntries(bytes) : undefined;
  if (!members) return text ?? bytes.toString();
  return [...members.values()].map((member) => Buffer.from(member.read()).toString()).join('\n');
}

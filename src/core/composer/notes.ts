import type { KnowledgeChunk } from '../contract/index.js';

/** Splits a note into chunks at its headings, so that each can be retrieved alone. */
export function chunksOfNote(sourceId: string, docId: string, text: string): readonly KnowledgeChunk[] {
  const title = /^#\s+(.+)$/m.exec(text)?.[1]?.trim();
  return text
    .split(/^(?=#{1,6}\s)/m)
    .map((content) => content.trim())
    .filter((content) => content !== '')
    .map((content, place) => ({ sourceId, docId, ...(title ? { docTitle: title } : {}), chunkId: `${docId}#${place + 1}`, content }));
}

import type { KnowledgeChunk } from '../contract/index.js';

/** Texts with a word of the query, best first. Rare words count more, and each repetition of a word counts less. */
export function rankByWords<Item>(query: string, items: readonly Item[], textOf: (item: Item) => string): readonly Item[] {
  const wanted = new Set(splitWords(query));
  const counted = items.map((item) => ({ item, counts: countWords(textOf(item), wanted) }));
  const found = new Map([...wanted].map((word) => [word, counted.filter(({ counts }) => counts.has(word)).length]));
  const weight = (word: string): number => Math.log(1 + items.length / (found.get(word) || 1));
  const score = (counts: ReadonlyMap<string, number>): number =>
    [...counts].reduce((sum, [word, count]) => sum + (weight(word) * count) / (count + 1), 0);
  return counted
    .map(({ item, counts }, place) => ({ item, place, score: score(counts) }))
    .filter(({ score: points }) => points > 0)
    .sort((a, b) => b.score - a.score || a.place - b.place)
    .map(({ item }) => item);
}

const splitWords = (text: string): readonly string[] => text.toLowerCase().match(/[\p{L}\p{N}_]{2,}/gu) ?? [];

function countWords(text: string, wanted: ReadonlySet<string>): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  for (const word of splitWords(text)) if (wanted.has(word)) counts.set(word, (counts.get(word) ?? 0) + 1);
  return counts;
}

/** Splits a note into chunks at its headings, so that each can be retrieved alone. */
export function chunksOfNote(sourceId: string, docId: string, text: string): readonly KnowledgeChunk[] {
  const title = /^#\s+(.+)$/m.exec(text)?.[1]?.trim();
  return text
    .split(/^(?=#{1,6}\s)/m)
    .map((content) => content.trim())
    .filter((content) => content !== '')
    .map((content, place) => ({ sourceId, docId, ...(title ? { docTitle: title } : {}), chunkId: `${docId}#${place + 1}`, content }));
}

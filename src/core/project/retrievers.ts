import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import type { ContextId } from '../base/index.js';
import { type Chain, type ContextRow, commitOf } from '../chain/index.js';
import { chunksOfNote, type RuntimeServices, rankByWords } from '../composer/index.js';
import type { ExperienceRecord } from '../contract/index.js';
import { query as search } from '../search/index.js';
import type { Project } from './project.js';

/** Where a project keeps notes for its agents: Markdown and text files. */
const notesFolder = 'notes';
const largestNote = 1_000_000;
const mostNotes = 1_000;

/**
 * What a project knows by itself, so that contexts can be collected without a network: knowledge from its notes folder,
 * experience from what other sessions said before, by full-text search.
 */
export function projectServices(project: Project, id: ContextId): Pick<RuntimeServices, 'knowledge' | 'experience'> {
  const commit = commitOf(project.chain, id);
  return {
    knowledge: {
      retrieve: (query) => {
        const chunks = notesOf(join(project.dir, notesFolder)).flatMap(({ name, text }) => chunksOfNote(notesFolder, name, text));
        return rankByWords(query, chunks, (chunk) => chunk.content);
      },
    },
    experience: { retrieve: (question) => earlierWork(project.chain, commit, question) },
  };
}

/** Words of a question that are looked for one by one: the longest, which are the rarest as a rule. */
const wordsAsked = 8;
const hitsPerWord = 30;

/** What other sessions said about the words of a question before this commit was made, the best answers first. */
function earlierWork(chain: Chain, commit: ContextRow, question: string): ExperienceRecord[] {
  const words = [...new Set(question.toLowerCase().match(/[\p{L}\p{N}_]{4,}/gu) ?? [])]
    .sort((a, b) => b.length - a.length || a.localeCompare(b))
    .slice(0, wordsAsked);
  const found = new Map<ContextId, { score: number; text: string }>();
  for (const word of words) {
    const best = new Map<ContextId, { score: number; text: string }>();
    for (const hit of search(chain, { text: `"${word}"`, limit: hitsPerWord }).hits) {
      if (hit.sessionId === (commit.sessionId ?? undefined) || Date.parse(hit.at) >= commit.createdAt) continue;
      const text = [hit.summary, hit.snippet].filter((part) => part).join(' — ');
      if ((best.get(hit.commit)?.score ?? -1) < hit.score) best.set(hit.commit, { score: hit.score, text });
    }
    for (const [id, { score, text }] of best) found.set(id, { score: (found.get(id)?.score ?? 0) + score, text: found.get(id)?.text ?? text });
  }
  return [...found]
    .sort(([, a], [, b]) => b.score - a.score)
    .slice(0, 10)
    .map(([id, { text }]) => ({ id, contextId: id, summary: text, outcome: 'unknown' }));
}

function notesOf(dir: string): { name: string; text: string }[] {
  if (!existsSync(dir)) return [];
  return readdirSync(dir)
    .filter((name) => /\.(md|txt)$/i.test(name))
    .sort()
    .slice(0, mostNotes)
    .filter((name) => statSync(join(dir, name)).isFile() && statSync(join(dir, name)).size <= largestNote)
    .map((name) => ({ name, text: readFileSync(join(dir, name), 'utf8') }));
}

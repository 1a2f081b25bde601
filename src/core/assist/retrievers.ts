import { join } from 'node:path';
import type { ContextId } from '../base/index.js';
import { type ContextRow, findCommit, isShared, type ReadChain } from '../chain/index.js';
import { chunksOfNote, type LayerSources, rankByWords } from '../composer/index.js';
import type { ExperienceRecord } from '../contract/index.js';
import { listInside, readInside, unlessRefused } from '../files/index.js';
import { query as search } from '../search/index.js';
import { restoreState } from './blackboard.js';

/** The folder with notes for agents: Markdown and text files. */
const notesFolder = 'notes';
const maxNoteBytes = 1_000_000;
const maxNotes = 1_000;

interface Place {
  readonly dir: string;
  readonly chain: ReadChain;
}

/** What a profile can permit for a call on a context: retrievers and its saved state. `sessionId`: the session that starts on it now. */
export const layerSources =
  (project: Place) =>
  (id: ContextId | null, sessionId?: string): LayerSources => ({
    state: id === null ? {} : restoreState(project.chain, { id }).state,
    services: projectServices(project, id, sessionId),
  });

/** Retrievers for a commit: notes in the project folder, and other sessions. `sessionId`: for a new commit of it. @throws NOT_FOUND */
export function projectServices({ chain, dir }: Place, id: ContextId | null, sessionId?: string): LayerSources['services'] {
  const commit = id === null ? undefined : findCommit(chain, id);
  const standing = sessionId === undefined ? commit : { sessionId, createdAt: chain.clock() };
  return {
    knowledge: {
      retrieve: (query) => {
        const chunks = notesOf(dir).flatMap(({ name, text }) => chunksOfNote(notesFolder, name, text));
        return rankByWords(query, chunks, (chunk) => chunk.content);
      },
    },
    experience: { retrieve: (question) => earlierWork(chain, standing, question) },
  };
}

/** Number of words of a question to search for: the longest ones, which are usually the rarest. */
const wordsAsked = 8;
const hitsPerWord = 30;

/** Entries of other sessions that match a question and are older than the commit, best first. */
function earlierWork(chain: ReadChain, commit: Pick<ContextRow, 'sessionId' | 'createdAt'> | undefined, question: string): ExperienceRecord[] {
  const words = [...new Set(question.toLowerCase().match(/[\p{L}\p{N}_]{4,}/gu) ?? [])]
    .sort((a, b) => b.length - a.length || a.localeCompare(b))
    .slice(0, wordsAsked);
  const found = new Map<ContextId, { score: number; text: string }>();
  for (const word of words) {
    const best = new Map<ContextId, { score: number; text: string }>();
    for (const hit of search(chain, { text: `"${word}"`, limit: hitsPerWord }).hits) {
      if (commit && (hit.sessionId === (commit.sessionId ?? undefined) || Date.parse(hit.at) >= commit.createdAt)) continue;
      if (!isOfHere(chain, hit.commit)) continue;
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

/** Whether this machine recorded a commit. In a project of a team, a commit without a machine may come from anywhere. */
function isOfHere(chain: ReadChain, id: ContextId): boolean {
  const { machine } = findCommit(chain, id);
  if (machine !== null) return machine === chain.machine;
  return !isShared(chain);
}

/** Reads the notes. Links, special files and large files are skipped. */
function notesOf(dir: string): { name: string; text: string }[] {
  const folder = join(dir, notesFolder);
  return (unlessRefused(() => listInside(dir, folder)) ?? [])
    .filter((entry) => entry.isFile() && /\.(md|txt)$/i.test(entry.name))
    .map(({ name }) => name)
    .sort()
    .slice(0, maxNotes)
    .flatMap((name) => {
      const bytes = unlessRefused(() => readInside(dir, join(folder, name), { limit: maxNoteBytes }));
      return bytes ? [{ name, text: bytes.toString('utf8') }] : [];
    });
}

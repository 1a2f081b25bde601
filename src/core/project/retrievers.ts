import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import type { ContextId } from '../base/index.js';
import { commitOf } from '../chain/index.js';
import { chunksOfNote, type RuntimeServices, rankByWords } from '../composer/index.js';
import type { Project } from './project.js';

/** Where a project keeps notes for its agents: Markdown and text files. */
const notesFolder = 'notes';
const largestNote = 1_000_000;
const mostNotes = 1_000;

/**
 * What a project knows by itself, so that contexts can be collected without a network: knowledge from its notes folder,
 * experience from the summaries of commits that other sessions made before.
 */
export function projectServices(project: Project, id: ContextId): Pick<RuntimeServices, 'knowledge' | 'experience'> {
  const commit = commitOf(project.chain, id);
  return {
    knowledge: {
      retrieve: (query) => {
        const chunks = notesOf(join(project.dir, notesFolder)).flatMap(({ name, text }) => chunksOfNote(notesFolder, name, text));
        return rankByWords(query, chunks, (chunk) => `${chunk.docTitle ?? ''} ${chunk.content}`);
      },
    },
    experience: {
      retrieve: (query) => {
        const earlier = project.db.all<{ id: ContextId; summary: string }>(
          `SELECT id, summary FROM context
            WHERE project = ? AND summary IS NOT NULL AND createdAt < ? AND sessionId IS NOT ? ORDER BY createdAt DESC LIMIT 20000`,
          project.chain.project,
          commit.createdAt,
          commit.sessionId,
        );
        return rankByWords(query, earlier, ({ summary }) => summary)
          .slice(0, 10)
          .map((row) => ({ id: row.id, contextId: row.id, summary: row.summary, outcome: 'unknown' }));
      },
    },
  };
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

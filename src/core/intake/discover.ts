import { readdirSync, statSync } from 'node:fs';
import { basename, join } from 'node:path';
import { timestampOf } from '../base/index.js';
import type { FoundSession, FoundSource } from '../contract/index.js';
import { peek } from '../formats/index.js';
import { ioReason, readEnds } from './files.js';

/** How much of each end of a transcript is read to name it in a list. */
const lookLength = 64 * 1024;

interface SessionFile {
  readonly path: string;
  readonly bytes: number;
  readonly modifiedAt: number;
}

/** Claude Code's histories under each of its configuration folders that is there. */
export function foundSources(roots: readonly string[]): FoundSource[] {
  return roots.flatMap((root): FoundSource[] => {
    const empty = { agent: 'claude-code' as const, root, sessions: 0, projects: 0, bytes: 0 };
    try {
      const files = sessionFiles(root);
      const folders = new Set(files.map((file) => file.path.slice(0, -basename(file.path).length)));
      return [{ ...empty, sessions: files.length, projects: folders.size, bytes: files.reduce((sum, file) => sum + file.bytes, 0) }];
    } catch (error) {
      return (error as NodeJS.ErrnoException).code === 'ENOENT' ? [] : [{ ...empty, problem: ioReason(error) }];
    }
  });
}

/** Each session under a configuration folder, newest first, named from its ends. `imported` says whether a file is known in this size. */
export function* foundSessions(root: string, imported: (path: string, bytes: number) => boolean): Generator<FoundSession> {
  for (const file of sessionFiles(root).sort((a, b) => b.modifiedAt - a.modifiedAt)) {
    try {
      const { head, tail } = readEnds(file.path, lookLength);
      const seen = peek(head, tail);
      yield {
        path: file.path,
        sessionId: seen.sessionId ?? basename(file.path, '.jsonl'),
        ...(seen.cwd !== undefined && { cwd: seen.cwd }),
        ...((seen.title ?? seen.firstPrompt) !== undefined && { title: seen.title ?? seen.firstPrompt }),
        bytes: file.bytes,
        modifiedAt: timestampOf(file.modifiedAt),
        subagents: subagentsOf(file.path),
        imported: imported(file.path, file.bytes),
      };
    } catch (error) {
      // It went away, or may not be read: the import names it when it is asked for.
      ioReason(error);
    }
  }
}

function sessionFiles(root: string): SessionFile[] {
  const projects = join(root, 'projects');
  return readdirSync(projects, { withFileTypes: true })
    .filter((folder) => folder.isDirectory())
    .flatMap((folder) => {
      const within = join(projects, folder.name);
      return readdirSync(within, { withFileTypes: true })
        .filter((file) => file.isFile() && file.name.endsWith('.jsonl') && !file.name.startsWith('agent-'))
        .flatMap((file): SessionFile[] => {
          const path = join(within, file.name);
          const stat = statSync(path, { throwIfNoEntry: false });
          return stat ? [{ path, bytes: stat.size, modifiedAt: Math.floor(stat.mtimeMs) }] : [];
        });
    });
}

function subagentsOf(path: string): number {
  try {
    return readdirSync(join(path.replace(/\.jsonl$/, ''), 'subagents')).filter((name) => name.endsWith('.jsonl')).length;
  } catch (error) {
    ioReason(error);
    return 0;
  }
}

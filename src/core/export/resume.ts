import { mkdirSync } from 'node:fs';
import { isAbsolute, join } from 'node:path';
import { badRequest, type ContextId } from '../base/index.js';
import { type Chain, type ContextRow, commitOf } from '../chain/index.js';
import { writeNew } from '../intake/index.js';
import { claudeSession } from './context.js';

export interface Resumable {
  readonly path: string;
  readonly cwd: string;
  readonly sessionId: string;
  /** For a person to paste into a shell; nothing here runs it. */
  readonly command: string;
}

/**
 * Puts a context where Claude Code looks for its sessions: a new file under a fresh id in the folder of the working
 * directory. @throws BAD_REQUEST where no working directory is known or it is not absolute.
 */
export function resumeInClaudeCode(chain: Chain, root: string, input: { id: ContextId; cwd?: string | undefined }): Resumable {
  const tip = commitOf(chain, input.id);
  const cwd = input.cwd ?? workingDirectoryOf(chain, tip);
  if (cwd === undefined) throw badRequest('cwd', `${tip.id} does not say in which folder its agent worked: give the folder to resume it in`);
  if (!isAbsolute(cwd)) throw badRequest('cwd', `${cwd} is no absolute path: give the folder to resume it in`);
  const sessionId = chain.newId();
  const folder = join(root, 'projects', folderName(cwd));
  const path = join(folder, `${sessionId}.jsonl`);
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  writeNew(path, claudeSession(chain, tip, { sessionId, cwd }).bytes);
  return { path, cwd, sessionId, command: `cd ${quoted(cwd)} && claude --resume ${sessionId}` };
}

/** As the agent names the folder of a working directory: nothing of it but letters and digits is left. */
export const folderName = (cwd: string): string => cwd.replace(/[^a-zA-Z0-9]/g, '-');

function workingDirectoryOf(chain: Chain, row: ContextRow): string | undefined {
  const source =
    row.sessionId === null
      ? undefined
      : chain.db.one<{ cwd: string | null }>(
          'SELECT cwd FROM source WHERE project = ? AND sessionId = ? AND cwd IS NOT NULL ORDER BY no DESC LIMIT 1',
          chain.project,
          row.sessionId,
        );
  return source?.cwd ?? row.principal?.match(/^claude-code@(.+)$/s)?.[1];
}

const quoted = (path: string): string => (/^[\w@%+=:,./-]+$/.test(path) ? path : `'${path.replaceAll("'", "'\\''")}'`);

import { basename, dirname } from 'node:path';
import { parseJson } from '../base/index.js';
import { fileErrorCode, readInside, statInside } from '../files/index.js';
import { agentIn } from '../formats/index.js';
import { limits, readWhole } from './files.js';

/** The content of the file beside a subagent's transcript that names its call. Undefined if it is missing, refused or broken. */
export function metaBeside(path: string): unknown {
  const beside = path.replace(/\.jsonl$/, '.meta.json');
  if (beside === path) return undefined;
  try {
    if (!statInside(dirname(beside), basename(beside))) return metaInSession(path);
    return parseJson(readInside(dirname(beside), basename(beside), { limit: limits.side }).toString('utf8'));
  } catch (error) {
    if (fileErrorCode(error) === undefined) throw error;
    return undefined;
  }
}

/** Older versions write no such file: the session that started the subagent says which call it was. */
function metaInSession(path: string): unknown {
  const [, session, agentId] = /^(.+)[/\\]subagents[/\\]agent-([^/\\]+)\.jsonl$/.exec(path) ?? [];
  if (session === undefined || agentId === undefined) return undefined;
  const file = { root: dirname(session), path: `${session}.jsonl` };
  return statInside(file.root, file.path) && agentIn(readWhole(file), agentId);
}

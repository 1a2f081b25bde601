import { existsSync, readFileSync } from 'node:fs';
import { parseJson } from '../base/index.js';
import { agentIn } from '../formats/index.js';
import { ioReason, readWhole } from './files.js';

/** The file beside a subagent's transcript that names its call. Broken, it is as if it were not there. */
export function metaBeside(path: string): unknown {
  const beside = path.replace(/\.jsonl$/, '.meta.json');
  if (beside === path) return undefined;
  try {
    return existsSync(beside) ? parseJson(readFileSync(beside, 'utf8')) : metaInSession(path);
  } catch (error) {
    ioReason(error);
    return undefined;
  }
}

/** Older versions write nothing beside it: the session that started the subagent says which call it was. */
function metaInSession(path: string): unknown {
  const [, session, agentId] = /^(.+)[/\\]subagents[/\\]agent-([^/\\]+)\.jsonl$/.exec(path) ?? [];
  const file = `${session}.jsonl`;
  return agentId !== undefined && existsSync(file) ? agentIn(readWhole(file), agentId) : undefined;
}

import { parseArgs } from 'node:util';
import { attempt } from '../../core/base/index.js';
import { graphAtAGlance } from '../../core/project/index.js';
import { findDataDir, findProject } from '../launch/index.js';
import { logQuery, printGraph } from './log.js';

const options = { project: { type: 'string', short: 'p' }, limit: { type: 'string', short: 'n' }, json: { type: 'boolean' } } as const;

/** Runs `stemma log` without loading the other commands. False, with nothing printed, if the whole program must run it or say what is wrong. */
export function logAtAGlance(words: readonly string[]): boolean {
  const found = attempt(() => graphFor(words));
  if (found) printGraph(found.graph, found.json);
  return found !== undefined;
}

function graphFor(words: readonly string[]) {
  const { project, limit = '200', json } = parseArgs({ args: [...words], options }).values;
  const chosen = /^\d{1,6}$/.test(limit) ? findProject(project) : undefined;
  const graph = chosen && graphAtAGlance(chosen.dir, findDataDir(), logQuery(Number(limit)));
  return graph && { graph, json };
}

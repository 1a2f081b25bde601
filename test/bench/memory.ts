/**
 * Does one thing in a process of its own and says the most memory that it held, and what it held before, in bytes.
 *
 *   memory import PROJECT PATH…      memory materialize PROJECT ID      memory idle PROJECT
 */
import { existsSync, readFileSync } from 'node:fs';
import type { ContextId } from '../../src/core/base/index.js';
import { materialize } from '../../src/core/chain/index.js';
import { openProject } from '../../src/core/project/index.js';
import { importAll } from './engine.js';

const [work, dir, ...rest] = process.argv.slice(2);
if (!work || !dir) throw new Error('usage: memory import|materialize|idle PROJECT …');
const project = openProject(dir, Date.now);
if (work === 'import') importAll(project.chain, rest);
if (work === 'materialize') materialize(project.chain, { id: rest[0] as ContextId, stop: 'root' });
project.close();
console.log(peakKilobytes() * 1_024);

/** The system's count for a process includes what its parent held when it began; Linux also counts from its own start. */
function peakKilobytes(): number {
  const own = existsSync('/proc/self/status') ? /VmHWM:\s+(\d+)/.exec(readFileSync('/proc/self/status', 'utf8'))?.[1] : undefined;
  return own === undefined ? process.resourceUsage().maxRSS : Number(own);
}

/**
 * Does one thing in its own process and prints its peak memory and its memory before, in bytes.
 *
 *   memory materialize PROJECT ID    memory idle PROJECT
 *   memory export PROJECT ID OUT     memory import-export NEW-PROJECT PATH OUT: the exported HTML page
 */
import type { ContextId } from '../../src/core/base/index.js';
import { materialize } from '../../src/core/chain/index.js';
import { exportContext } from '../../src/core/export/index.js';
import { openProject } from '../../src/core/project/index.js';
import { importAll, openEngine } from './engine.js';
import { peakKilobytes } from './peak.js';

const [work, dir, ...rest] = process.argv.slice(2);
if (!work || !dir) throw new Error('usage: memory materialize|idle|export|import-export PROJECT …');
const project = work === 'import-export' ? openEngine(dir) : openProject(dir, Date.now);
const page = (id: string, path: string) => exportContext(project.chain, { id: id as ContextId, stop: 'root', format: 'html', path });
if (work === 'materialize') materialize(project.chain, { id: rest[0] as ContextId, stop: 'root' });
if (work === 'export') page(rest[0] ?? '', rest[1] ?? '');
if (work === 'import-export') page(importAll(project.chain, rest.slice(0, 1)).tips.at(-1) ?? '', rest[1] ?? '');
project.close();
console.log(peakKilobytes() * 1_024);

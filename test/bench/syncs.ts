/** Makes 1,000 durable commits, to be counted from outside (T2). */
import { commit, openEngine } from './engine.js';
import { turns } from './material.js';

const [folder] = process.argv.slice(2);
if (!folder) throw new Error('usage: syncs FOLDER');
const engine = openEngine(folder);
let parent: Parameters<typeof commit>[1] = null;
for (const text of turns(1_000)) parent = commit(engine.chain, parent, text);
engine.close();

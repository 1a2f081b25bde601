/** Creates a project and a number of durable commits, so that their syncs can be counted from outside (T2). */
import { commit, openEngine } from './engine.js';
import { turns } from './material.js';

const [folder, count] = process.argv.slice(2);
if (!folder || !count) throw new Error('usage: syncs FOLDER COUNT');
const engine = openEngine(folder);
let parent: Parameters<typeof commit>[1] = null;
for (const text of turns(Number(count))) parent = commit(engine.chain, parent, text);
engine.close();

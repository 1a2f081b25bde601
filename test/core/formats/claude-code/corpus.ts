import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { filesOf, transcripts } from '../../../support/agents.js';

const folder = join(transcripts, 'claude-code');

/** Every real transcript of Claude Code; empty where the corpus is not on this machine. */
export const corpus = (): readonly string[] => (existsSync(folder) ? filesOf(folder, /\.jsonl$/) : []);

import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { filesOf, transcripts } from '../../../support/agents.js';

/** Real transcripts of Claude Code, with long texts cut. */
export const corpus: readonly string[] = filesOf(join(import.meta.dirname, '../../../fixtures/claude-code'), /\.jsonl$/);

const uncut = join(transcripts, 'claude-code');

/** Real transcripts as they were written, for the real agent; empty where they are not on this machine. */
export const uncutCorpus = (): readonly string[] => (existsSync(uncut) ? filesOf(uncut, /\.jsonl$/) : []);

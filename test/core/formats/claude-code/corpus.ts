import { existsSync, readdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** What lies beside the repository on a developer's machine and nowhere else: genuine transcripts, and the real agent in a cage. */
const shared = join(dirname(fileURLToPath(import.meta.url)), '../../../../../shared');
const folder = join(shared, 'transcripts/claude-code');

export const oracle = join(shared, 'tools/resume-oracle');
export const live = join(shared, 'tools/agent-live');
export const scenario = (name: string): string => join(shared, 'tools/scenarios', name);

/** Every transcript of the corpus; none where it is not there. */
export const transcripts = (): readonly string[] =>
  existsSync(folder)
    ? readdirSync(folder, { recursive: true })
        .map(String)
        .filter((name) => name.endsWith('.jsonl'))
        .sort()
        .map((name) => join(folder, name))
    : [];

/** The agent takes a minute to install: it is asked where it is there already, or where somebody wants all of it. */
export const wantsAll = process.env.STEMMA_ORACLE === 'all';
export const hasAgent = existsSync(oracle) && (wantsAll || existsSync('/opt/resume-oracle/claude/node_modules'));

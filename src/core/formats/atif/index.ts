// atif: trajectories in the Agent Trajectory Interchange Format 1.0 to 1.8, one JSON document for each. Here a trajectory is one line for
// its root and one for each step. schema.ts says what a line is, parse-document.ts reads a document, parse.ts reads lines, plan.ts makes
// commits, write.ts writes lines and documents.
import { factsWithout, type ImportableFormat } from '../format.js';
import { beginsAsEntry, fromRules, scanRecords } from '../shared/records.js';
import { document } from './parse-document.js';
import { rules } from './plan.js';
import { formatId, readRoot, readStep } from './schema.js';
import { writeDocument, writeEntries } from './write.js';

export const atif: ImportableFormat = {
  ...fromRules(rules),
  id: formatId,
  about: {
    name: 'ATIF trajectory',
    what: 'A document that evaluation and training tools read (Agent Trajectory Interchange Format).',
    extension: 'json',
  },
  tier: 'translated',
  holds: factsWithout('image', 'resultImage', 'linkedImage', 'block', 'event', 'serverTool'),
  recognize: (head) => {
    if (beginsAsEntry(head, rules)) return 1;
    const first = scanRecords(rules, head).pieces.find(({ record }) => record !== undefined)?.record;
    return first && typeof first.atif === 'string' && (readRoot(first) ?? readStep(first)) ? 1 : 0;
  },
  write: writeEntries,
  session: writeDocument,
  namesCalls: true,
  exports: document,
};

import { contract } from '../../core/contract/index.js';
import { custom, readInputSchema, reads, toolsOf, writes } from './tool.js';

/** Default limits, because a whole history would fill the agent's context window in one call. */
const defaultEntries = 50;
const defaultLosses = 40;
const defaultTokens = 10_000;
const defaultRows = 100;

export const historyTools = toolsOf('history', {
  checkpoint: writes(
    'context.checkpoint',
    'Stores a context as a commit: `text` in a format (claude-code-v1, markdown, …) after `parent`, or null for a new chain. `principal` is the person or agent that the commit belongs to. `checkpoint` is `explicit` if you decided to store it.',
    { who: 'principal' },
  ),
  search: reads(
    'search.query',
    'Finds entries in all histories, yours and those of colleagues, that contain all the words. Each hit names its commit and entry.',
  ),
  history: reads('context.history', 'Lists the commits from a context toward the root, newest first, at most `depth`.'),
  entries: reads(
    'context.entries',
    `Returns the entries of a context: messages, tool calls, results. Read it in pages with \`offset\` and \`limit\` (default ${defaultEntries}). With \`stop\` set to the id itself, returns only what that commit added.`,
    { limit: defaultEntries },
  ),
  materialize: custom(
    'reads',
    `Returns a context as a narrative: who said what, and which tools ran with what effect, in at most \`maxTokens\` tokens (default ${defaultTokens}).`,
    readInputSchema(contract.context.materialize).omit({ format: true }),
    async (client, input) => {
      const narrative = await client.context.materialize({ maxTokens: defaultTokens, ...input, format: 'narrative' });
      const { data } = await client.artifact.get({ ref: narrative.artifactRef });
      return { ...narrative, text: Buffer.from(data, 'base64').toString('utf8') };
    },
  ),
  compaction: reads(
    'usage.compaction',
    `Returns the size of the context before and after a compaction, and the files, decisions, errors and results that its summary does not mention (default \`limit\` ${defaultLosses}).`,
    { limit: defaultLosses },
  ),
  sql: reads(
    'analysis.sql',
    `Answers one SELECT statement over all sessions of the project: what they cost, what failed, which files they changed (default \`limit\` ${defaultRows}). Read \`sql_views\` first for the views and their columns.`,
    { limit: defaultRows },
  ),
  findings: reads(
    'finding.list',
    `Lists what rules find in all sessions: errors that were retried, commands that destroy, edits without a read (default \`limit\` ${defaultRows}).`,
    { limit: defaultRows },
  ),
  session_diagnose: reads(
    'session.diagnose',
    'Says what a model’s API would refuse in a session, so that its agent cannot continue it: orphan results, unanswered calls, empty texts and others.',
  ),
  session_repair: custom(
    'writes',
    'Makes a fork of a session with only the edits that its agent needs. Call it with `dryRun` first: it returns each change and makes nothing.',
    readInputSchema(contract.session.repair),
    // The default of the procedure is the person at this machine.
    (client, { principal = 'agent:mcp', ...input }) => client.session.repair({ ...input, principal }),
    { who: 'principal' },
  ),
  blame: reads('blame.file', 'Names the turn that wrote each line of a file, where recorded edits prove it.'),
  sql_views: reads('analysis.schema', 'Lists the views that `sql` reads, with their columns.'),
  resolve: reads('context.resolve', 'Returns the context that a principal had at a time (ISO 8601), or null.'),
  turn_reproduce: reads('turn.reproduce', 'Rebuilds the model calls of a turn and compares them with the recorded calls.'),
});

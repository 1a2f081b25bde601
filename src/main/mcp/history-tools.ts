import { contract } from '../../core/contract/index.js';
import { type AgentTool, inputOf, toolsOf } from './tool.js';

const { context, search, turn, usage } = contract;
const tool = toolsOf('history');

/** Default limits, because a whole history would fill the agent's context window in one call. */
const defaultEntries = 50;
const defaultLosses = 40;
const defaultTokens = 10_000;

/** Tools that store and read contexts. */
export const historyTools: readonly AgentTool[] = [
  tool(
    'checkpoint',
    'writes',
    'Stores a context as a commit: `text` in a format (claude-code-v1, markdown, …) after `parent`, or null for a new chain. `principal` is the person or agent that the commit belongs to. `checkpoint` is `explicit` if you decided to store it.',
    inputOf(context.checkpoint),
    (client, input) => client.context.checkpoint(input),
    { who: 'principal' },
  ),
  tool(
    'search',
    'reads',
    'Finds entries in all histories, yours and those of colleagues, that contain all the words. Each hit names its commit and entry.',
    inputOf(search.query),
    (client, input) => client.search.query(input),
  ),
  tool(
    'history',
    'reads',
    'Lists the commits from a context toward the root, newest first, at most `depth`.',
    inputOf(context.history),
    (client, input) => client.context.history(input),
  ),
  tool(
    'entries',
    'reads',
    `Returns the entries of a context: messages, tool calls, results. Read it in pages with \`offset\` and \`limit\` (default ${defaultEntries}). With \`stop\` set to the id itself, returns only what that commit added.`,
    inputOf(context.entries),
    (client, input) => client.context.entries({ limit: defaultEntries, ...input }),
  ),
  tool(
    'materialize',
    'reads',
    `Returns a context as a narrative: who said what, and which tools ran with what effect, in at most \`maxTokens\` tokens (default ${defaultTokens}).`,
    inputOf(context.materialize).omit({ format: true }),
    async (client, input) => {
      const narrative = await client.context.materialize({ maxTokens: defaultTokens, ...input, format: 'narrative' });
      const { data } = await client.artifact.get({ ref: narrative.artifactRef });
      return { ...narrative, text: Buffer.from(data, 'base64').toString('utf8') };
    },
  ),
  tool(
    'compaction',
    'reads',
    `Returns the size of the context before and after a compaction, and the files, decisions, errors and results that its summary does not mention (default \`limit\` ${defaultLosses}).`,
    inputOf(usage.compaction),
    (client, input) => client.usage.compaction({ limit: defaultLosses, ...input }),
  ),
  tool('resolve', 'reads', 'Returns the context that a principal had at a time (ISO 8601), or null.', inputOf(context.resolve), (client, input) =>
    client.context.resolve(input),
  ),
  tool(
    'turn_reproduce',
    'reads',
    'Rebuilds the model calls of a turn and compares them with the recorded calls.',
    inputOf(turn.reproduce),
    (client, input) => client.turn.reproduce(input),
  ),
];

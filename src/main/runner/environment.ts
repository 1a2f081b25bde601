import type { AgentPiece } from '../../core/project/index.js';
import { type Environment, systemVariables } from '../../core/system/index.js';

/** The provider whose keys an agent may see; `none` for checks, Git and agents with a login of their own. */
export type Own = 'anthropic' | 'openai' | 'google' | 'bedrock' | 'vertex' | 'none';

const bedrock =
  /^AWS_(ACCESS_KEY_ID|SECRET_ACCESS_KEY|SESSION_TOKEN|PROFILE|REGION|DEFAULT_REGION|CONFIG_FILE|SHARED_CREDENTIALS_FILE|BEARER_TOKEN_BEDROCK|ROLE_ARN|ROLE_SESSION_NAME|WEB_IDENTITY_TOKEN_FILE|CA_BUNDLE|SDK_LOAD_CONFIG|CONTAINER_[A-Z_]+|EC2_METADATA_[A-Z_0-9]+|ENDPOINT_URL[A-Z_]*)$/;
const vertex =
  /^(GOOGLE_APPLICATION_CREDENTIALS|GOOGLE_CLOUD_(PROJECT|LOCATION|REGION|QUOTA_PROJECT)|GCLOUD_PROJECT|CLOUD_ML_[A-Z_]+|CLOUDSDK_[A-Z_]+|VERTEX_REGION_[A-Z0-9_]+)$/;

/** Names of an agent and its own provider. Claude Code reaches its models through Bedrock and Vertex as well. */
const ofAgents: Readonly<Record<Own, readonly RegExp[]>> = {
  anthropic: [
    /^(ANTHROPIC|CLAUDE)_[A-Z0-9_]+$/,
    // Not all that begin so: BASH_ENV names a script that a shell runs, and MCP_… often holds the key of a server.
    /^(BASH_(DEFAULT|MAX)_[A-Z_]+|MCP_(TIMEOUT|TOOL_TIMEOUT|OAUTH_CALLBACK_PORT|(SERVER_)?CONNECTION_[A-Z_]+|REMOTE_SERVER_[A-Z_]+))$/,
    /^(API_TIMEOUT_MS|MAX_THINKING_TOKENS|MAX_MCP_OUTPUT_TOKENS|USE_BUILTIN_RIPGREP|SLASH_COMMAND_TOOL_CHAR_BUDGET)$/,
    /^(DISABLE|ENABLE)_(AUTOUPDATER|TELEMETRY|ERROR_REPORTING|BUG_COMMAND|COST_WARNINGS|NON_ESSENTIAL_MODEL_CALLS|PROMPT_CACHING[A-Z_0-9]*|TOOL_SEARCH|INTERLEAVED_THINKING|COMPACT|AUTO_COMPACT)$/,
    bedrock,
    vertex,
  ],
  openai: [/^(OPENAI|CODEX|AZURE_OPENAI)_[A-Z0-9_]+$/],
  google: [/^(GEMINI_API_KEY|GOOGLE_API_KEY|GOOGLE_GENERATIVE_AI_API_KEY|GOOGLE_GENAI_[A-Z_]+)$/],
  bedrock: [bedrock],
  vertex: [vertex],
  none: [],
};

/** Names that are not passed, even if a person adds them (U9): Stemma's own, and those that change which program runs. */
const never =
  /^(STEMMA_.*|LD_PRELOAD|LD_LIBRARY_PATH|DYLD_.*|NODE_OPTIONS|BASH_ENV|BASH_FUNC_.*|ELECTRON_RUN_AS_NODE|GIT_(EXEC_PATH|CONFIG.*|DIR|WORK_TREE))$/i;

/** The environment of a process that Stemma starts, and the names that it does not get. */
export interface Allowed {
  readonly env: Record<string, string>;
  /** Sorted. Names without a value are not listed. */
  readonly withheld: readonly string[];
}

/**
 * Makes the environment of an agent, of Git or of a check from names that are allowed. All other variables of this process stay behind, because any
 * of them may hold a key.
 * @param added names that a person added in the settings of this machine
 * @param also patterns of the agent's own variables
 */
export function allowedEnvironment(env: Environment, own: Own, added: readonly string[] = [], also: readonly RegExp[] = []): Allowed {
  const patterns = [...systemVariables, ...ofAgents[own], ...also];
  const isAllowed = (name: string): boolean => !never.test(name) && (added.includes(name) || patterns.some((pattern) => pattern.test(name)));
  const all = Object.entries(env).flatMap(([name, value]) => (value === undefined ? [] : [[name, value] as const]));
  return {
    env: Object.fromEntries(all.filter(([name]) => isAllowed(name))),
    withheld: all.flatMap(([name, value]) => (value === '' || isAllowed(name) ? [] : [name])).sort(),
  };
}

/** Says in the log of a job which variables its agent does not get. */
export function* noticeOf(title: string, { withheld }: Allowed): Generator<AgentPiece> {
  if (withheld.length === 0) return;
  yield { kind: 'notice', text: `${title} does not get these variables of the environment: ${withheld.join(', ')}. Automation in Jobs adds names.` };
}

import { writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { isObject, type JsonObject, parseJson, StemmaError, stringAt } from '../../core/base/index.js';
import { makeTemporary, privateFile, readInside, removeQuietly } from '../../core/files/index.js';
import type { AgentOrder, AgentPiece, AgentProgram } from '../../core/project/index.js';
import { programOutput } from '../system/index.js';
import { runAcp } from './acp.js';
import { allowedEnvironment, noticeOf, type Own } from './environment.js';
import { objectAt, startLines } from './lines.js';
import { abilities, findAgent, type Machine, mcpServer } from './machine.js';

const title = 'OpenCode';
const [name, variable] = ['opencode', 'STEMMA_OPENCODE'] as const;
/** The time limit of importing or deleting the session, in milliseconds. */
const commandMs = 60_000;

/** OpenCode (1.18.34), over ACP. Its sessions are in a database, so its work is recorded from its messages. Experimental. */
export const opencode = (machine: Machine): AgentProgram => ({
  agent: 'opencode',
  ...abilities(machine, title, name, variable),
  title: `${title} (experimental)`,
  reports: true,
  run: (order, signal) => runOpencode(machine, order, signal),
});

/** Tools that change nothing, and Stemma's own tools. */
const harmless = { read: 'allow', glob: 'allow', grep: 'allow', list: 'allow', todowrite: 'allow', 'stemma_*': 'allow' };
const asking = { '*': 'ask', edit: 'ask', bash: 'ask', webfetch: 'ask', task: 'ask', external_directory: 'ask', ...harmless };

/** The permissions of OpenCode by permission mode. They replace the permissions in its own settings. */
const permissions = {
  default: asking,
  acceptEdits: { ...asking, edit: 'allow' },
  plan: { ...asking, '*': 'deny', edit: 'deny', bash: 'deny', webfetch: 'deny', task: 'deny' },
  bypassPermissions: { '*': 'allow', edit: 'allow', bash: 'allow', webfetch: 'allow', task: 'allow', external_directory: 'allow' },
} as const;

/** OpenCode works with many providers. It sees only the keys of its model's provider, and otherwise uses its own login. */
const keysFor = (model = ''): Own => providers[model.split('/')[0] ?? ''] ?? 'none';
const providers: Readonly<Record<string, Own>> = {
  anthropic: 'anthropic',
  openai: 'openai',
  google: 'google',
  'amazon-bedrock': 'bedrock',
  'google-vertex': 'vertex',
  'google-vertex-anthropic': 'vertex',
};

/**
 * The person's own settings with additions. A refused permission does not end the turn before the model can answer. Instructions are part of the
 * system prompt, so the rules stand before the session that is loaded, which may contain texts of others.
 */
function settingsBeside(own: string | undefined, rules: string | undefined): JsonObject {
  const given = own === undefined ? undefined : parseJson(own);
  const settings = isObject(given) ? given : {};
  return {
    ...settings,
    ...(rules !== undefined && { instructions: [rules, ...(Array.isArray(settings.instructions) ? settings.instructions : [])] }),
    experimental: { ...objectAt(settings, 'experimental'), continue_loop_on_deny: true },
  };
}

async function* runOpencode(machine: Machine, order: AgentOrder, signal: AbortSignal): AsyncGenerator<AgentPiece> {
  const allowed = allowedEnvironment(machine.env, keysFor(order.model), order.environment, [/^OPENCODE_[A-Z0-9_]+$/]);
  yield* noticeOf(title, allowed);
  const place = order.rules === undefined ? undefined : makeTemporary('rules');
  const rules = place && join(place, 'rules.md');
  if (rules !== undefined) writeFileSync(rules, order.rules ?? '', { mode: privateFile });
  const env = {
    ...allowed.env,
    OPENCODE_PERMISSION: JSON.stringify(permissions[order.permissions]),
    OPENCODE_CONFIG_CONTENT: JSON.stringify(settingsBeside(machine.env.OPENCODE_CONFIG_CONTENT, rules)),
  };
  const command = findAgent(machine, name, variable) ?? name;
  const options = { cwd: order.folder, env, timeout: commandMs };
  let opened: string | undefined;
  try {
    if (order.resume) {
      opened = sessionIn(order.resume.path);
      await programOutput(command, ['import', order.resume.path], { ...options, signal });
    }
    const program = startLines(title, command, ['acp'], { cwd: order.folder, env }, signal);
    const mcp = order.mcp && mcpServer(machine, order.mcp);
    yield* runAcp({ title, program, order, mcp, load: opened, opened: (id) => (opened = id) });
  } finally {
    if (place !== undefined) removeQuietly(place);
    // The chain contains the session, which the person did not start, so OpenCode's copy is deleted. Stopping a job does not wait for this.
    const gone = opened === undefined ? undefined : programOutput(command, ['session', 'delete', opened], options).catch(() => {});
    if (!signal.aborted) await gone;
  }
}

/** The id of the session that Stemma wrote. @throws UNAVAILABLE if the file is damaged */
function sessionIn(path: string): string {
  const document = parseJson(readInside(dirname(path), path, { limit: maxSessionBytes }).toString('utf8'));
  const id = stringAt(objectAt(isObject(document) ? document : undefined, 'info'), 'id');
  if (id === undefined) throw new StemmaError('UNAVAILABLE', `The session ${path} for OpenCode has no id.`);
  return id;
}

const maxSessionBytes = 512 * 1024 * 1024;

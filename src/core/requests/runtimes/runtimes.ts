import { claudeCode } from './claude-code/index.js';
import { codex } from './codex/index.js';
import { fromEntries, openaiFromEntries } from './from-entries.js';
import { gemini } from './gemini/index.js';
import { langgraph } from './langgraph/index.js';
import { opencode } from './opencode/index.js';
import { pi } from './pi/index.js';
import type { CallReader } from './runtime.js';

/** The only list of runtimes. To add a runtime, add its folder and its name here. */
export const runtimes: readonly CallReader[] = [
  claudeCode,
  codex,
  gemini,
  langgraph,
  opencode,
  pi,
  openaiFromEntries,
  // Agents that share the records of another one.
  { ...opencode, format: 'kilo-v1' },
  { ...pi, format: 'openclaw-v1' },
];
const registry: ReadonlyMap<string, CallReader> = new Map(runtimes.map((runtime) => [runtime.format, runtime]));

/** The rules of the runtime that wrote commits of this format. For an unknown runtime, rules that read entries only. */
export const findReader = (format: string): CallReader => registry.get(format) ?? fromEntries;

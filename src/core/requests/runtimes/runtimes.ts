import { claudeCode } from './claude-code/index.js';
import { codex } from './codex/index.js';
import { fromEntries, openaiFromEntries } from './from-entries.js';
import { gemini } from './gemini/index.js';
import { langgraph } from './langgraph/index.js';
import { opencode } from './opencode/index.js';
import { pi } from './pi/index.js';
import type { Runtime } from './runtime.js';

/** The only list: a runtime with known calls is its folder and a word here. */
export const runtimes: readonly Runtime[] = [
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
const registry: ReadonlyMap<string, Runtime> = new Map(runtimes.map((runtime) => [runtime.format, runtime]));

/** The runtime that wrote commits of this format. For an unknown runtime, one that reads entries only. */
export const runtimeOf = (format: string): Runtime => registry.get(format) ?? fromEntries;

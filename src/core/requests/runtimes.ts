import { claudeCode } from './claude-code/index.js';
import { codex } from './codex/index.js';
import { fromEntries, openaiFromEntries } from './from-entries.js';
import { gemini } from './gemini/index.js';
import { langgraph } from './langgraph/index.js';
import { opencode } from './opencode/index.js';
import { pi } from './pi/index.js';
import type { Runtime } from './runtime.js';

/** The only list: a runtime whose calls are known is its folder and a word here. */
export const runtimes: readonly Runtime[] = [claudeCode, codex, gemini, langgraph, opencode, pi, openaiFromEntries];
const registry: ReadonlyMap<string, Runtime> = new Map(runtimes.map((runtime) => [runtime.format, runtime]));

/** The runtime that wrote commits of this format; of one that is not known, what its entries tell. */
export const runtimeOf = (format: string): Runtime => registry.get(format) ?? fromEntries;

import { join } from 'node:path';
import { builtInRules, type RuleResults, ruleOf, type SqlRule } from '../analysis/index.js';
import { textOf } from '../base/index.js';
import { listIfExists, readInside } from '../files/index.js';
import { analystMs, askProject } from './analyst.js';
import type { Engine } from './engine.js';
import type { Project } from './project.js';

const maxRuleBytes = 100_000;

/** The folder of a person's own rules: SQL files in Stemma's data folder. */
export const rulesFolder = (dataDir: string): string => join(dataDir, 'rules');

/** The built-in rules and a person's own. An own rule with the name of a built-in one replaces it. */
export function rulesIn(dataDir: string): SqlRule[] {
  const folder = rulesFolder(dataDir);
  const own = listIfExists(dataDir, folder)
    .filter((entry) => entry.isFile() && entry.name.endsWith('.sql'))
    .map(({ name }) => ruleOf(name.slice(0, -'.sql'.length), textOf(readInside(dataDir, join(folder, name), { limit: maxRuleBytes })), false));
  const names = new Set(own.map(({ rule }) => rule));
  return [...builtInRules.filter(({ rule }) => !names.has(rule)), ...own];
}

/** What rules find in a project, in a process of its own. @throws as `Analyst` */
export const findIn = async (engine: Engine, project: Project, rules: readonly SqlRule[], signal: AbortSignal | undefined): Promise<RuleResults> =>
  (await askProject(engine, project, { kind: 'findings', rules }, { ms: analystMs.findings, signal })) as RuleResults;

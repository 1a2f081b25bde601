import { join } from 'node:path';
import {
  builtInRules,
  byTime,
  type FindingPage,
  keptCounts,
  keptFindings,
  parseRule,
  type RuleResults,
  type SqlRule,
  uncheckedSessions,
} from '../analysis/index.js';
import { decodeText } from '../base/index.js';
import { listIfExists, readInside } from '../files/index.js';
import { askProject, prepareFindings } from './analyst.js';
import { analystMs, requireFile } from './asking.js';
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
    .map(({ name }) => parseRule(name.slice(0, -'.sql'.length), decodeText(readInside(dataDir, join(folder, name), { limit: maxRuleBytes })), false));
  const names = new Set(own.map(({ rule }) => rule));
  return [...builtInRules.filter(({ rule }) => !names.has(rule)), ...own];
}

/**
 * A page of what rules find in a project, newest first, and how many sessions the built-in ones have not seen yet. The findings of built-in rules
 * are kept; a person's own rules are applied to all sessions, in a process of its own. @throws as `Analyst`
 */
export async function findIn(engine: Engine, project: Project, page: FindingPage, signal: AbortSignal | undefined) {
  const { rules, sessionId, offset, limit } = page;
  const { own, problems } = await findOwn(engine, project, rules, signal);
  const wanted = own.filter((one) => sessionId === undefined || one.sessionId === sessionId);
  const builtIn = rules.filter(({ isBuiltIn }) => isBuiltIn);
  const { chain } = project;
  // Each of a person's findings may stand before those of the page.
  const part = wanted.length === 0 ? { offset, limit } : { offset: 0, limit: offset + limit };
  const kept = keptFindings(chain, { rules: builtIn, sessionId, ...part });
  const findings = wanted.length === 0 ? kept.findings : [...kept.findings, ...wanted].sort(byTime).slice(offset, offset + limit);
  return { total: kept.total + wanted.length, findings, problems, unchecked: builtIn.length > 0 ? uncheckedSessions(chain) : 0 };
}

/** The number of findings of each rule. @throws as `Analyst` */
export async function countFindings(engine: Engine, project: Project, rules: readonly SqlRule[], signal: AbortSignal | undefined) {
  const { own, problems } = await findOwn(engine, project, rules, signal);
  const kept = keptCounts(project.chain);
  const byRule = Map.groupBy(own, ({ rule }) => rule);
  const counts = new Map(rules.map(({ rule, isBuiltIn }) => [rule, (isBuiltIn ? kept.get(rule) : byRule.get(rule)?.length) ?? 0] as const));
  return { counts, problems, unchecked: uncheckedSessions(project.chain) };
}

/** What a person's own rules find in all sessions. */
async function findOwn(engine: Engine, project: Project, rules: readonly SqlRule[], signal: AbortSignal | undefined) {
  requireFile(project);
  await prepareFindings(engine, project);
  const some = rules.filter(({ isBuiltIn }) => !isBuiltIn);
  if (some.length === 0) return { own: [], problems: [] };
  const found = (await askProject(engine, project, { kind: 'findings', rules: some }, { ms: analystMs.findings, signal })) as RuleResults;
  return { own: found.findings, problems: found.problems };
}

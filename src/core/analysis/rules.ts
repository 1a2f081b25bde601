/// <reference path="./finding-rules.d.ts" />
import { rules as files } from 'virtual:finding-rules';
import type { FindingRule } from '../contract/index.js';

export type SqlRule = Readonly<Omit<FindingRule, 'found' | 'problem'>>;

const severities: readonly string[] = ['high', 'medium', 'low'];

/** A rule from the text of its file: comments `-- title:`, `-- severity:` and `-- what:` before the statement. */
export function parseRule(rule: string, sql: string, isBuiltIn: boolean): SqlRule {
  const head = (name: string): string | undefined => new RegExp(`^--\\s*${name}:\\s*(.+?)\\s*$`, 'im').exec(sql)?.[1];
  const severity = head('severity')?.toLowerCase() ?? '';
  return {
    rule,
    title: head('title') ?? rule,
    what: head('what') ?? '',
    severity: (severities.includes(severity) ? severity : 'medium') as SqlRule['severity'],
    isBuiltIn,
    sql,
  };
}

/** The rules of Stemma. Each is a file in `rules`. */
export const builtInRules: readonly SqlRule[] = files.map(({ name, sql }) => parseRule(name, sql, true));

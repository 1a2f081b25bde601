import { StemmaError } from '../base/index.js';
import type { Finding } from '../contract/index.js';
import type { ConfinedDatabase } from '../store/index.js';
import { answer } from './answer.js';
import type { SqlRule } from './rules.js';

/** What the rules found, and what is wrong with some of them. */
export interface RuleResults {
  readonly findings: readonly Finding[];
  readonly problems: readonly { readonly rule: string; readonly message: string }[];
}

/** The most findings of a rule that is applied to all sessions at once. */
const mostOfRule = 5_000;

/** Applies rules. A rule that is wrong is named, and the others go on. */
export function applyRules(db: ConfinedDatabase, rules: readonly SqlRule[]): RuleResults {
  const titles = new Map(
    answer(db, { sql: 'SELECT session_id, title FROM sessions', values: [] }, Number.MAX_SAFE_INTEGER).rows.map(([id, title]) => [id, String(title)]),
  );
  const findings: Finding[] = [];
  const problems: RuleResults['problems'][number][] = [];
  for (const rule of rules)
    try {
      findings.push(...findingsOf(db, rule, { most: mostOfRule, titles }));
    } catch (error) {
      if (!(error instanceof StemmaError)) throw error;
      problems.push({ rule: rule.rule, message: error.message });
    }
  return { findings: findings.sort(byTime), problems };
}

/** Newest first; findings without a time last. */
export const byTime = (a: Finding, b: Finding): number => ((b.at ?? '') < (a.at ?? '') ? -1 : (b.at ?? '') > (a.at ?? '') ? 1 : 0);

/** What a rule finds in the views of a database. The titles of sessions are not read. @throws BAD_REQUEST for a rule that is wrong */
export function findingsOf(
  db: Pick<ConfinedDatabase, 'select'>,
  { rule, title, severity, sql }: SqlRule,
  { most, titles = new Map() }: { readonly most: number; readonly titles?: ReadonlyMap<unknown, string> },
): Finding[] {
  const { columns, rows } = answer(db, { sql, values: [] }, most);
  const missing = ['session_id', 'detail'].filter((name) => !columns.includes(name));
  if (missing.length > 0)
    throw new StemmaError(
      'BAD_REQUEST',
      `The rule returns no column ${missing.join(' and ')}. It must return session_id and detail, and may return commit_id, entry_key, at and count.`,
    );
  const cellOf = (row: readonly unknown[], name: string): unknown => row[columns.indexOf(name)] ?? null;
  const textCell = (row: readonly unknown[], name: string): string | null => {
    const value = cellOf(row, name);
    return value === null ? null : String(value);
  };
  return rows.map((row) => {
    const count = Number(cellOf(row, 'count') ?? 1);
    return {
      rule,
      title,
      severity,
      sessionId: textCell(row, 'session_id'),
      sessionTitle: titles.get(cellOf(row, 'session_id')) ?? null,
      commit: textCell(row, 'commit_id') as Finding['commit'],
      entryKey: textCell(row, 'entry_key') as Finding['entryKey'],
      at: textCell(row, 'at') as Finding['at'],
      detail: textCell(row, 'detail') ?? '',
      count: Number.isSafeInteger(count) && count >= 0 ? count : 1,
    };
  });
}

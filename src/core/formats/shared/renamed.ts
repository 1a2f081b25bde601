import type { ImportPlan, PlannedCommit } from '../format.js';

/** Adapts a plan for an agent whose records have the format of another agent. `from` and `to` are the names of the agents. */
export function renamed(plan: ImportPlan, { format, from, to }: Record<'format' | 'from' | 'to', string>): ImportPlan {
  const name = (text: string): string =>
    text === from || text.startsWith(`${from}@`) || text.startsWith(`${from}/`) ? to + text.slice(from.length) : text;
  const commits = plan.commits.map(
    (commit): PlannedCommit => ({
      ...commit,
      template: name(commit.template),
      ...(commit.principal !== undefined && { principal: name(commit.principal) }),
    }),
  );
  return { ...plan, format, commits };
}

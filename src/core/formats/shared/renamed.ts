import type { ImportPlan, PlannedCommit } from '../format.js';

interface Renaming {
  readonly format: string;
  readonly from: string;
  readonly to: string;
}

/** Adapts a plan for an agent whose records have the format of another agent. */
export function renamed(plan: ImportPlan, { format, from, to }: Renaming): ImportPlan {
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

/** The folders in which agents and Git keep further checkouts of a repository. The first group is the repository. */
const worktrees = [
  /^(.+)[/\\]\.claude[/\\]worktrees[/\\][^/\\]+/,
  /^(.+)[/\\]\.worktrees[/\\][^/\\]+/,
  /^(.+[/\\]\.cursor[/\\]worktrees[/\\][^/\\]+)[/\\]/,
];

/** The repository of a working folder: a worktree belongs to the repository that it is a checkout of. */
export function repositoryOf(folder: string): string {
  for (const pattern of worktrees) {
    const found = pattern.exec(folder)?.[1];
    if (found !== undefined) return found;
  }
  return folder;
}

/** The folders in which agents and Git keep further checkouts of a repository. The first group is the repository, or is named like it. */
const worktrees = [
  /^(.+)[/\\]\.claude[/\\]worktrees[/\\][^/\\]+/,
  /^(.+)[/\\]\.worktrees[/\\][^/\\]+/,
  /^(.+[/\\]\.cursor[/\\]worktrees[/\\][^/\\]+)[/\\]/,
  /^(.+[/\\]\.claude-worktrees[/\\][^/\\]+)[/\\]/,
  /^(.+[/\\]conductor[/\\]workspaces[/\\][^/\\]+)[/\\]/,
];

/** The repository of a working folder, by its path alone: a worktree belongs to the repository that it is a checkout of. */
export function repositoryOf(folder: string): string {
  const path = oneSpelling(folder);
  for (const pattern of worktrees) {
    const found = pattern.exec(path)?.[1];
    if (found !== undefined) return found;
  }
  return path;
}

/** The path of a folder as the system has it on whose disk the folder is. Windows and its Linux see each other's disks under other names. */
function oneSpelling(folder: string): string {
  const path = folder.replace(/^\\\\\?\\UNC(?=\\)/i, '\\').replace(/^\\\\\?\\(?=[a-z]:)/i, '');
  const linux = /^[\\/]{2}wsl(?:\$|\.localhost)[\\/][^\\/]+([\\/].*)?$/i.exec(path);
  if (linux) return oneSpelling((linux[1] ?? '/').replaceAll('\\', '/'));
  const [, drive, rest = ''] = /^(?:(?:\/mnt|\/cygdrive)\/([a-z])(?=\/|$)|([a-z]):(?=[\\/]|$))/i.exec(path)
    ? (/^(?:\/mnt\/|\/cygdrive\/)?([a-z]):?(.*)$/is.exec(path) ?? [])
    : [];
  return drive === undefined ? withoutEnd(path) : withoutEnd(`${drive.toUpperCase()}:${rest.replaceAll('/', '\\') || '\\'}`);
}

/** Without separators at the end, except for a root, and without those that follow another. */
const withoutEnd = (path: string): string => path.replaceAll(/(?<=[^\\/:])([\\/])[\\/]+/g, '$1').replace(/(?<=[^\\/:])[\\/]+$/, '');

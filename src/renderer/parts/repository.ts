/** A text without the folder of its repository: paths inside it become relative. */
export const inFolder = (text: string, folder: string | null | undefined): string =>
  folder ? text.replaceAll(`${folder.replace(/[\\/]+$/, '')}/`, '') : text;

/** The name of a repository by its folder. A worktree in a folder of worktrees is named after its repository: `cli (2)`. */
export function repositoryName(folder: string): string {
  const parts = folder.split(/[\\/]/).filter((part) => part !== '');
  const last = parts.at(-1) ?? folder;
  if (!/^\.?worktrees$/.test(parts.at(-2) ?? '')) return last;
  const repository = parts.slice(0, -2).findLast((part) => !part.startsWith('.'));
  return repository === undefined ? last : `${repository} (${last})`;
}

/** A text with long paths cut to their last two parts, because the end of a path tells most. */
export const shortPaths = (text: string): string =>
  text.replace(/\S+/g, (word) => (word.includes('://') ? word : word.replace(/(?:[^\s/"'=]*\/){2,}(?=[^\s/]+\/[^\s/]+)/, '…/')));

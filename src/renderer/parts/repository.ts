/** Removes the repository's folder from a text, so that paths inside the repository become relative. */
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

/** Shortens long paths in a text to their last two parts, which are the most informative. */
export const shortPaths = (text: string): string =>
  text.replace(/\S+/g, (word) => (word.includes('://') ? word : word.replace(/(?:[^\s/"'=]*\/){2,}(?=[^\s/]+\/[^\s/]+)/, '…/')));

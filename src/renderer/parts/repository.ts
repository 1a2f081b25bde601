/** Removes the repository's folder from a text, so that paths inside the repository become relative. */
export const inFolder = (text: string, folder: string | null | undefined): string =>
  folder ? text.replaceAll(`${folder.replace(/[\\/]+$/, '')}/`, '') : text;

/** The name of a repository by its folder. A worktree in a folder of worktrees is named after its repository: `cli (2)`. */
export const repositoryName = (folder: string): string => partsOf(folder).name;

/** The names of repositories by folder. Equal names get the parent folders that tell them apart: `work/cli` and `me/cli`. */
export function repositoryNames(folders: Iterable<string>): ReadonlyMap<string, string> {
  const all = [...new Set(folders)].map((folder) => ({ folder, ...partsOf(folder) }));
  const names = new Map<string, string>();
  for (const [name, same] of Map.groupBy(all, (one) => one.name)) {
    const depth = Math.max(...same.map(({ parents }) => parents.length));
    const withParents = (count: number) => same.map(({ parents }) => [...(count === 0 ? [] : parents.slice(-count)), name].join('/'));
    let count = 0;
    while (count < depth && new Set(withParents(count)).size < same.length) count++;
    const shown = withParents(count);
    const areDistinct = new Set(shown).size === same.length;
    same.forEach(({ folder }, at) => {
      names.set(folder, areDistinct ? (shown[at] ?? name) : folder);
    });
  }
  return names;
}

function partsOf(folder: string): { readonly name: string; readonly parents: readonly string[] } {
  const parts = folder.split(/[\\/]/).filter((part) => part !== '');
  const last = parts.at(-1) ?? folder;
  const own = { name: last, parents: parts.slice(0, -1) };
  if (!/^\.?worktrees$/.test(parts.at(-2) ?? '')) return own;
  const at = parts.slice(0, -2).findLastIndex((part) => !part.startsWith('.'));
  return at < 0 ? own : { name: `${parts[at]} (${last})`, parents: parts.slice(0, at) };
}

/** Shortens long paths in a text to their last two parts, which are the most informative. */
export const shortPaths = (text: string): string =>
  text.replace(/\S+/g, (word) => (word.includes('://') ? word : word.replace(/(?:[^\s/"'=]*\/){2,}(?=[^\s/]+\/[^\s/]+)/, '…/')));

import { api } from '../../client';

/**
 * Finds the paths of dropped files. The desktop app knows them. A browser hides them, so a file is matched by name and size with the sessions found
 * on this machine. `unknown` lists the names of files without a match.
 */
export async function pathsOfDrop(data: DataTransfer): Promise<{ paths: string[]; unknown: string[] }> {
  const files = [...data.files];
  const bridge = window.stemma;
  const paths: string[] = [];
  const left: File[] = [];
  for (const file of files) {
    const path = bridge?.pathOf?.(file);
    if (path) paths.push(path);
    else left.push(file);
  }
  if (left.length === 0) return { paths, unknown: [] };
  const sources = await api.library.sources({}).catch(() => []);
  const found = (await Promise.all(sources.map(({ root }) => api.library.sessions({ root }).catch(() => [])))).flat();
  const unknown: string[] = [];
  for (const file of left) {
    const matches = found.filter((session) => session.bytes === file.size && session.path.split(/[\\/]/).at(-1) === file.name);
    if (matches.length === 1 && matches[0]) paths.push(matches[0].path);
    else unknown.push(file.name);
  }
  return { paths, unknown };
}

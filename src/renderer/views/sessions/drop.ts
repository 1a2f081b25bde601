import { api } from '../../client';

/** The paths of dropped files. A browser hides them: a file is then found by name and size on this machine, or is `unknown`. */
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

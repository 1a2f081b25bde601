import { useEffect, useState } from 'react';
import { notifyProblem } from '../parts';
import { notify, showProject } from '../state';
import { importPaths, pathsOfDrop } from '../views/sessions';

/** Imports files that are dropped anywhere on the window. Returns true while files are dragged over it. */
export function useDrop(): boolean {
  const [over, setOver] = useState(false);
  useEffect(() => {
    let depth = 0;
    const carriesFiles = (event: DragEvent) => event.dataTransfer?.types.includes('Files') ?? false;
    const enter = (event: DragEvent) => {
      if (!carriesFiles(event)) return;
      event.preventDefault();
      depth++;
      setOver(true);
    };
    const leave = () => {
      depth = Math.max(0, depth - 1);
      if (depth === 0) setOver(false);
    };
    const hover = (event: DragEvent) => carriesFiles(event) && event.preventDefault();
    const drop = (event: DragEvent) => {
      depth = 0;
      setOver(false);
      if (!event.dataTransfer || !carriesFiles(event)) return;
      event.preventDefault();
      pathsOfDrop(event.dataTransfer).then(({ paths, unknown }) => {
        if (unknown.length > 0) notify(`The browser does not tell the path of ${unknown[0]}. Type the path in “Open or import a path” instead.`);
        const projects = paths.filter((path) => path.endsWith('.stemma'));
        if (projects[0]) showProject(projects[0]);
        return importPaths(
          paths.filter((path) => !path.endsWith('.stemma')),
          true,
        );
      }, notifyProblem);
    };
    const listening = new AbortController();
    const { signal } = listening;
    addEventListener('dragenter', enter, { signal });
    addEventListener('dragleave', leave, { signal });
    addEventListener('dragover', hover, { signal });
    addEventListener('drop', drop, { signal });
    return () => listening.abort();
  }, []);
  return over;
}

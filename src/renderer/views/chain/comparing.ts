import type { ContextId } from '../../../core/contract/index.js';
import { openComparison } from '../../state';

const draggedCommit = 'text/x-stemma-commit';

/** Drag and drop for a row: dropping a commit on another commit compares them, the dragged commit first. By keyboard: Space, then d. */
export const comparing = (id: ContextId): React.HTMLAttributes<HTMLElement> & { draggable: true } => {
  const isOver = (event: React.DragEvent): boolean => event.dataTransfer.types.includes(draggedCommit);
  const mark = (event: React.DragEvent, over: boolean): void => void event.currentTarget.classList.toggle('dropping', over);
  return {
    draggable: true,
    onDragStart: (event) => {
      event.dataTransfer.setData(draggedCommit, id);
      event.dataTransfer.effectAllowed = 'link';
    },
    onDragOver: (event) => {
      if (!isOver(event)) return;
      event.preventDefault();
      event.dataTransfer.dropEffect = 'link';
      mark(event, true);
    },
    onDragLeave: (event) => mark(event, false),
    onDrop: (event) => {
      mark(event, false);
      const dragged = event.dataTransfer.getData(draggedCommit);
      if (!isOver(event)) return;
      event.preventDefault();
      event.stopPropagation();
      if (dragged !== id) openComparison(id, dragged as ContextId);
    },
  };
};

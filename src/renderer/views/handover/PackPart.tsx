import { Plus } from 'lucide-react';
import type { ReactNode } from 'react';
import { IconButton } from '../../parts';

/** A titled part of the form, with a button that adds a row if `add` is given. */
export function PackPart({ title, add, children }: { title: string; add?: () => void; children: ReactNode }) {
  return (
    <fieldset className="pack-part">
      <legend>
        {title}
        {add && <IconButton small icon={Plus} label={`Add to ${title.toLowerCase()}`} onClick={add} />}
      </legend>
      {children}
    </fieldset>
  );
}

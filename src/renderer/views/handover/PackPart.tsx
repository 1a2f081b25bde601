import { Plus } from 'lucide-react';
import type { ReactNode } from 'react';
import { IconButton } from '../../parts';

/** A titled part of the form that says what it is for, with a button that adds a row if `add` is given. */
export function PackPart({ title, hint, add, children }: { title: string; hint: string; add?: () => void; children: ReactNode }) {
  return (
    <fieldset className="pack-part stack">
      <legend>
        {title}
        {add && <IconButton small icon={Plus} label={`Add to ${title.toLowerCase()}`} onClick={add} />}
      </legend>
      <p className="muted">{hint}</p>
      {children}
    </fieldset>
  );
}

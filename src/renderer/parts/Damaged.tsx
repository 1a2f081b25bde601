import { ShieldCheck, TriangleAlert } from 'lucide-react';
import { go } from '../state';
import { Button } from './buttons';

/** A button to the page that checks and repairs the stored content of the open project. */
export const RepairButton = ({ small = true }: { small?: boolean }) => (
  <Button small={small} icon={ShieldCheck} label="Check and repair" onClick={() => go({ view: 'settings', settings: 'storage' })} />
);

/** A notice that the stored record of a commit is damaged, and what a person can do about it. */
export const Damaged = () => (
  <section className="notice-line damaged wrap" aria-label="Damaged commit">
    <TriangleAlert size={14} aria-hidden />
    <span className="grow">
      The record of this commit is damaged, so its summary and tags are not shown. Its content is verified when it is read. A repair restores the
      record from a backup or from the imported file.
    </span>
    <RepairButton />
  </section>
);

/** Marks what is shown from a stored record that is damaged. */
export const DamagedMark = () => (
  <span className="badge damaged-badge" title="The stored record is damaged, so this may not be true. Check the project in Settings, Storage.">
    <TriangleAlert size={11} aria-hidden />
    damaged
  </span>
);

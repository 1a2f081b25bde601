import { ShieldCheck, TriangleAlert } from 'lucide-react';
import { go } from '../state';
import { Button } from './buttons';

/** A notice that the stored record of a commit is damaged, and what a person can do about it. */
export const Damaged = () => (
  <section className="notice-line damaged wrap" aria-label="Damaged commit">
    <TriangleAlert size={14} aria-hidden />
    <span className="grow">
      The record of this commit is damaged, so its summary and tags are not shown. Its content is verified when it is read. A repair restores the
      record from a backup or from the imported file.
    </span>
    <Button small icon={ShieldCheck} onClick={() => go({ view: 'settings', settings: 'storage' })}>
      Check and repair
    </Button>
  </section>
);

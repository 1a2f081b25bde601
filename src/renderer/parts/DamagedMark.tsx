import { TriangleAlert } from 'lucide-react';

/** Marks what is shown from a stored record that is damaged. */
export const DamagedMark = () => (
  <span className="badge damaged-badge" title="The stored record is damaged, so this may not be true. Check the project in Settings, Storage.">
    <TriangleAlert size={11} aria-hidden />
    damaged
  </span>
);

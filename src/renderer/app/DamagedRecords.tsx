import { TriangleAlert } from 'lucide-react';
import { damageInWords } from '../../core/contract/index.js';
import { useDamagedRows } from '../client';
import { RepairButton } from '../parts';

/** A bar above a project with damaged records, because a sum or a list made from them has no mark of its own. */
export function DamagedRecords() {
  const rows = useDamagedRows();
  if (rows.size === 0) return null;
  return (
    <section className="notice-line restricted damaged" aria-label="Damaged records">
      <TriangleAlert size={14} aria-hidden />
      <span className="grow">Some records of this project are damaged: {damageInWords(rows)}. What is shown from them may be wrong.</span>
      <RepairButton />
    </section>
  );
}

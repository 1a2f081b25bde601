import { useMemo } from 'react';
import { type DiffRow, stripOf } from './parts';

/** An overview of where the differences are. */
export function Strip({ rows, onGo }: { rows: readonly DiffRow[]; onGo: (row: number) => void }) {
  const segments = useMemo(() => stripOf(rows), [rows]);
  if (segments.length === 0) return null;
  return (
    <div className="diff-strip" aria-hidden>
      {segments.map(({ row, kind, weight }) => (
        <button key={row} type="button" tabIndex={-1} className={kind} style={{ flexGrow: weight }} onClick={() => onGo(row)} />
      ))}
    </div>
  );
}

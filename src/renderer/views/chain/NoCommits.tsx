import { FolderInput } from 'lucide-react';
import { Button, Empty } from '../../parts';
import { go } from '../../state';

/** The empty state of the chain. */
export function NoCommits({ filtered }: { filtered: boolean }) {
  return (
    <Empty
      title={filtered ? 'This session has no commits' : 'This project has no commits yet'}
      picture={<EmptyChain />}
      actions={
        filtered ? (
          <Button label="Show all sessions" onClick={() => go({ session: undefined })} />
        ) : (
          <Button look="primary" icon={FolderInput} label="Import a history" onClick={() => go({ view: 'sessions' })} />
        )
      }
    >
      {filtered
        ? 'The turns of the chosen session appear here.'
        : 'Import an agent’s history. Each of its turns becomes a commit that you can read, compare and fork.'}
    </Empty>
  );
}

/** The empty state if no row contains the filter's words. */
export const NoMatches = ({ onClear }: { onClear: () => void }) => (
  <Empty title="No matching commits" acts={[{ name: 'Clear the filter', act: onClear }]}>
    Commits whose title, branch, id, agent, author, type or tags contain the words appear here. To search the contents, press Ctrl K.
  </Empty>
);

const EmptyChain = () => (
  <svg width="220" height="84" fill="none" stroke="currentColor" strokeWidth="2" aria-hidden focusable="false">
    <path d="M24 10V74M24 42C24 30 48 36 48 22V10" />
    {[10, 42, 74].map((y) => (
      <g key={y}>
        <circle cx="24" cy={y} r="4" fill="currentColor" />
        <path d={`M66 ${y}H${y === 42 ? 160 : 204}`} strokeWidth="6" strokeLinecap="round" opacity="0.5" />
      </g>
    ))}
    <circle cx="48" cy="10" r="4" fill="currentColor" />
  </svg>
);

import type { ReactNode } from 'react';
import { Failure } from '../../parts';
import { followAddress } from '../../state';

/** In place of a project that cannot be opened: why, and what a person can do. */
export const NotOpened = ({ dir, error, actions }: { dir: string; error: unknown; actions: ReactNode }) => (
  <Failure
    what={`The project ${dir} cannot be opened`}
    error={error}
    stillWorks="Nothing in it was changed. Other projects can still be opened."
    onRetry={() => void followAddress()}
    actions={actions}
  />
);

import type { ReactNode } from 'react';

/** A setting: its name with a hint, and its control. */
export const Setting = ({ name, hint, children }: { name: string; hint?: string; children?: ReactNode }) => (
  <div className="settings-row row line-below">
    <span>
      {name} {hint && <span className="muted">{hint}</span>}
    </span>
    {children}
  </div>
);

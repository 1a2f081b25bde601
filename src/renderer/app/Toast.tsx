import { X } from 'lucide-react';
import { Button, IconButton } from '../parts';
import { dismissNotice, useUi } from '../state';

/** A message with an action, such as Undo. Messages without an action are in the status bar. */
export function Toast() {
  const { notice, noticeAct } = useUi();
  if (!notice || !noticeAct) return null;
  return (
    <div className="toast row" role="status">
      <span className="grow">{notice}</span>
      <Button
        small
        look="primary"
        onClick={() => {
          dismissNotice();
          noticeAct.act();
        }}
      >
        {noticeAct.name}
      </Button>
      <IconButton small icon={X} label="Dismiss" onClick={dismissNotice} />
    </div>
  );
}

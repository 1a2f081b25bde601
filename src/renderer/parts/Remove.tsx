import { Trash2 } from 'lucide-react';
import { type ReactNode, useState } from 'react';
import { Button, IconButton } from './buttons';
import { CardButton } from './Menu';

/** A button for a removal that cannot be undone. The confirmation says what is removed and what stays. */
export function RemoveButton(props: { label: string; question: string; children: ReactNode; onRemove: () => void; verb?: string; small?: boolean }) {
  const { label, question, children, onRemove, verb = 'Remove', small } = props;
  const [open, setOpen] = useState(false);
  return (
    <CardButton label={question} open={open} onOpenChange={setOpen} button={<IconButton icon={Trash2} label={label} {...(small && { small })} />}>
      <h2>{question}</h2>
      <p className="muted">{children}</p>
      <div className="card-foot">
        <Button onClick={() => setOpen(false)}>Keep</Button>
        <Button
          look="danger"
          icon={Trash2}
          onClick={() => {
            setOpen(false);
            onRemove();
          }}
        >
          {verb}
        </Button>
      </div>
    </CardButton>
  );
}

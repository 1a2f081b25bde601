import { useState } from 'react';
import { Button, Sheet } from '../../parts';
import { layerName } from './layers';

interface EditLayerProps {
  readonly layer: string;
  readonly text: string;
  readonly onClose: () => void;
  readonly onDone: (text: string) => void;
}

/** A sheet to try another text for a layer. */
export function EditLayer({ layer, text, onClose, onDone }: EditLayerProps) {
  const [value, setValue] = useState(text);
  return (
    <Sheet
      title={`Edit ${layerName(layer).toLowerCase()}`}
      kind="side"
      onClose={onClose}
      footer={
        <>
          <span className="muted grow">This is a trial. Nothing is stored.</span>
          <Button onClick={onClose}>Cancel</Button>
          <Button look="primary" onClick={() => onDone(value)}>
            Show the changes
          </Button>
        </>
      }
    >
      <textarea
        className="field mono compose-edit"
        aria-label={layerName(layer)}
        value={value}
        rows={24}
        onChange={(event) => setValue(event.target.value)}
      />
    </Sheet>
  );
}

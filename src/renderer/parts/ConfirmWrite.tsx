import { AlertDialog } from '@base-ui/react/alert-dialog';
import { FileOutput } from 'lucide-react';
import { useWriteQuestion } from '../client';
import { Button } from './buttons';

/**
 * Asks before the engine writes a file to a folder in which this window has not written before. The transcripts in the window are hostile, so the
 * person sees the full path. A sheet renders this question inside itself, because a separate dialog would count as a click outside and close the
 * sheet.
 */
export function ConfirmWrite() {
  const { question, answer } = useWriteQuestion();
  if (!question) return null;
  return (
    <AlertDialog.Root open onOpenChange={(open) => !open && answer(false)}>
      <AlertDialog.Portal>
        <AlertDialog.Backdrop className="sheet-scrim over-sheet" forceRender />
        <AlertDialog.Popup className="sheet dialog confirm-write">
          <div className="sheet-head row">
            <AlertDialog.Title>Write this file?</AlertDialog.Title>
          </div>
          <div className="sheet-body">
            <output className="exact-text mono">{question.path}</output>
            <AlertDialog.Description className="muted">
              Stemma asks before it first writes to a folder. It then writes other new files directly in <b className="mono">{question.folder}</b>{' '}
              without asking, until Stemma stops. Existing files are never overwritten.
            </AlertDialog.Description>
          </div>
          <div className="sheet-foot row wrap">
            <Button label="Cancel" onClick={() => answer(false)} />
            <Button look="primary" icon={FileOutput} label="Allow and write" onClick={() => answer(true)} />
          </div>
        </AlertDialog.Popup>
      </AlertDialog.Portal>
    </AlertDialog.Root>
  );
}

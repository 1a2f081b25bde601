import { ClipboardCopy, ExternalLink } from 'lucide-react';
import { lazy, Suspense } from 'react';
import { Button, Sheet } from '../parts';
import { copy, dismiss, useUi } from '../state';
import { ExportSheet, ResumeSheet } from '../views/export';
import { ForkSheet } from '../views/fork';
import { ImportsSheet } from '../views/library';
import { keyGroups } from './keys';
import { Palette } from './Palette';

const ProvidersSheet = lazy(() => import('../views/run').then(({ ProvidersSheet: sheet }) => ({ default: sheet })));

const CaseSheet = lazy(() => import('../views/experiments').then(({ CaseSheet: sheet }) => ({ default: sheet })));

/** Whatever floats over the window at the moment. */
export function Sheets() {
  const sheet = useUi((ui) => ui.sheet);
  if (!sheet) return null;
  switch (sheet.kind) {
    case 'palette':
      return <Palette />;
    case 'keys':
      return <KeySheet />;
    case 'imports':
      return <ImportsSheet />;
    case 'fork':
      return <ForkSheet commit={sheet.commit} at={sheet.at} stop={sheet.stop} />;
    case 'export':
      return <ExportSheet commit={sheet.commit} stop={sheet.stop} />;
    case 'resume':
      return <ResumeSheet commit={sheet.commit} agent={sheet.agent} />;
    case 'providers':
      return (
        <Suspense>
          <ProvidersSheet />
        </Suspense>
      );
    case 'case':
      return (
        <Suspense>
          <CaseSheet input={sheet.input} />
        </Suspense>
      );
    case 'link':
      return <LinkSheet href={sheet.href} />;
  }
}

function KeySheet() {
  return (
    <Sheet title="Keyboard" onClose={dismiss}>
      <div className="key-groups">
        {keyGroups.map((group) => (
          <section key={group.name}>
            <h3>{group.name}</h3>
            <dl>
              {group.keys.map(([keys, what]) => (
                <div key={what}>
                  <dt>
                    {keys.split('  ').map((part) => (
                      <kbd key={part}>{part}</kbd>
                    ))}
                  </dt>
                  <dd>{what}</dd>
                </div>
              ))}
            </dl>
          </section>
        ))}
      </div>
    </Sheet>
  );
}

/** A link of a transcript: where it leads, in full, before anybody goes there. */
function LinkSheet({ href }: { href: string }) {
  const isWeb = /^https?:\/\//i.test(href);
  const host = isWeb && URL.canParse(href) ? new URL(href).host : undefined;
  return (
    <Sheet
      title="A link from the transcript"
      onClose={dismiss}
      footer={
        <>
          <Button onClick={dismiss}>Cancel</Button>
          <Button icon={ClipboardCopy} onClick={() => void copy(href, 'Copied the address')}>
            Copy the address
          </Button>
          {host && (
            <Button
              look="primary"
              icon={ExternalLink}
              onClick={() => {
                open(href, '_blank', 'noopener,noreferrer');
                dismiss();
              }}
            >
              Open {host}
            </Button>
          )}
        </>
      }
    >
      <p>It leads to</p>
      <output className="link-target mono">{href || 'nowhere: the link is empty'}</output>
      <p className="muted">
        {isWeb
          ? 'The text that this link stands in was written by an agent or by something that it read. Nothing was loaded from this address.'
          : 'This is not an address of the web, so it is not opened from here.'}
      </p>
    </Sheet>
  );
}

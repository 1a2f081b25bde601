import { ClipboardCopy, ExternalLink } from 'lucide-react';
import { lazy, type ReactNode, Suspense } from 'react';
import { Button, ConfirmWrite, FormSheet, Sheet } from '../parts';
import { copy, dismiss, useUi } from '../state';
import { ExportSheet, ResumeSheet } from '../views/export';
import { ForkSheet } from '../views/fork';
import { ImportsSheet, MappingSheet, NewProjectSheet, OpenPathSheet, RepairSheet, SessionSheet } from '../views/sessions';
import { keyGroups } from './keys';
import { Palette } from './Palette';

const ProvidersSheet = lazy(() => import('../views/settings').then(({ ProvidersSheet: sheet }) => ({ default: sheet })));

type OpenSheet = NonNullable<ReturnType<typeof useUi.getState>['sheet']>;

const sheets: { readonly [Kind in OpenSheet['kind']]: (sheet: Extract<OpenSheet, { readonly kind: Kind }>) => ReactNode } = {
  palette: () => <Palette />,
  keys: () => <KeySheet />,
  words: () => <WordSheet />,
  imports: () => <ImportsSheet />,
  fork: ({ commit, at, stop }) => <ForkSheet commit={commit} at={at} stop={stop} />,
  export: ({ commit, stop }) => <ExportSheet commit={commit} stop={stop} />,
  resume: ({ commit, agent }) => <ResumeSheet commit={commit} agent={agent} />,
  newProject: () => <NewProjectSheet />,
  session: ({ session, what }) => <SessionSheet session={session} what={what} />,
  repair: ({ session }) => <RepairSheet session={session} />,
  form: ({ form }) => <FormSheet key={form.title} form={form} onClose={dismiss} />,
  mapping: () => <MappingSheet />,
  openPath: () => <OpenPathSheet />,
  providers: () => <ProvidersSheet />,
  link: ({ href }) => <LinkSheet href={href} />,
};

/** The sheet or dialog that is open. */
export function Sheets() {
  const sheet = useUi((ui) => ui.sheet);
  // An open sheet contains the question itself.
  if (!sheet) return <ConfirmWrite />;
  return <Suspense>{(sheets[sheet.kind] as (sheet: OpenSheet) => ReactNode)(sheet)}</Suspense>;
}

function KeySheet() {
  return (
    <Sheet title="Keyboard" onClose={dismiss}>
      <div className="key-groups">
        {Object.entries(keyGroups).map(([name, group]) => (
          <section key={name}>
            <h3>{name}</h3>
            <dl>
              {Object.entries(group).map(([keys, what]) => (
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

/** Shows the full address of a link in a transcript and asks before opening it. */
function LinkSheet({ href }: { href: string }) {
  const isWeb = /^https?:\/\//i.test(href);
  const host = isWeb && URL.canParse(href) ? new URL(href).host : undefined;
  return (
    <Sheet
      title="Link from the transcript"
      onClose={dismiss}
      footer={
        <>
          <Button label="Cancel" onClick={dismiss} />
          <Button icon={ClipboardCopy} label="Copy the address" onClick={() => void copy(href, 'Copied the address')} />
          {host && (
            <Button
              look="primary"
              icon={ExternalLink}
              label={`Open ${host}`}
              onClick={() => {
                open(href, '_blank', 'noopener,noreferrer');
                dismiss();
              }}
            />
          )}
        </>
      }
    >
      <p>This link leads to</p>
      <output className="exact-text link-target mono">{href || 'nowhere: the link is empty'}</output>
      <p className="muted">
        {isWeb
          ? 'The text around this link was written by an agent or by something that it read. Stemma loaded nothing from this address.'
          : 'This is not a web address, so Stemma does not open it.'}
      </p>
    </Sheet>
  );
}

/** The words of the window that need an explanation. */
export const words: readonly (readonly [word: string, meaning: string])[] = [
  ['Session', 'One conversation with an agent, however many files and branches it has.'],
  ['Turn', 'One prompt that a person typed, and everything the agent did until it answered.'],
  ['Branch', 'A way that a session took from some turn on, after a rewind or an edit. The original stays as it is.'],
  ['Peak context', 'The fullest state of the context window in a session, in percent of what the model can hold.'],
  ['Errors', 'Results that a tool or the agent reported as failed. An error can be harmless, such as a search that found nothing.'],
  ['Counted', 'The provider counted these tokens. A counted number is exact.'],
  ['≈ (estimate)', 'Stemma estimated this number, because no provider counted it.'],
  ['Not recorded', 'The agent did not write this down, so no number is shown.'],
  ['Cost', 'All calls at the prices of the provider’s list. A subscription does not pay them.'],
  ['Cache miss', 'A call that had to pay again for text that the provider could have read from its cache.'],
  ['Compaction', 'The agent replaced the conversation by a summary, because the window was full.'],
  ['Fork', 'A new branch that starts at a turn or an entry, with or without an edit.'],
];

/** The words of the window with their meanings. */
export function WordSheet() {
  return (
    <Sheet title="What the words mean" kind="side" onClose={dismiss}>
      <dl className="word-list gap-12">
        {words.map(([word, meaning]) => (
          <div key={word}>
            <dt>{word}</dt>
            <dd>{meaning}</dd>
          </div>
        ))}
      </dl>
    </Sheet>
  );
}

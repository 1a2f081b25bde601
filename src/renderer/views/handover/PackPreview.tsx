import { Package } from 'lucide-react';
import { useDeferredValue } from 'react';
import { api } from '../../client';
import { Answer, attempt, Button, describeProblem, Empty, ProblemLine, say } from '../../parts';
import { reloadAndOpen, useProject, useQuery } from '../../state';
import { type PackForm, type PackFormInput, readForm } from './form';
import { Packed } from './Packed';

/** The box that the form would create, as planned by the engine. */
export function PackPreview({ project, form }: { project: string; form: PackForm }) {
  const revision = useProject((state) => state.revision);
  const settled = useDeferredValue(form);
  const input = readForm(settled);
  const query = useQuery('problem' in input ? null : `${project} ${revision} ${JSON.stringify(input)}`, () =>
    api.handover.preview(input as PackFormInput),
  );
  if ('problem' in input)
    return (
      <div className="stack shrinks">
        <Empty title="No preview yet" picture={Package}>
          The cards of the box appear here. {input.problem}
        </Empty>
      </div>
    );
  return (
    <section className="stack shrinks" aria-label="Preview of the box">
      {query.status === 'failed' ? (
        <ProblemLine>{describeProblem(query.error).message}</ProblemLine>
      ) : (
        <Answer query={query} what="Cannot preview the box" loading="Packing" lines={6}>
          {({ profile, cards, dropped }) => (
            <>
              <header className="thing-head bar wrap">
                <h2>For {profile.name}</h2>
                <span className="muted">
                  {say.plural(cards.length, 'card')}
                  {dropped.length > 0 && `, ${say.plural(dropped.length, 'duplicate')} dropped`}
                </span>
                <span className="grow" />
                <Button small look="primary" icon={Package} label="Create box" onClick={attempt(() => createBox(input))} />
              </header>
              <div className="pack-cards overflows">
                <Packed rows={cards} dropped={dropped} />
              </div>
            </>
          )}
        </Answer>
      )}
    </section>
  );
}

async function createBox(input: PackFormInput): Promise<void> {
  const { contextBoxId, attachedCardIds } = await api.handover.pack(input);
  await reloadAndOpen({ view: 'boxes', box: contextBoxId, card: undefined }, `Created a box with ${say.plural(attachedCardIds.length, 'card')}`);
}

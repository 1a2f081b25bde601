import { Download, FilePlus2, FileText, Play } from 'lucide-react';
import { useState } from 'react';
import type { TemplateRecord } from '../../../core/contract/index.js';
import { api } from '../../client';
import { instantiateForm, templateForm } from '../../forms';
import { Answer, attempt, Button, Empty, Estimate, Facts, FoldedText, Id, say } from '../../parts';
import { ask, bytesIn, download, go, useNavigation, useProjectQuery, useQuery } from '../../state';
import { NameList } from './NameList';

/** The templates in versions, and the content of the selected one. */
export function Templates({ project }: { project: string }) {
  const chosen = useNavigation(({ route }) => route.template);
  const query = useProjectQuery(project, `${project} templates`, () => api.template.list({}));
  return (
    <Answer query={query} what="Cannot list the templates" loading="Loading the templates">
      {(templates) => {
        const template = templates.find((one) => one.template === chosen) ?? templates.at(-1);
        if (!template)
          return (
            <Empty title="No templates yet" picture={FileText} acts={[{ name: 'New template', look: 'primary', act: () => ask(templateForm()) }]}>
              Templates appear here. A template is the text that a kind of agent starts with, in versions.
            </Empty>
          );
        return (
          <div className="profiles-body rest">
            <NameList
              label="Templates"
              names={templates.map((one) => ({ id: one.template, name: one.template, note: say.when(one.createdAt) }))}
              chosen={template.template}
              onChoose={(name) => go({ template: name })}
            />
            <TemplatePane key={`${project} ${template.template}`} project={project} name={template.template} />
          </div>
        );
      }}
    </Answer>
  );
}

async function readTemplate(template: string): Promise<TemplateRecord & { readonly text: string }> {
  const record = await api.template.get({ template });
  const { data } = await api.artifact.get({ ref: record.artifactRef });
  return { ...record, text: new TextDecoder().decode(bytesIn(data)) };
}

type Instance = Awaited<ReturnType<typeof api.context.instantiate>>;
const startNames = { fresh: 'fresh, without a context', resume: 'resumes the chain', fork: 'forks the chain' } as const;

function TemplatePane({ project, name }: { project: string; name: string }) {
  const commit = useNavigation(({ route }) => route.commit) ?? '';
  const query = useQuery(`${project} template ${name}`, () => readTemplate(name));
  const [made, setMade] = useState<Instance>();
  return (
    <Answer query={query} what={`Cannot load the template ${name}`} loading="Loading the template" stillWorks="Other templates still work.">
      {(template) => (
        <article className="profile-pane stack" aria-label="Template">
          <header className="thing-head bar wrap">
            <h2>{template.template}</h2>
            <span className="muted">{say.instant(template.createdAt)}</span>
            <span className="grow" />
            <Button small icon={Play} label="Start an agent…" onClick={() => ask(instantiateForm(template.template, commit, setMade))} />
            <Button small icon={FilePlus2} label="Next version…" onClick={() => ask(templateForm(template.name, template.text))} />
          </header>
          <div className="card-body gap-12 overflows stack">
            {made && <Made made={made} />}
            <section aria-label="Content" className="card-said kind-system">
              <FoldedText text={template.text} lines={24} />
            </section>
            <Facts
              rows={{
                'Media type': template.contentType,
                Author: template.author,
                Object: <Id id={template.artifactRef} what="ref" />,
              }}
            />
          </div>
        </article>
      )}
    </Answer>
  );
}

function Made({ made }: { made: Instance }) {
  const save = async (): Promise<void> => {
    const { data } = await api.artifact.get({ ref: made.artifactRef });
    download(bytesIn(data), `${made.template.replace(/[^\w@.-]/g, '_')}.${made.format}`, made.contentType);
  };
  return (
    <section className="thing-made gap-8 stack" aria-label="What the agent starts from">
      <h3>What the agent starts from</h3>
      <Facts
        rows={{
          Start: startNames[made.start],
          Contains: (
            <span>
              {say.plural(made.messageCount, 'message')}, <Estimate of={made.tokenCount} />
            </span>
          ),
          Format: `${made.format}, ${made.tier}`,
          Commit: made.context ?? false,
        }}
      />
      <Button small icon={Download} label="Download" onClick={attempt(() => save())} />
    </section>
  );
}

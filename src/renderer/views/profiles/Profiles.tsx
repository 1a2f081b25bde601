import { IdCard, Pencil, Play, Plus, RotateCcw, ShieldCheck, Trash2 } from 'lucide-react';
import type { Box, Card } from '../../../core/contract/index.js';
import { api } from '../../client';
import { askToLaunch, profileData, profileForm, readTarget, ruleForm, templateForm } from '../../forms';
import { Answer, attempt, Button, Empty, Facts, Fold, IconButton, LinkButton, reloadAndSay, Switch, say } from '../../parts';
import { ask, go, notify, openBox, refreshProject, useNavigation, useProjectQuery } from '../../state';
import { NameList } from './NameList';
import { Templates } from './Templates';

/** Profiles or templates: a list, and the selected one. */
export function ProfilesView({ project }: { project: string }) {
  const shown = useNavigation(({ route }) => route.kinds) === 'templates' ? 'templates' : 'profiles';
  return (
    <section className="profiles whole stack" aria-label="Profiles">
      <div className="bar">
        <Switch
          label="Profiles or templates"
          value={shown}
          onChange={(value) => go({ kinds: value === 'templates' ? 'templates' : undefined })}
          options={{
            profiles: ['Profiles', 'The prompt, model and tools of a kind of agent'],
            templates: ['Templates', 'Texts that agents start with, in versions'],
          }}
        />
        <span className="grow" />
        <Button small icon={Plus} onClick={() => ask(shown === 'profiles' ? profileForm() : templateForm())}>
          {shown === 'profiles' ? 'New profile' : 'New template'}
        </Button>
      </div>
      {shown === 'profiles' ? <ProfileList project={project} /> : <Templates project={project} />}
    </section>
  );
}

function ProfileList({ project }: { project: string }) {
  const chosen = useNavigation(({ route }) => route.profile);
  const query = useProjectQuery(project, `${project} profiles`, () => api.profile.list({}));
  return (
    <Answer query={query} what="Cannot list the profiles" loading="Loading the profiles">
      {(profiles) => {
        const profile = profiles.find(({ name }) => name === chosen) ?? profiles[0];
        if (!profile)
          return (
            <Empty title="No profiles yet" picture={IdCard} acts={[{ name: 'New profile', look: 'primary', act: () => ask(profileForm()) }]}>
              Profiles appear here. A profile describes a kind of agent: its system prompt, its model and what it may do.
            </Empty>
          );
        return (
          <div className="profiles-body rest">
            <NameList
              label="Profiles"
              names={profiles.map(({ name }) => ({ id: name, name }))}
              chosen={profile.name}
              onChoose={(name) => go({ profile: name })}
            />
            <ProfilePane key={`${project} ${profile.name}`} project={project} name={profile.name} />
          </div>
        );
      }}
    </Answer>
  );
}

interface Version {
  readonly boxId: string;
  readonly card: Card | undefined;
  readonly createdAt: string;
}

const maxVersions = 50;

/** The versions of a profile, the latest one first: it follows the boxes that the profile's box replaced. And the number of its rules. */
async function readProfile(name: string) {
  const { profileBoxId } = await api.profile.find({ name });
  const versions: Version[] = [];
  let boxId: string | undefined = profileBoxId;
  while (boxId !== undefined && versions.length < maxVersions) {
    const [box, { cards }]: [Box, { cards: Card[] }] = await Promise.all([api.box.get({ boxId }), api.box.cards({ boxId })]);
    versions.push({ boxId, card: cards.find(({ type }) => type === 'sys.profile') ?? cards[0], createdAt: box.createdAt });
    boxId = box.replaces;
  }
  const { rules } = await api.runner.getPolicy({});
  const isFor = (rule: (typeof rules)[number]): boolean => {
    const target = readTarget(rule);
    return target.kind === 'agent' && target.name.toLowerCase() === name.toLowerCase();
  };
  return { versions, rules: rules.filter(isFor).length };
}

/** A profile: its content, the work that it may start, and its versions. */
export function ProfilePane({ project, name }: { project: string; name: string }) {
  const query = useProjectQuery(`${project} ${name}`, `${project} profile ${name}`, () => readProfile(name));
  return (
    <Answer query={query} what={`Cannot load the profile ${name}`} loading="Loading the profile" stillWorks="Other profiles still work.">
      {({ versions, rules }) => (
        <article className="profile-pane stack" aria-label="Profile">
          <header className="thing-head bar wrap">
            <h2>{name}</h2>
            <span className="muted">{say.plural(versions.length, 'version')}</span>
            <span className="grow" />
            <Button small icon={Play} label="Launch an agent…" onClick={() => void askToLaunch(name)} />
            <Button small icon={ShieldCheck} onClick={() => ask(ruleForm({ kind: 'agent', name }, () => void refreshProject()))}>
              Allow to start…
            </Button>
            <Button small icon={Pencil} label="Edit…" onClick={() => ask(profileForm(versions[0]?.card, name))} />
            <IconButton small icon={Trash2} label={`Delete the profile ${name}`} onClick={attempt(() => deleteProfile(name))} />
          </header>
          <div className="card-body gap-12 overflows stack">
            <ProfileFacts card={versions[0]?.card} rules={rules} />
            <h3>Versions</h3>
            <ol className="versions" aria-label="Versions, newest first">
              {versions.map((version, place) => (
                <VersionRow key={version.boxId} version={version} isCurrent={place === 0} name={name} />
              ))}
            </ol>
          </div>
        </article>
      )}
    </Answer>
  );
}

function ProfileFacts({ card, rules }: { card: Card | undefined; rules: number }) {
  const data = profileData(card);
  return (
    <>
      <section aria-label="System prompt" className="card-said kind-system">
        <Fold text={data.prompt} lines={16}>
          {(text) => <pre className="verbatim">{text || 'No system prompt'}</pre>}
        </Fold>
      </section>
      <Facts
        rows={{
          'Shown as': data.displayName !== '' && data.displayName,
          Model: typeof data.model.model === 'string' ? data.model.model : 'the usual one of the provider',
          Tools: data.tools === undefined ? 'every tool of Stemma' : data.tools.join(', ') || 'none',
          'May delegate to': data.targets === undefined ? 'every profile' : data.targets.join(', ') || 'nobody',
          Tags: data.tags.length > 0 && data.tags.join(', '),
          'Starts by itself':
            rules === 0 ? 'never' : <LinkButton label={say.plural(rules, 'rule')} onClick={() => go({ view: 'jobs', kinds: 'rules' })} />,
        }}
      />
    </>
  );
}

function VersionRow({ version: { boxId, card, createdAt }, isCurrent, name }: { version: Version; isCurrent: boolean; name: string }) {
  return (
    <li className="row">
      <span className="grow ellipsis">
        {say.instant(createdAt)} <span className="muted">{say.firstLine(profileData(card).prompt, 80) || 'no system prompt'}</span>
      </span>
      {isCurrent ? <span className="badge">current</span> : null}
      <LinkButton label="Box" onClick={() => openBox(boxId)} />
      {!isCurrent && card && <Button small icon={RotateCcw} label="Restore" onClick={attempt(() => restore(name, card))} />}
    </li>
  );
}

/** Deletes a profile, and offers Undo. Agents that have started keep it. */
async function deleteProfile(name: string): Promise<void> {
  await api.profile.delete({ name });
  go({ profile: undefined });
  await refreshProject();
  const restore = async (): Promise<void> => {
    await api.profile.delete({ name, deleted: false });
    await refreshProject();
    go({ profile: name });
  };
  notify(`Deleted the profile ${name}. Agents that have started keep it.`, { name: 'Undo', act: attempt(() => restore()) });
}

async function restore(name: string, card: Card): Promise<void> {
  await api.profile.put({ name, card: { type: 'sys.profile', content: card.content } });
  await reloadAndSay('Restored as the next version');
}

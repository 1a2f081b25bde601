import { IdCard, Plus } from 'lucide-react';
import { api } from '../../client';
import { profileForm, templateForm } from '../../forms';
import { Answer, Button, Empty, Switch } from '../../parts';
import { ask, go, useNavigation, useProjectQuery } from '../../state';
import { NameList } from './NameList';
import { ProfilePane } from './ProfilePane';
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

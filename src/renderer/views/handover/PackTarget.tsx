import { Plus } from 'lucide-react';
import { useState } from 'react';
import type { Agent } from '../../../core/contract/index.js';
import { api } from '../../client';
import { attempt, Button, Input, Select, TextArea } from '../../parts';
import { refreshProject } from '../../state';
import type { PackForm } from './form';
import { PackPart } from './PackRows';

interface PackTargetProps {
  readonly form: PackForm;
  readonly onChange: (change: Partial<PackForm>) => void;
  readonly agents: readonly Agent[];
  /** Names of the profiles; undefined while they load. */
  readonly profiles: readonly string[] | undefined;
}

/** The profile that receives the box and the agent that hands it over. */
export function PackTarget({ form, onChange, agents, profiles }: PackTargetProps) {
  return (
    <PackPart title="From and to" hint="The profile that receives the box, and the agent or person that hands it over.">
      {profiles?.length === 0 ? (
        <NewProfile />
      ) : (
        <Select
          label="Profile"
          value={form.profile}
          options={[['', 'To profile…'], ...(profiles ?? []).map((name) => [name, name] as const)]}
          onChange={(profile) => onChange({ profile })}
        />
      )}
      <label className="row gap-6 shrinks">
        <span className="muted">From</span>
        <Input className="grow" list="pack-agents" value={form.source} onChange={(text) => onChange({ source: text })} />
      </label>
      <datalist id="pack-agents">
        {agents.map((agent) => (
          <option key={agent.agentId} value={agent.agentId}>
            {agent.displayName}
          </option>
        ))}
      </datalist>
    </PackPart>
  );
}

function NewProfile() {
  const [name, setName] = useState('');
  const [prompt, setPrompt] = useState('');
  const create = async () => {
    await api.profile.put({ name, card: { content: { kind: 'json', data: { name, display_name: name, system_prompt_template: prompt } } } });
    await refreshProject();
  };
  return (
    <>
      <p className="muted">No profiles yet. A profile describes an agent by name and system prompt.</p>
      <Input placeholder="Name" label="Name of the profile" value={name} onChange={setName} />
      <TextArea rows={3} placeholder="System prompt" label="System prompt" value={prompt} onChange={setPrompt} />
      <Button small icon={Plus} disabled={name.trim() === ''} onClick={attempt(() => create())}>
        Create profile
      </Button>
    </>
  );
}

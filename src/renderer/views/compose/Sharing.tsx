import { api } from '../../client';
import { attempt, Button, Switch } from '../../parts';
import { notify, refreshProject } from '../../state';
import type { Trial } from './trial';

export interface SharingProps {
  /** The setting of the project; undefined while it is loading. */
  readonly ofProject: boolean | undefined;
  readonly trial: Trial;
  readonly onChange: (trial: Trial) => void;
}

/** Whether agents get the shared blocks: the setting of the project, or another choice for this trial. */
export function Sharing({ ofProject, trial, onChange }: SharingProps) {
  const shares = trial.sharing ?? ofProject ?? true;
  const keep = async (): Promise<void> => {
    await api.project.setSettings({ enableShareContext: shares });
    await refreshProject();
    onChange({ ...trial, sharing: undefined });
    notify(`Sharing is ${shares ? 'on' : 'off'} for everyone in this project`);
  };
  return (
    <>
      <Switch
        label="Shared context"
        value={shares ? 'on' : 'off'}
        onChange={(value) => onChange({ ...trial, sharing: (value === 'on') === ofProject ? undefined : value === 'on' })}
        options={[
          { value: 'on', name: 'Sharing on', hint: 'The model receives the blocks that agents share' },
          { value: 'off', name: 'Sharing off', hint: 'The agent receives only its own prompt and memory' },
        ]}
      />
      {ofProject !== undefined && shares !== ofProject && (
        <Button small title="Change the setting of the project. A call can still choose otherwise." onClick={attempt(() => keep())}>
          Use for the project
        </Button>
      )}
    </>
  );
}

import { LogOut, UserPlus } from 'lucide-react';
import type { Entity, Space } from '../../../core/contract/index.js';
import { joinForm, leaveSpace } from '../../forms';
import { attempt, Button, DamagedMark, IconButton } from '../../parts';
import { ask } from '../../state';

const kindNames: Readonly<Record<Entity['type'], string>> = { human: 'person', agent: 'agent', service: 'service' };

/** The members of the space, with buttons to add and remove members. */
export function Members({ space, known, onChange }: { space: Space; known: readonly Entity[]; onChange: () => void }) {
  return (
    <section className="mind overflows stack" aria-label="Members">
      <ul>
        {space.members.map((member) => (
          <li key={member.entityId}>
            <span className="grow ellipsis">
              {member.name} <span className="muted">{kindNames[member.type]}</span>
            </span>
            {known.some(({ entityId, damaged }) => damaged && entityId === member.entityId) && <DamagedMark />}
            <IconButton
              small
              icon={LogOut}
              label={`Remove ${member.name} from the space`}
              onClick={attempt(() => leaveSpace(space, member, onChange))}
            />
          </li>
        ))}
      </ul>
      {space.members.length === 0 && <p className="muted">This space has no members.</p>}
      <div>
        <Button icon={UserPlus} onClick={() => ask(joinForm(space, known, onChange))}>
          Add a member…
        </Button>
      </div>
    </section>
  );
}

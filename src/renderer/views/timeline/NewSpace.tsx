import { Plus, X } from 'lucide-react';
import { useState } from 'react';
import type { Entity, EntityType, Space } from '../../../core/contract/index.js';
import { api } from '../../client';
import { Button, IconButton, notifyProblem, Sheet } from '../../parts';

interface Draft {
  readonly entityId: string | undefined;
  readonly name: string;
  readonly type: EntityType;
}

/** Who was in the last spaces is offered; whoever is new gets a name and a kind. */
export function NewSpace({ known, onClose, onMade }: { known: readonly Entity[]; onClose: () => void; onMade: (space: Space) => void }) {
  const [name, setName] = useState('');
  const [members, setMembers] = useState<readonly Draft[]>(
    known.length > 0
      ? known.map(({ entityId, name: given, type }) => ({ entityId, name: given, type }))
      : [
          { entityId: undefined, name: 'Me', type: 'human' },
          { entityId: undefined, name: 'Agent', type: 'agent' },
        ],
  );
  const [busy, setBusy] = useState(false);
  const change = (place: number, draft: Partial<Draft>): void =>
    setMembers(members.map((member, n) => (n === place ? { ...member, ...draft } : member)));
  const make = async (): Promise<void> => {
    setBusy(true);
    try {
      const ids: string[] = [];
      for (const member of members.filter((one) => one.name.trim() !== ''))
        ids.push(member.entityId ?? (await api.space.addEntity({ name: member.name.trim(), type: member.type })).entityId);
      onMade(await api.space.create({ name: name.trim() || null, members: ids }));
    } catch (error) {
      setBusy(false);
      notifyProblem(error);
    }
  };
  return (
    <Sheet
      title="Make a space"
      onClose={onClose}
      footer={
        <>
          <Button onClick={onClose}>Cancel</Button>
          <Button look="primary" disabled={busy || members.every((member) => member.name.trim() === '')} onClick={() => void make()}>
            Make it
          </Button>
        </>
      }
    >
      <div className="new-space">
        <label>
          <span className="muted">Name</span>
          <input className="field" value={name} placeholder="Project Alpha" onChange={(event) => setName(event.target.value)} />
        </label>
        <span className="muted">Members</span>
        <ul>
          {members.map((member, place) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: rows are known by their place
            <li key={place}>
              <input
                className="field grow"
                aria-label={`Name of member ${place + 1}`}
                value={member.name}
                disabled={member.entityId !== undefined}
                onChange={(event) => change(place, { name: event.target.value })}
              />
              <select
                className="field"
                aria-label={`Kind of member ${place + 1}`}
                value={member.type}
                disabled={member.entityId !== undefined}
                onChange={(event) => change(place, { type: event.target.value as EntityType })}
              >
                <option value="human">human</option>
                <option value="agent">agent</option>
                <option value="service">service</option>
              </select>
              <IconButton
                icon={X}
                label={`Leave out ${member.name || 'this member'}`}
                onClick={() => setMembers(members.filter((_, n) => n !== place))}
              />
            </li>
          ))}
        </ul>
        <Button icon={Plus} onClick={() => setMembers([...members, { entityId: undefined, name: '', type: 'agent' }])}>
          Another member
        </Button>
      </div>
    </Sheet>
  );
}

import { Plus, X } from 'lucide-react';
import { useState } from 'react';
import type { Entity, EntityType, Space } from '../../../core/contract/index.js';
import { api } from '../../client';
import { Button, IconButton, Input, notifyProblem, Select, Sheet } from '../../parts';

const kinds: readonly EntityType[] = ['human', 'agent', 'service'];

interface Draft {
  readonly entityId: string | undefined;
  readonly name: string;
  readonly type: EntityType;
}

interface NewSpaceProps {
  readonly known: readonly Entity[];
  readonly onClose: () => void;
  readonly onCreated: (space: Space) => void;
}

/** Creates a space, and an entity for each new member. */
export function NewSpace({ known, onClose, onCreated }: NewSpaceProps) {
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
  const create = async (): Promise<void> => {
    setBusy(true);
    try {
      const ids: string[] = [];
      for (const member of members.filter((one) => one.name.trim() !== ''))
        ids.push(member.entityId ?? (await api.space.addEntity({ name: member.name.trim(), type: member.type })).entityId);
      onCreated(await api.space.create({ name: name.trim() || null, members: ids }));
    } catch (error) {
      setBusy(false);
      notifyProblem(error);
    }
  };
  return (
    <Sheet
      title="New space"
      onClose={onClose}
      action={{ label: 'Create', disabled: busy || members.every((member) => member.name.trim() === ''), run: () => void create() }}
    >
      <div className="new-space">
        <Input before="Name" value={name} placeholder="Project Alpha" onChange={setName} />
        <span className="muted">Members</span>
        <ul>
          {members.map((member, place) => (
            <MemberRow
              // biome-ignore lint/suspicious/noArrayIndexKey: rows have no identity but their place
              key={place}
              number={place + 1}
              member={member}
              onChange={(changed) => setMembers(members.with(place, changed))}
              onRemove={() => setMembers(members.filter((_, at) => at !== place))}
            />
          ))}
        </ul>
        <Button icon={Plus} onClick={() => setMembers([...members, { entityId: undefined, name: '', type: 'agent' }])}>
          Add member
        </Button>
      </div>
    </Sheet>
  );
}

interface MemberRowProps {
  readonly number: number;
  readonly member: Draft;
  readonly onChange: (member: Draft) => void;
  readonly onRemove: () => void;
}

function MemberRow({ number, member, onChange, onRemove }: MemberRowProps) {
  const isKnown = member.entityId !== undefined;
  return (
    <li>
      <Input
        className="grow"
        label={`Name of member ${number}`}
        value={member.name}
        disabled={isKnown}
        onChange={(text) => onChange({ ...member, name: text })}
      />
      <Select
        label={`Kind of member ${number}`}
        value={member.type}
        disabled={isKnown}
        options={kinds.map((kind) => [kind, kind])}
        onChange={(type) => onChange({ ...member, type })}
      />
      <IconButton icon={X} label={`Remove ${member.name || 'this member'}`} onClick={onRemove} />
    </li>
  );
}

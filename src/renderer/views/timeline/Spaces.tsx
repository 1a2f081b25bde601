import { Plus, X } from 'lucide-react';
import { useState } from 'react';
import type { Entity, EntityType, Space } from '../../../core/contract/index.js';
import { api } from '../../client';
import { Button, DamagedMark, IconButton, Input, notifyProblem, Select, Sheet, say } from '../../parts';
import { AnswerMemory, go, useKeptQuery, useProject, useRounds, useTask } from '../../state';
import { readerOf } from './space';

/** The address of the selected context, in place of a space. */
const selectedContext = 'context';

/** The spaces of the project with their unread messages, and the selected context. */
export function SpaceList(props: {
  spaces: readonly (Space & { unread: number })[];
  /** The id of the space, or `context`. */
  chosen: string | undefined;
  hasContext: boolean;
  onNew: () => void;
}) {
  const { spaces, chosen, hasContext, onNew } = props;
  return (
    <nav className="space-list on-pane" aria-label="Spaces">
      <header>
        <h3 className="grow">Spaces</h3>
        <IconButton small icon={Plus} label="Create a space" onClick={onNew} />
      </header>
      <ul>
        {spaces.map((space) => (
          <li key={space.spaceId}>
            <button
              type="button"
              className="selectable"
              aria-current={space.spaceId === chosen ? 'true' : undefined}
              onClick={() => go({ view: 'timeline', space: space.spaceId })}
            >
              <span className="space-name gap-6">
                <span className="ellipsis grow">{space.name ?? space.spaceId}</span>
                {space.damaged && <DamagedMark />}
                {space.unread > 0 && space.spaceId !== chosen && (
                  <span className="badge" title={`${space.unread} unread`}>
                    {space.unread}
                  </span>
                )}
              </span>
              <span className="muted ellipsis">
                {say.plural(space.messages, 'message')}
                {space.lastMessageAt && ` · ${say.when(space.lastMessageAt)}`}
              </span>
            </button>
          </li>
        ))}
        {hasContext && (
          <li>
            <button
              type="button"
              className="selectable"
              aria-current={chosen === selectedContext ? 'true' : undefined}
              onClick={() => go({ view: 'timeline', space: selectedContext })}
            >
              <span className="ellipsis">This context</span>
              <span className="muted ellipsis">as a timeline</span>
            </button>
          </li>
        )}
      </ul>
    </nav>
  );
}

interface Listed {
  readonly spaces: readonly (Space & { unread: number })[];
  readonly entities: readonly Entity[];
}

const lists = new AnswerMemory<Listed>(2, 'never');

/** The spaces of the project with their unread messages, and all entities. `round` grows with every reload. */
export function useSpaces(project: string) {
  const revision = useProject((state) => state.revision);
  const [round, reload] = useRounds();
  // The open space stays open while the list reloads.
  const query = useKeptQuery(
    project,
    `${project} spaces ${round}`,
    async () => {
      const [spaces, entities] = await Promise.all([api.space.list({}), api.space.entities({})]);
      const readers = [...new Set(spaces.flatMap((space) => readerOf(space) ?? []))];
      const lists = await Promise.all(readers.map((entityId) => api.space.list({ entityId })));
      const unreadOf = (space: Space): number =>
        lists[readers.indexOf(readerOf(space) ?? '')]?.find((one) => one.spaceId === space.spaceId)?.unread ?? 0;
      return { spaces: spaces.map((space) => ({ ...space, unread: unreadOf(space) })), entities };
    },
    lists,
  );
  return { query, reload, round: `${round} ${revision}` };
}

const kinds: readonly EntityType[] = ['human', 'agent', 'service'];

interface Draft {
  readonly entityId: string | undefined;
  readonly name: string;
  readonly type: EntityType;
}

/** Creates a space, and an entity for each new member. */
export function NewSpace({ known, onClose, onCreated }: { known: readonly Entity[]; onClose: () => void; onCreated: (space: Space) => void }) {
  const [name, setName] = useState('');
  const [members, setMembers] = useState<readonly Draft[]>(
    known.length > 0
      ? known.map(({ entityId, name: given, type }) => ({ entityId, name: given, type }))
      : [
          { entityId: undefined, name: 'Me', type: 'human' },
          { entityId: undefined, name: 'Agent', type: 'agent' },
        ],
  );
  const [creating, start] = useTask<void>();
  const named = members.filter((member) => member.name.trim() !== '');
  const create = async (): Promise<void> => {
    const ids: string[] = [];
    for (const member of named) ids.push(member.entityId ?? (await api.space.addEntity({ name: member.name.trim(), type: member.type })).entityId);
    onCreated(await api.space.create({ name: name.trim() || null, members: ids }));
  };
  const disabled = creating.state === 'running' || named.length === 0;
  return (
    <Sheet title="New space" onClose={onClose} action={{ label: 'Create', disabled, onClick: () => void start(() => create().catch(notifyProblem)) }}>
      <div className="new-space gap-8">
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
        <Button icon={Plus} label="Add member" onClick={() => setMembers([...members, { entityId: undefined, name: '', type: 'agent' }])} />
      </div>
    </Sheet>
  );
}

function MemberRow(props: { number: number; member: Draft; onChange: (member: Draft) => void; onRemove: () => void }) {
  const { number, member, onChange, onRemove } = props;
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

import { Plus, X } from 'lucide-react';
import { Fragment, type ReactNode, useState } from 'react';
import type { Agent, BoxRow } from '../../../core/contract/index.js';
import { api } from '../../client';
import { boxName } from '../../forms';
import { attempt, Button, Checkbox, IconButton, Input, Select, TextArea } from '../../parts';
import { refreshProject } from '../../state';
import type { PackForm } from './form';

const cardTypes = ['task.instruction', 'task.context', 'task.result_fields', 'agent.thought', 'task.deliverable'];

/** A titled part of the form that says what it is for, with a button that adds a row if `add` is given. */
export function PackPart({ title, hint, add, children }: { title: string; hint: string; add?: () => void; children: ReactNode }) {
  return (
    <fieldset className="pack-part stack gap-6">
      <legend className="row gap-4">
        {title}
        {add && <IconButton small icon={Plus} label={`Add to ${title.toLowerCase()}`} onClick={add} />}
      </legend>
      <p className="muted">{hint}</p>
      {children}
    </fieldset>
  );
}

interface RowsProps {
  readonly form: PackForm;
  readonly onChange: (change: Partial<PackForm>) => void;
}

interface PartOfRowsProps<T> {
  readonly title: string;
  readonly hint: string;
  readonly rows: readonly T[];
  /** A row that a person adds. */
  readonly fresh: Omit<T, 'id'>;
  readonly onChange: (rows: readonly T[]) => void;
  /** Draws a row. Receives the functions that change and remove it. */
  readonly children: (row: T, change: (part: Partial<T>) => void, remove: () => void) => ReactNode;
}

function PartOfRows<T extends { readonly id: number }>({ title, hint, rows, fresh, onChange, children }: PartOfRowsProps<T>) {
  const nextId = Math.max(0, ...rows.map(({ id }) => id)) + 1;
  return (
    <PackPart title={title} hint={hint} add={() => onChange([...rows, { ...fresh, id: nextId } as T])}>
      {rows.map((row, place) => (
        <Fragment key={row.id}>
          {children(
            row,
            (part) => onChange(rows.with(place, { ...row, ...part })),
            () => onChange(rows.toSpliced(place, 1)),
          )}
        </Fragment>
      ))}
    </PackPart>
  );
}

/** The arguments of the handover: a name and a value each. */
export const ArgumentRows = ({ form: { args }, onChange }: RowsProps) => (
  <PartOfRows
    title="Arguments"
    hint="What the other agent is told, by name."
    rows={args}
    fresh={{ name: '', value: '', as: 'text' }}
    onChange={(rows) => onChange({ args: rows })}
  >
    {({ name, value, as }, change, remove) => (
      <div className="stack gap-4">
        <span className="row gap-6 shrinks">
          <Input className="grow mono" placeholder="Name" label="Name of the argument" value={name} onChange={(text) => change({ name: text })} />
          <Select
            label="Type of the value"
            value={as}
            options={Object.entries({ text: 'text', json: 'JSON' })}
            onChange={(type) => change({ as: type })}
          />
          <IconButton small icon={X} label="Remove argument" onClick={remove} />
        </span>
        <TextArea
          rows={Math.max(2, Math.min(12, value.split('\n').length))}
          placeholder="Value"
          label={`Value of ${name || 'the argument'}`}
          value={value}
          onChange={(text) => change({ value: text })}
        />
      </div>
    )}
  </PartOfRows>
);

/** The rules: each turns an argument into a card. */
export function RuleRows({ form: { rules, args }, onChange }: RowsProps) {
  const names = args.map(({ name }) => name);
  return (
    <PartOfRows
      title="Rules"
      hint="Each makes a card of an argument. The type says what the card is for, the role who says it to the model."
      rows={rules}
      fresh={{ argument: names.at(-1) ?? '', type: 'task.context', role: '' }}
      onChange={(rows) => onChange({ rules: rows })}
    >
      {({ argument, type, role }, change, remove) => (
        <span className="row gap-6 shrinks">
          <Select
            className="grow"
            label="Argument"
            value={argument}
            options={[...new Set([argument, ...names])].filter(Boolean).map((name) => [name, name])}
            onChange={(name) => change({ argument: name })}
          />
          <span className="muted">as</span>
          <Input className="grow mono" suggestions={cardTypes} label="Type of the card" value={type} onChange={(text) => change({ type: text })} />
          <Select
            label="Role"
            value={role}
            options={Object.entries({ '': 'user', system: 'system', assistant: 'assistant', tool: 'tool' })}
            onChange={(name) => change({ role: name })}
          />
          <IconButton small icon={X} label="Remove rule" onClick={remove} />
        </span>
      )}
    </PartOfRows>
  );
}

/** The boxes whose cards are inherited, and whether a pointer to the parent is added. */
export function InheritedBoxes({ form, onChange, boxes }: RowsProps & { readonly boxes: readonly BoxRow[] | undefined }) {
  return (
    <PackPart title="Inherited boxes" hint="Boxes whose cards the other agent receives as they are.">
      {form.boxes.map((boxId) => (
        <span key={boxId} className="row gap-6 shrinks">
          <span className="grow ellipsis" title={boxId}>
            {nameOfId(boxes ?? [], boxId)}
          </span>
          <IconButton small icon={X} label="Remove box" onClick={() => onChange({ boxes: form.boxes.filter((one) => one !== boxId) })} />
        </span>
      ))}
      {boxes && (
        <Select
          label="Inherit a box"
          value=""
          options={[['', 'Add box…'], ...boxes.filter(({ boxId }) => !form.boxes.includes(boxId)).map((box) => [box.boxId, boxName(box)] as const)]}
          onChange={(boxId) => onChange({ boxes: [...form.boxes, boxId] })}
        />
      )}
      <Checkbox className="row gap-6 shrinks" checked={form.parent} onChange={(parent) => onChange({ parent })}>
        Say which agent hands it over
      </Checkbox>
    </PackPart>
  );
}

const nameOfId = (boxes: readonly BoxRow[], boxId: string): string => {
  const box = boxes.find((one) => one.boxId === boxId);
  return box ? boxName(box) : boxId;
};

interface PackTargetProps extends RowsProps {
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
        <Input
          className="grow"
          suggestions={agents.map(({ agentId, displayName }) => ({ value: agentId, name: displayName }))}
          value={form.source}
          onChange={(source) => onChange({ source })}
        />
      </label>
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
      <Button small icon={Plus} label="Create profile" disabled={name.trim() === ''} onClick={attempt(() => create())} />
    </>
  );
}

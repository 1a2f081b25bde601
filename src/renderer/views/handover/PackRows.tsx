import { Plus, X } from 'lucide-react';
import type { ReactNode } from 'react';
import type { BoxRow } from '../../../core/contract/index.js';
import { IconButton, Input, Select, say, TextArea } from '../../parts';
import { type ArgumentRow, nextId, type PackForm, type RuleRow, replaced, without } from './form';

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

/** The arguments of the handover: a name and a value each. */
export function ArgumentRows({ form: { args }, onChange }: RowsProps) {
  return (
    <PackPart
      title="Arguments"
      hint="What the other agent is told, by name."
      add={() => onChange({ args: [...args, { id: nextId(args), name: '', value: '', as: 'text' }] })}
    >
      {args.map((row) => (
        <ArgumentFields
          key={row.id}
          row={row}
          onChange={(changed) => onChange({ args: replaced(args, changed) })}
          onRemove={() => onChange({ args: without(args, row.id) })}
        />
      ))}
    </PackPart>
  );
}

function ArgumentFields({ row, onChange, onRemove }: { row: ArgumentRow; onChange: (row: ArgumentRow) => void; onRemove: () => void }) {
  return (
    <div className="stack gap-4">
      <span className="row gap-6 shrinks">
        <Input
          className="grow mono"
          placeholder="Name"
          label="Name of the argument"
          value={row.name}
          onChange={(text) => onChange({ ...row, name: text })}
        />
        <Select
          label="Type of the value"
          value={row.as}
          options={Object.entries({ text: 'text', json: 'JSON' })}
          onChange={(as) => onChange({ ...row, as })}
        />
        <IconButton small icon={X} label="Remove argument" onClick={onRemove} />
      </span>
      <TextArea
        rows={Math.max(2, Math.min(12, row.value.split('\n').length))}
        placeholder="Value"
        label={`Value of ${row.name || 'the argument'}`}
        value={row.value}
        onChange={(text) => onChange({ ...row, value: text })}
      />
    </div>
  );
}

/** The rules: each turns an argument into a card. */
export function RuleRows({ form: { rules, args }, onChange }: RowsProps) {
  const names = args.map(({ name }) => name);
  return (
    <PackPart
      title="Rules"
      hint="Each makes a card of an argument. The type says what the card is for, the role who says it to the model."
      add={() => onChange({ rules: [...rules, { id: nextId(rules), argument: names.at(-1) ?? '', type: 'task.context', role: '' }] })}
    >
      {rules.map((row) => (
        <RuleFields
          key={row.id}
          row={row}
          names={names}
          onChange={(changed) => onChange({ rules: replaced(rules, changed) })}
          onRemove={() => onChange({ rules: without(rules, row.id) })}
        />
      ))}
      <datalist id="pack-types">
        {cardTypes.map((type) => (
          <option key={type}>{type}</option>
        ))}
      </datalist>
    </PackPart>
  );
}

interface RuleFieldsProps {
  readonly row: RuleRow;
  readonly names: readonly string[];
  readonly onChange: (row: RuleRow) => void;
  readonly onRemove: () => void;
}

function RuleFields({ row, names, onChange, onRemove }: RuleFieldsProps) {
  return (
    <span className="row gap-6 shrinks">
      <Select
        className="grow"
        label="Argument"
        value={row.argument}
        options={[...new Set([row.argument, ...names])].filter(Boolean).map((name) => [name, name])}
        onChange={(argument) => onChange({ ...row, argument })}
      />
      <span className="muted">as</span>
      <Input
        className="grow mono"
        list="pack-types"
        label="Type of the card"
        value={row.type}
        onChange={(text) => onChange({ ...row, type: text })}
      />
      <Select
        label="Role"
        value={row.role}
        options={Object.entries({ '': 'user', system: 'system', assistant: 'assistant', tool: 'tool' })}
        onChange={(role) => onChange({ ...row, role })}
      />
      <IconButton small icon={X} label="Remove rule" onClick={onRemove} />
    </span>
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
      <label className="row gap-6 shrinks">
        <input type="checkbox" checked={form.parent} onChange={(event) => onChange({ parent: event.target.checked })} />
        Say which agent hands it over
      </label>
    </PackPart>
  );
}

const boxName = (box: BoxRow): string => `${say.firstLine(box.head ?? 'Empty', 60)} · ${say.plural(box.cards, 'card')} · ${say.shortId(box.boxId)}`;
const nameOfId = (boxes: readonly BoxRow[], boxId: string): string => {
  const box = boxes.find((one) => one.boxId === boxId);
  return box ? boxName(box) : boxId;
};

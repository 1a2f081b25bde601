import { Plus, RotateCcw, Trash2 } from 'lucide-react';
import type { ReactNode } from 'react';
import type { TurnRequest } from '../../../core/contract/index.js';
import { Button, IconButton, say, TextArea } from '../../parts';
import { draftOf, newTool, type RequestDraft, toolName, writeSettings } from './request';

interface PartProps {
  readonly name: string;
  readonly count: number;
  /** Shown in place of a count of 0. */
  readonly none?: string;
  readonly isChanged: boolean;
  readonly isOpen?: boolean;
  readonly note?: ReactNode;
  readonly onUndo: () => void;
  readonly children: ReactNode;
}

/** One foldable part of the request, with a button that undoes its changes. */
export function RequestPart({ name, count, none = 'not recorded', isChanged, isOpen, note, onUndo, children }: PartProps) {
  return (
    <details className="ask-part line-above" open={isOpen}>
      <summary className="selectable row">
        <b>{name}</b> <span className="muted">{count > 0 ? say.exact(count) : none}</span>
        {note && <span className="muted">{note}</span>}
        <span className="grow" />
        {isChanged && (
          <>
            <span className="badge">changed</span>
            <IconButton
              small
              icon={RotateCcw}
              label={`Undo changes to ${name.toLowerCase()}`}
              onClick={(event) => {
                event.preventDefault();
                onUndo();
              }}
            />
          </>
        )}
      </summary>
      <div className="ask-inside gap-8 stack">{children}</div>
    </details>
  );
}

interface DraftPartProps {
  readonly request: TurnRequest;
  readonly draft: RequestDraft;
  readonly onChange: (draft: RequestDraft) => void;
}

/** The blocks of the system prompt as text fields. */
export function SystemPart({ request, draft, onChange }: DraftPartProps) {
  const original = draftOf(request).system;
  return (
    <RequestPart
      name="System prompt"
      count={draft.system.length}
      isChanged={JSON.stringify(draft.system) !== JSON.stringify(original)}
      onUndo={() => onChange({ ...draft, system: original })}
    >
      {draft.system.map((text, n) => (
        <TextArea
          // biome-ignore lint/suspicious/noArrayIndexKey: blocks have no identity but their place
          key={n}
          className="mono"
          label={`System prompt, block ${n + 1}`}
          rows={Math.min(14, Math.max(3, text.split('\n').length))}
          value={text}
          onChange={(text) => onChange({ ...draft, system: draft.system.with(n, text) })}
        />
      ))}
      <Button small icon={Plus} label="Add block" onClick={() => onChange({ ...draft, system: [...draft.system, ''] })} />
    </RequestPart>
  );
}

/** The tool definitions. Each can be edited, left out or added. */
export function ToolsPart({ request, draft, onChange, isChanged }: DraftPartProps & { readonly isChanged: boolean }) {
  const original = draftOf(request).tools;
  return (
    <RequestPart
      name="Tools"
      count={draft.tools.filter((tool) => tool.isUsed).length}
      isChanged={isChanged}
      onUndo={() => onChange({ ...draft, tools: original })}
    >
      {draft.tools.map((tool, n) => (
        <ToolField
          // biome-ignore lint/suspicious/noArrayIndexKey: tools have no identity but their place
          key={n}
          tool={tool}
          onChange={(changed) => onChange({ ...draft, tools: draft.tools.with(n, changed) })}
          {...(n >= original.length && { onRemove: () => onChange({ ...draft, tools: draft.tools.filter((_, at) => at !== n) }) })}
        />
      ))}
      <Button small icon={Plus} label="Add tool" onClick={() => onChange({ ...draft, tools: [...draft.tools, newTool] })} />
    </RequestPart>
  );
}

type DraftTool = RequestDraft['tools'][number];

function ToolField({ tool, onChange, onRemove }: { tool: DraftTool; onChange: (tool: DraftTool) => void; onRemove?: () => void }) {
  const name = toolName(tool.json);
  return (
    <details className={`ask-tool${tool.isUsed ? '' : ' left-out'}`}>
      <summary className="row">
        <span className="mono grow ellipsis">{name}</span>
        <label onClickCapture={(event) => event.stopPropagation()}>
          <input type="checkbox" checked={tool.isUsed} aria-label={`Offer ${name}`} onChange={() => onChange({ ...tool, isUsed: !tool.isUsed })} />
        </label>
      </summary>
      <TextArea className="mono" label={`Definition of ${name}`} rows={10} value={tool.json} onChange={(text) => onChange({ ...tool, json: text })} />
      {onRemove && <Button small icon={Trash2} label="Remove tool" onClick={onRemove} />}
    </details>
  );
}

/** The settings of the call (temperature, token limit and so on) as JSON. */
export function SettingsPart({ request, draft, onChange, isChanged }: DraftPartProps & { readonly isChanged: boolean }) {
  const settings = draft.settings ?? writeSettings(request);
  return (
    <RequestPart
      name="Settings"
      count={Object.keys(request.settings).length}
      isChanged={isChanged}
      onUndo={() => onChange({ ...draft, settings: null })}
    >
      <TextArea
        className="mono"
        label="Settings as JSON"
        rows={Math.min(16, settings.split('\n').length + 1)}
        value={settings}
        onChange={(text) => onChange({ ...draft, settings: text })}
      />
    </RequestPart>
  );
}

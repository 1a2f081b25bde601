import { Save, Trash2 } from 'lucide-react';
import { useState } from 'react';
import type { Card } from '../../../core/contract/index.js';
import { api } from '../../client';
import { Button, describeProblem, IconButton, Input, ProblemLine, Select, Sheet, TextArea } from '../../parts';
import { notify, refreshProject, useProjectQuery } from '../../state';
import { layerName } from './layers';

interface EditLayerProps {
  readonly project: string;
  readonly layer: string;
  readonly text: string;
  readonly onClose: () => void;
  readonly onDone: (text: string) => void;
}

/** A sheet to try another text for a layer: typed, or from a saved block. */
export function EditLayer({ project, layer, text, onClose, onDone }: EditLayerProps) {
  const [value, setValue] = useState(text);
  return (
    <Sheet
      title={`Edit ${layerName(layer).toLowerCase()}`}
      kind="side"
      onClose={onClose}
      action={{ label: 'Show the changes', onClick: () => onDone(value) }}
      footer={<span className="muted grow">This is a trial. Only saved blocks are stored.</span>}
    >
      <SavedBlocks project={project} layer={layer} value={value} onValue={setValue} />
      <TextArea className="mono wide" label={layerName(layer)} value={value} rows={24} onChange={setValue} />
    </Sheet>
  );
}

/** Chooses a saved block for the layer, or saves the text as one. */
function SavedBlocks({ project, layer, value, onValue }: { project: string; layer: string; value: string; onValue: (text: string) => void }) {
  const all = useSavedBlocks(project);
  const blocks = all.filter((block) => block.layer === layer);
  const [name, setName] = useState('');
  const [problem, setProblem] = useState<string>();
  const chosen = blocks.find((block) => block.name === name);
  const perform = (work: Promise<unknown>, notice: string): void =>
    void work.then(refreshProject).then(
      () => notify(notice),
      (error: unknown) => setProblem(describeProblem(error).message),
    );
  const remove = ({ card }: SavedBlock): void => {
    perform(api.card.delete({ cardId: card.cardId }), 'Block deleted');
    setName('');
  };
  return (
    <div className="compose-saved row wrap gap-6">
      <Select
        className="grow"
        label="Saved block"
        value={chosen?.name ?? ''}
        options={[
          ['', blocks.length === 0 ? 'No saved blocks for this layer' : 'Use a saved block…'],
          ...blocks.map((each) => [each.name, each.name] as const),
        ]}
        onChange={(value) => {
          const block = blocks.find((one) => one.name === value);
          setName(value);
          if (block) onValue(block.text);
        }}
      />
      {chosen && <IconButton small icon={Trash2} label={`Delete the block ${chosen.name}`} onClick={() => remove(chosen)} />}
      <Input label="Name of the block" placeholder="Name" value={name} onChange={setName} />
      <Button
        small
        icon={Save}
        label="Save block"
        disabled={name.trim() === '' || value.trim() === ''}
        onClick={() => perform(saveBlock(all, name.trim(), layer, value), 'Block saved')}
      />
      {problem && <ProblemLine>{problem}</ProblemLine>}
    </div>
  );
}

/** The type of a card that holds a saved block. */
const blockType = 'context.block';
const maxBlocks = 200;

interface SavedBlock {
  readonly card: Card;
  readonly name: string;
  readonly layer: string;
  readonly text: string;
}

const textAt = (value: unknown): string => (typeof value === 'string' ? value : '');

/** The saved blocks of the project, by name. */
function useSavedBlocks(project: string): readonly SavedBlock[] {
  const query = useProjectQuery(project, `${project} blocks`, () => api.card.list({ type: blockType, limit: maxBlocks }));
  if (query.status !== 'done') return [];
  return query.data.cards
    .flatMap((card) => {
      const { metadata, content, deletedAt } = card;
      if (deletedAt !== undefined || content.kind !== 'text') return [];
      return [{ card, name: textAt(metadata.name), layer: textAt(metadata.layer), text: content.text }];
    })
    .sort((a, b) => a.name.localeCompare(b.name));
}

/** Saves a block under a name. The same name for the same layer replaces the earlier text. */
async function saveBlock(saved: readonly SavedBlock[], name: string, layer: string, text: string): Promise<void> {
  const same = saved.find((block) => block.name === name && block.layer === layer);
  await api.card.add({
    card: {
      type: blockType,
      content: { kind: 'text', text },
      metadata: { type: blockType, role: 'system', name, layer },
      ...(same && { cardId: same.card.cardId }),
    },
  });
}

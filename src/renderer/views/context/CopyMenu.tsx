import { ClipboardCopy } from 'lucide-react';
import type { ContextId, Entry, Stop } from '../../../core/contract/index.js';
import { api } from '../../client';
import { describeProblem, IconButton, MenuButton } from '../../parts';
import { copy, notify } from '../../state';
import { shownWords } from './BlockView';

/** Copies the context or the selected entry, as text or JSON. */
export function CopyMenu({ commit, stop, total, entry }: { commit: ContextId; stop: Stop; total: number; entry: Entry | undefined }) {
  const copyMarkdown = async () => {
    const { text } = await api.export.context({ id: commit, stop, format: 'markdown' });
    await copy(text ?? '', 'Copied the context as Markdown');
  };
  const copyJson = async () => {
    const all: Entry[] = [];
    for (let offset = 0; offset < total; offset += 2_000)
      all.push(...(await api.context.entries({ id: commit, stop, offset, limit: 2_000 })).entries);
    await copy(JSON.stringify(all, null, 2), 'Copied the context as JSON');
  };
  const run = (job: Promise<void>) => void job.catch((error: unknown) => notify(describeProblem(error).message));
  return (
    <MenuButton
      label="Copy"
      button={<IconButton icon={ClipboardCopy} label="Copy" />}
      items={[
        { name: 'Context as Markdown', act: () => run(copyMarkdown()) },
        { name: 'Context as JSON', act: () => run(copyJson()) },
        'line',
        { name: 'Selected entry as text', disabled: !entry, act: () => entry && void copy(shownWords(entry), 'Copied the entry') },
        {
          name: 'Selected entry as JSON',
          disabled: !entry,
          act: () => entry && void copy(JSON.stringify(entry, null, 2), 'Copied the entry as JSON'),
        },
      ]}
    />
  );
}

import type { ContextId } from '../../../core/contract/index.js';
import { LinkButton, say } from '../../parts';
import { go } from '../../state';

export const CommitLink = ({ id }: { id: ContextId }) => (
  <LinkButton className="mono commit-link" label={say.shortId(id)} onClick={() => go({ commit: id, entry: undefined })} />
);

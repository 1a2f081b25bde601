import { useEffect, useState } from 'react';
import type { ArtifactRef } from '../../core/contract/index.js';
import { api } from '../client';
import { bytesIn, useQuery } from '../state';
import { Button } from './buttons';
import { bytes } from './numbers';
import { describeProblem } from './problem';

/** Image types that a browser draws without running code. Other media are named but not shown. */
const drawable = new Set(['image/png', 'image/jpeg', 'image/gif', 'image/webp']);

/** An image from the store, loaded as a blob. It makes no network request. */
export function Picture({ artifact, mediaType }: { artifact: ArtifactRef; mediaType: string }) {
  const shown = drawable.has(mediaType);
  const query = useQuery(shown ? artifact : null, () => api.artifact.get({ ref: artifact }));
  const [url, setUrl] = useState<string>();
  const [large, setLarge] = useState(false);
  const data = query.status === 'done' ? query.data.data : undefined;
  useEffect(() => {
    if (data === undefined) return;
    const made = URL.createObjectURL(new Blob([bytesIn(data)], { type: mediaType }));
    setUrl(made);
    return () => URL.revokeObjectURL(made);
  }, [data, mediaType]);

  if (!shown) return <p className="muted">An attachment of type {mediaType}, which this window does not draw.</p>;
  switch (query.status) {
    case 'failed':
      return (
        <p className="muted">
          Cannot show the image: {describeProblem(query.error).message}{' '}
          <Button small onClick={query.retry}>
            Try again
          </Button>
        </p>
      );
    case 'done':
      return (
        <figure className="picture">
          <button type="button" aria-label={large ? 'Show the image smaller' : 'Show the image at full width'} onClick={() => setLarge(!large)}>
            {url && <img src={url} alt={`Out of the conversation, ${mediaType}`} className={large ? 'large' : undefined} />}
          </button>
          <figcaption className="muted">
            {mediaType} · {bytes(query.data.size)}
          </figcaption>
        </figure>
      );
    default:
      return <div className="picture-frame" />;
  }
}

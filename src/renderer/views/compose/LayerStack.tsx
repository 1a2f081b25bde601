import { Pencil } from 'lucide-react';
import type { PreviewLayer } from '../../../core/contract/index.js';
import { Estimate, IconButton, LinkButton, say } from '../../parts';
import { go } from '../../state';
import { isBlock, layerFamily, layerName } from './layers';
import { type Composition, isTried, type Trial } from './trial';

const lifetimeNames = { call: 'this call', checkpoint: 'stored' } as const;
const lifetimeHints = { call: 'Created for one call and not stored', checkpoint: 'Stored with the checkpoint' } as const;

/** The layers in the order in which they are sent, with tokens, origin and an editor. */
export function LayerStack({ now, trial, onEdit }: { now: Composition; trial: Trial; onEdit: (layer: string) => void }) {
  const { layers = [], problems = [] } = now;
  const most = Math.max(1, ...layers.map((layer) => layer.tokens));
  return (
    <ol className="layer-stack" aria-label="Layers in the order sent">
      {layers.map((layer) => (
        <Layer key={layer.layer} layer={layer} most={most} now={now} tried={isTried(trial, layer.layer)} onEdit={onEdit} />
      ))}
      {problems.map((problem) => (
        <li key={problem.layer} className="notice-line">
          {layerName(problem.layer)}: {problem.reason}
        </li>
      ))}
    </ol>
  );
}

interface LayerProps {
  readonly layer: PreviewLayer;
  readonly most: number;
  readonly now: Composition;
  readonly tried: boolean;
  readonly onEdit: (layer: string) => void;
}

function Layer({ layer, most, now, tried, onEdit }: LayerProps) {
  const dropped = (now.dropped ?? []).filter((one) => one.layer === layer.layer && !(layer.tokens === 0 && one.tokens === 0));
  const origin = layer.origins.find((one) => one.entryKey !== undefined);
  const editable = isBlock(layer.layer) || layer.layer === 'system_prompt';
  return (
    <li className={`layer kind-${layerFamily(layer.layer)}`} data-present={layer.present}>
      <div className="layer-head row small">
        <span className="layer-name ellipsis">{layerName(layer.layer)}</span>
        {tried && <span className="badge">changed</span>}
        <span className="grow" />
        <span className="muted" title={lifetimeHints[layer.lifetime]}>
          {lifetimeNames[layer.lifetime]}
        </span>
        <span className="layer-tokens">{layer.tokens > 0 ? <Estimate of={layer.tokens} /> : '—'}</span>
        {editable ? (
          <IconButton small icon={Pencil} label={`Edit ${layerName(layer.layer)}`} onClick={() => onEdit(layer.layer)} />
        ) : (
          <span className="layer-gap" />
        )}
      </div>
      <div className="layer-bar" aria-hidden>
        <i style={{ width: `${(layer.tokens / most) * 100}%` }} />
      </div>
      <p className="muted small">
        {origin?.entryKey ? <LinkButton label={layer.origin} onClick={() => go({ view: 'context', entry: origin.entryKey })} /> : layer.origin}
      </p>
      {dropped.map((one) => (
        <p key={one.reason} className="layer-dropped small">
          Not sent: {one.reason}
          {one.tokens > 0 && (
            <>
              {' '}
              ({say.plural(one.messages, 'message')}, <Estimate of={one.tokens} />)
            </>
          )}
        </p>
      ))}
    </li>
  );
}

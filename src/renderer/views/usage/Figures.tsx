import type { ReactNode } from 'react';
import { LinkButton, say } from '../../parts';
import type { Range } from './ranges';
import { askSql } from './selection';
import type { ChosenFacets } from './slices';
import { callsSql, toolCallsSql } from './statements';
import { hitShare, type Sums, sumTokens } from './sums';
import { changePercent, measuredSum, million, share, tokensIn } from './words';

interface FiguresProps {
  readonly sums: Sums;
  readonly before: Sums | undefined;
  readonly range: Range;
  readonly chosen: ChosenFacets;
}

/** The key figures of the range, each with its change and with what was not counted. */
export function Figures({ sums, before, range, chosen }: FiguresProps) {
  const list = (more: string) => () => askSql(callsSql(range, chosen, [more]));
  const tokens = [
    ['Input', sums.input, 'var(--f-system)'],
    ['Cache read', sums.cacheRead, 'var(--f-live)'],
    ['Cache write', sums.cacheWrite, 'var(--f-near)'],
    ['Output', sums.output, 'var(--f-user)'],
  ] as const;
  const counted = sumTokens(sums);
  return (
    <div className="usage-figures line-below">
      <Figure
        name="Cost"
        value={measuredSum(sums, 'cost')}
        opens="List the calls with a price"
        onOpen={sums.calls > sums.unpriced ? list('cost IS NOT NULL') : undefined}
        change={before && changePercent(sums, before, 'cost')}
        isGood={before && sums.cost < before.cost}
      >
        {before && <span>from {measuredSum(before, 'cost')}</span>}
        {sums.unpriced > 0 && <LinkButton label={`${say.plural(sums.unpriced, 'call')} without a price`} onClick={list('cost IS NULL')} />}
      </Figure>
      <Figure
        name="Tokens counted"
        value={tokensIn(sums)}
        change={before && changePercent(sums, before, 'tokens')}
        opens="List the calls with counted tokens"
        onOpen={counted > 0 ? list('coalesce(input_tokens, cache_read_tokens, cache_write_tokens, output_tokens) IS NOT NULL') : undefined}
      >
        <span className="usage-parts" aria-hidden>
          {counted > 0 && tokens.map(([name, n, fill]) => n > 0 && <i key={name} style={{ flexGrow: n, background: fill }} />)}
        </span>
        <span className="usage-parts-names wrap nowrap">
          {(counted > 0 ? tokens : []).map(([name, n, fill]) => (
            <span key={name} className="inline-row">
              <i className="usage-key rigid" style={{ background: fill }} />
              {name} <b>{million(n)}</b>
            </span>
          ))}
        </span>
        {sums.uncountedInputs > 0 && (
          <LinkButton label={`${say.plural(sums.uncountedInputs, 'call')} without a counted input`} onClick={list('input_tokens IS NULL')} />
        )}
        {sums.uncountedOutputs > 0 && (
          <LinkButton label={`${say.plural(sums.uncountedOutputs, 'call')} without a counted output`} onClick={list('output_tokens IS NULL')} />
        )}
      </Figure>
      <Figure
        name="Lost to cache misses"
        value={measuredSum(sums, 'loss')}
        opens="List the cache misses"
        onOpen={sums.misses > 0 ? list('cache_miss') : undefined}
        change={before && changePercent(sums, before, 'loss')}
        isGood={before && sums.loss < before.loss}
      >
        {hitShare(sums) !== undefined && <span>{share(hitShare(sums))} of the input came from the cache</span>}
        {sums.misses > 0 && <LinkButton label={say.plural(sums.misses, 'miss', 'misses')} onClick={list('cache_miss')} />}
      </Figure>
      <ErrorFigure sums={sums} before={before} range={range} chosen={chosen} />
    </div>
  );
}

function ErrorFigure({ sums, before, range, chosen }: FiguresProps) {
  const list = (more: string) => () => askSql(toolCallsSql(range, chosen, [more]));
  const errorRate = ({ errors, results }: Sums) => (results === 0 ? undefined : (errors / results) * 100);
  const [rate, oldRate] = [errorRate(sums), before && errorRate(before)];
  return (
    <Figure
      name="Errors per 100 tool calls"
      value={rate === undefined ? '–' : rate.toFixed(1)}
      opens="List the failed tool calls"
      onOpen={sums.errors > 0 ? list('is_error') : undefined}
      change={
        rate !== undefined && oldRate != null
          ? `${rate > oldRate ? '+' : rate < oldRate ? '−' : ''}${Math.abs(rate - oldRate).toFixed(1)}`
          : undefined
      }
      isGood={rate !== undefined && oldRate != null && rate < oldRate}
    >
      {sums.results > 0 && <LinkButton label={`in ${say.plural(sums.results, 'tool call')}`} onClick={list('is_error IS NOT NULL')} />}
      {sums.toolCalls > sums.results && (
        <LinkButton label={`${say.plural(sums.toolCalls - sums.results, 'call')} without a recorded result`} onClick={list('is_error IS NULL')} />
      )}
    </Figure>
  );
}

interface FigureProps {
  readonly name: string;
  readonly value: string;
  readonly change: string | undefined;
  readonly isGood?: boolean | undefined;
  readonly opens: string;
  readonly onOpen: (() => void) | undefined;
  readonly children: ReactNode;
}

function Figure({ name, value, change, isGood, opens, onOpen, children }: FigureProps) {
  return (
    <section className="usage-figure" aria-label={name}>
      <h3 className="muted">{name}</h3>
      <p className="row baseline gap-6">
        {onOpen ? (
          <button type="button" className="usage-ask usage-big nowrap" title={opens} onClick={onOpen}>
            <b>{value}</b>
          </button>
        ) : (
          <b className="usage-big nowrap">{value}</b>
        )}
        {change && <span className={isGood ? 'tone-good small' : 'muted small'}>{change}</span>}
      </p>
      <div className="usage-notes small muted">{children}</div>
    </section>
  );
}

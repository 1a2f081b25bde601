import type { ExportFormat, ExportUse } from '../../../core/contract/index.js';

const uses: Record<ExportUse, string> = { people: 'For people', agents: 'For agents', programs: 'For programs' };

/** Losses as text, for example `thinking (12), signature (3)`. */
export const lossText = (counts: ExportFormat['lossCounts']): string =>
  counts.map(({ what, count }) => `${what} (${count.toLocaleString('en-US')})`).join(', ');

/** The formats that a context can be exported to, each with its losses. */
export function Formats(props: { formats: readonly ExportFormat[]; chosen: string | undefined; onChoose: (format: string) => void }) {
  const { formats, chosen, onChoose } = props;
  return (Object.keys(uses) as ExportUse[]).map((use) => {
    const group = formats.filter((one) => one.use === use);
    return (
      group.length > 0 && (
        <fieldset key={use}>
          <legend className="muted">{uses[use]}</legend>
          {group.map((one) => (
            <label key={one.format} className="export-format row baseline">
              <input type="radio" name="format" value={one.format} checked={one.format === chosen} onChange={() => onChoose(one.format)} />
              <span className="export-format-text row baseline wrap grow">
                <b>{one.name}</b> <span className="mono muted">{one.format}</span>
                {one.format !== chosen && <span className="export-lost">{shortLossText(one)}</span>}
                {one.format === chosen && (
                  <>
                    <span className="muted whole-line">{one.what}</span>
                    <span className={one.lossCounts.length > 0 ? 'export-lost whole-line told' : 'export-lost whole-line'}>{longLossText(one)}</span>
                  </>
                )}
              </span>
            </label>
          ))}
        </fieldset>
      )
    );
  });
}

const shortLossText = ({ lossCounts }: ExportFormat): string =>
  lossCounts.length === 0 ? 'complete' : `leaves out ${lossCounts.length === 1 ? '1 kind of content' : `${lossCounts.length} kinds of content`}`;

const longLossText = ({ tier, lossCounts }: ExportFormat): string =>
  lossCounts.length > 0
    ? `Leaves out: ${lossText(lossCounts)}.`
    : tier === 'native'
      ? 'Exactly as recorded, nothing is left out.'
      : 'Nothing is left out.';

import type { ExportFormat, ExportUse } from '../../../core/contract/index.js';

const uses: Record<ExportUse, string> = { people: 'For people', agents: 'For agents', programs: 'For programs' };

export const lossesInWords = (counts: ExportFormat['lossCounts']): string =>
  counts.map(({ what, count }) => `${what} (${count.toLocaleString('en-US')})`).join(', ');

/** What a context can leave as, and what each form has no place for: known before anything is written. */
export function Formats(props: { formats: readonly ExportFormat[]; chosen: string | undefined; onChoose: (format: string) => void }) {
  const { formats, chosen, onChoose } = props;
  return (Object.keys(uses) as ExportUse[]).map((use) => {
    const group = formats.filter((one) => one.use === use);
    return (
      group.length > 0 && (
        <fieldset key={use} className="export-formats">
          <legend className="muted">{uses[use]}</legend>
          {group.map((one) => (
            <label key={one.format} className="export-format">
              <input type="radio" name="format" value={one.format} checked={one.format === chosen} onChange={() => onChoose(one.format)} />
              <span className="export-format-text">
                <b>{one.name}</b> <span className="mono muted">{one.format}</span>
                {one.format !== chosen && <span className="export-lost">{lossesInShort(one)}</span>}
                {one.format === chosen && (
                  <>
                    <span className="muted whole-line">{one.what}</span>
                    <span className={one.lossCounts.length > 0 ? 'export-lost whole-line told' : 'export-lost whole-line'}>
                      {lossesAtLength(one)}
                    </span>
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

const lossesInShort = ({ lossCounts }: ExportFormat): string =>
  lossCounts.length === 0 ? 'holds all of it' : `leaves out ${lossCounts.length === 1 ? 'one thing' : `${lossCounts.length} things`}`;

const lossesAtLength = ({ tier, lossCounts }: ExportFormat): string =>
  lossCounts.length > 0
    ? `Leaves out: ${lossesInWords(lossCounts)}.`
    : tier === 'native'
      ? 'As it was recorded: nothing is lost.'
      : 'Nothing is lost.';

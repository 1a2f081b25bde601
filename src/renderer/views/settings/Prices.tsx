import { Plus } from 'lucide-react';
import type { PriceTable } from '../../../core/contract/index.js';
import { api } from '../../client';
import { Answer, Button, RemoveButton, say, TaskProblem } from '../../parts';
import { ask, type FormSpec, numberIn, textIn, useOpenDir, useQuery, useRounds, useTask } from '../../state';

type Row = PriceTable['own'][number]['rows'][number];
const sources = { own: 'your own', list: 'built in', unknown: 'no price' } as const;

/** Prices and windows of the models of the open project, and a person's own prices, which come first. */
export function Prices() {
  const dir = useOpenDir();
  const [round, reload] = useRounds();
  const [removed, remove] = useTask<unknown>();
  const query = useQuery(`prices ${dir ?? ''} ${round}`, (signal) => api.price.list({}, { signal }));
  return (
    <section aria-label="Prices">
      <h2>Prices</h2>
      <p className="muted">
        US dollars per million tokens. Your own prices replace the built-in ones from the day that you set. All calls are then priced again.
      </p>
      <Answer query={query} what="Cannot list the prices" loading="Loading the prices" lines={4}>
        {(table) => (
          <>
            <Models models={table.models} />
            <h3>Your own prices</h3>
            {table.own.length === 0 && <p className="muted">None. The built-in prices apply.</p>}
            <ul className="storage-replicas" aria-label="Your own prices">
              {table.own.map(({ model, from, rows }) => (
                <li key={`${model} ${from}`} className="row">
                  <span className="grow">
                    <span className="mono">{model}</span> from {from}: {rows.map(describePrice).join('; ')}
                  </span>
                  <RemoveButton
                    small
                    label={`Remove the prices of ${model} from ${from}`}
                    question="Remove these prices?"
                    onRemove={() => void remove(() => api.price.remove({ model, from })).then(reload)}
                  >
                    The built-in prices apply again.
                  </RemoveButton>
                </li>
              ))}
            </ul>
            <Button icon={Plus} label="Add prices…" onClick={() => ask(priceForm(reload))} />
            <TaskProblem task={removed} />
            <h3>What else sets a price</h3>
            <ul className="muted">
              {table.factors.map(({ pattern, models, speed, tier, geo, factor, source }) => (
                <li key={`${pattern} ${speed} ${tier} ${geo}`} title={source}>
                  {factor} × {speed ? `at ${speed} speed` : tier ? `in the ${tier} tier` : `in the region ${geo}`}: {models}
                </li>
              ))}
              {table.tools.map(({ pattern, models, tool, price, source }) => (
                <li key={`${pattern} ${tool}`} title={source}>
                  ${price} for each {toolWords(tool)}: {models}
                </li>
              ))}
            </ul>
            <p className="muted">
              From {table.list.name} of {table.list.date} and Stemma's own table of {table.asOf}.
            </p>
          </>
        )}
      </Answer>
    </section>
  );
}

/** A name such as `webSearch` in words. */
const toolWords = (tool: string): string => tool.replace(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`);

const describePrice = ({ above = 0, input, output }: Row): string =>
  `${above > 0 ? `above ${say.exact(above)} tokens ` : ''}$${input} in, $${output} out`;

function Models({ models }: Pick<PriceTable, 'models'>) {
  if (models.length === 0) return <p>The open project has no calls of a named model.</p>;
  const columns = ['Model', 'Input above', 'Input', 'Output', 'Cache read', 'Cache write', 'Cache write, 1 hour', 'Window', 'From'];
  return (
    <table className="prices">
      <thead>
        <tr>
          {columns.map((name) => (
            <th key={name} scope="col">
              {name}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {models.flatMap(({ model, rows, limit, source }) =>
          (rows.length > 0 ? rows : [undefined]).map((row, at) => (
            <tr key={`${model} ${row?.above ?? 0}`}>
              <th scope="row" className="mono">
                {at === 0 && model}
              </th>
              {[row?.above || undefined, row?.input, row?.output, row?.cacheRead, row?.cacheWrite, row?.cacheWrite1h, at === 0 ? limit : null].map(
                (value, number) => (
                  <td key={columns[number + 1]} className="num">
                    {value === undefined || value === null ? '–' : say.exact(value)}
                  </td>
                ),
              )}
              <td className="muted">{at === 0 && sources[source]}</td>
            </tr>
          )),
        )}
      </tbody>
    </table>
  );
}

const priceForm = (onSaved: () => void): FormSpec => ({
  title: 'Prices of a model',
  intro: 'US dollars per million tokens. An empty cache price counts as the price of the input.',
  fields: [
    { name: 'model', label: 'Model', hint: 'A star at the end stands for any ending.', required: true },
    { name: 'from', label: 'From', placeholder: '2026-01-31', required: true },
    { name: 'input', label: 'Input', kind: 'number', required: true, field: 'rows.0.input' },
    { name: 'output', label: 'Output', kind: 'number', required: true, field: 'rows.0.output' },
    { name: 'cacheRead', label: 'Cache read', kind: 'number', field: 'rows.0.cacheRead' },
    { name: 'cacheWrite', label: 'Cache write', kind: 'number', field: 'rows.0.cacheWrite' },
    { name: 'cacheWrite1h', label: 'Cache write, 1 hour', kind: 'number', field: 'rows.0.cacheWrite1h' },
  ],
  action: 'Save',
  submit: async (values) => {
    const more = ['cacheRead', 'cacheWrite', 'cacheWrite1h'].flatMap((name) => {
      const value = numberIn(values, name);
      return value === undefined ? [] : [[name, value]];
    });
    const row = { input: numberIn(values, 'input') ?? 0, output: numberIn(values, 'output') ?? 0, ...Object.fromEntries(more) } as Row;
    await api.price.set({ model: textIn(values, 'model'), from: textIn(values, 'from'), rows: [row] });
    onSaved();
  },
});

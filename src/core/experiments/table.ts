import { encodeText } from '../base/index.js';
import type { ReadChain } from '../chain/index.js';
import type { Experiment, ExperimentResult, InputOf, OutputOf } from '../contract/index.js';
import { writeNew } from '../files/index.js';
import { inlineText } from '../formats/index.js';
import { getExperiment } from './experiments.js';

const columns: readonly (readonly [name: string, of: (result: ExperimentResult) => string])[] = [
  ['round', (result) => String(result.round)],
  ['case', (result) => result.title],
  ['sample', (result) => String(result.sample + 1)],
  ['provider', (result) => result.provider],
  ['model', (result) => result.model ?? ''],
  ['settings', (result) => result.settings],
  ['edits', (result) => result.edits],
  ['input tokens', (result) => writeNumber(result.tokens.input)],
  ['output tokens', (result) => writeNumber(result.tokens.output)],
  ['cost in $', (result) => writeNumber(result.cost)],
  ['ms', (result) => writeNumber(result.ms)],
  ['outcome', (result) => result.outcome],
  ['judged by', (result) => result.judgedBy ?? ''],
  ['why', (result) => result.problem ?? result.checks.flatMap(({ passed, words, why }) => (passed ? [] : [`${words}: ${why}`])).join('; ')],
  ['note', (result) => result.note ?? ''],
  ['reply', (result) => result.head],
  ['turn', (result) => result.turnId],
  ['branch', (result) => result.commit ?? ''],
];

/** A number that is not recorded is empty, never 0. */
const writeNumber = (value: number | null): string => (value === null ? '' : String(value));

/** The table of an experiment as text, or written to a new file at `path`. @throws NOT_FOUND; CONFLICT if the file exists */
export function exportExperiment(chain: ReadChain, input: InputOf<'experiment.export'>): OutputOf<'experiment.export'> {
  const experiment = getExperiment(chain, input.experimentId);
  const text = input.format === 'csv' ? csvOf(experiment) : markdownOf(experiment);
  const bytes = encodeText(text);
  if (input.path === undefined) return { text, bytes: bytes.length };
  writeNew(input.path, bytes);
  return { path: input.path, bytes: bytes.length };
}

const linesOf = ({ results }: Experiment): string[][] => [columns.map(([name]) => name), ...results.map((row) => columns.map(([, of]) => of(row)))];

/** CSV as in RFC 4180. */
const csvOf = (experiment: Experiment): string =>
  linesOf(experiment)
    .map((line) => `${line.map(csvCell).join(',')}\r\n`)
    .join('');

/** Spreadsheets run cells that start like this as formulas. An apostrophe keeps them texts. */
const formula = /^[=+@\t\r]|^-(?!\d+(\.\d+)?$)/;

function csvCell(text: string): string {
  const plain = formula.test(text) ? `'${text}` : text;
  return /[",\r\n]/.test(plain) ? `"${plain.replaceAll('"', '""')}"` : plain;
}

function markdownOf(experiment: Experiment): string {
  const [head = [], ...lines] = linesOf(experiment);
  const row = (cells: readonly string[]): string => `| ${cells.join(' | ')} |\n`;
  return [
    `# ${inlineText(experiment.title)}\n\n`,
    experiment.note ? `${inlineText(experiment.note)}\n\n` : '',
    row(head),
    row(head.map(() => '---')),
    ...lines.map((line) => row(line.map(inlineText))),
  ].join('');
}

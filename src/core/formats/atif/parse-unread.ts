import { inWords, isObject, type Json, type JsonObject } from '../../base/index.js';
import { noted, objectsIn, pictured, readMember, type UnplacedEntry } from '../shared/drafts.js';
import { isSource, readParts, readRoot, readStep, sources } from './schema.js';

/** A value in a place where ATIF has another kind of value. */
interface Unread {
  readonly name: string;
  readonly value: Json;
  /** How it differs from what ATIF defines. */
  readonly flaw: string;
}

const isSet = (value: Json | undefined): value is Json => value !== undefined && value !== null;

/** The values of a list of objects that are not objects. */
const othersThanObjects = (name: string, value: Json | undefined): readonly Unread[] =>
  (Array.isArray(value) ? value.filter((one) => !isObject(one)) : isSet(value) ? [value] : []).map((one) => ({
    name,
    value: one,
    flaw: ' instead of a list of objects',
  }));

const othersThanContent = (name: string, value: Json | undefined): readonly Unread[] =>
  typeof value === 'string' ? [] : othersThanObjects(name, value).map((one) => ({ ...one, flaw: ' instead of a text or a list of parts' }));

function unreadIn(step: JsonObject): readonly Unread[] {
  const { message, observation, reasoning_content: thinking, tool_calls: calls } = step;
  const results = readMember(observation, 'results');
  const isAgent = step.source === 'agent';
  const ofAgents = [
    ...(typeof thinking === 'string' ? [] : [{ name: 'reasoning_content', value: thinking, flaw: ' instead of a text' }]),
    ...othersThanObjects('tool_calls', calls),
  ];
  const ofOthers = [
    { name: 'reasoning_content', value: thinking, flaw: ', which only an agent has' },
    { name: 'tool_calls', value: calls, flaw: ', which only an agent has' },
  ];
  return [
    ...othersThanContent('message', message),
    ...(isAgent ? ofAgents : ofOthers).flatMap(({ value, ...one }) => (isSet(value) ? [{ ...one, value }] : [])),
    ...(isSet(observation) && !isObject(observation) ? [{ name: 'observation', value: observation, flaw: ' instead of an object' }] : []),
    ...othersThanObjects('observation.results', results),
    ...objectsIn(results).flatMap(({ content }) => othersThanContent('content of a result', content)),
  ];
}

/** Entries for content that the other entries of a step do not contain, so that nothing is lost. */
export function unreadDrafts(step: JsonObject): readonly UnplacedEntry[] {
  const parts = objectsIn(readMember(step.observation, 'results')).flatMap((result) => partsBeside(result));
  return [...unreadIn(step).map(({ name, value }) => noted(name, value)), ...parts];
}

/** Parts of a result that are neither text nor an image of a tool, such as audio. */
function partsBeside({ source_call_id: id, content }: JsonObject): readonly UnplacedEntry[] {
  return readParts(content).flatMap((part): UnplacedEntry[] => {
    if (part.type === 'text' && typeof part.text === 'string') return [];
    if (part.type !== 'image') return [noted(typeof part.type === 'string' ? part.type : 'part', part)];
    return typeof id === 'string' ? [] : [pictured('user', { link: part.source ?? part }, { marks: ['meta', 'environment'] })];
  });
}

/** A note for the person about the values of a line that ATIF does not define. */
export function oddities(record: JsonObject): readonly string[] {
  const step = readStep(record);
  if (record.row !== undefined) return [`a step is ${inWords(record.row)} instead of an object: it is kept as an event`];
  if (!step) return odditiesOfRoot(readRoot(record) ?? {});
  const number = `step ${inWords(step.step_id ?? null)}`;
  if (!isSource(step.source))
    return [`the source of ${number} is ${inWords(step.source ?? null)} instead of ${sources.join(', ')}: the step is kept as an event`];
  const isOdd = ({ arguments: input }: JsonObject): boolean => isSet(input) && !isObject(input);
  const calls = step.source === 'agent' ? objectsIn(step.tool_calls).filter(isOdd) : [];
  return [
    ...unreadIn(step).map(({ name, value, flaw }) => `${number} has ${inWords(value)} as ${name}${flaw}: it is kept as an event`),
    ...calls.map(
      ({ tool_call_id: id, arguments: input }) =>
        `the call ${inWords(id ?? null)} of ${number} has the arguments ${inWords(input)} instead of an object: they are kept unchanged`,
    ),
  ];
}

/** Members of a document that should be lists and are not. */
const odditiesOfRoot = (root: JsonObject): readonly string[] =>
  ['steps', 'subagent_trajectories'].flatMap((name) =>
    isSet(root[name]) ? [`the document has ${inWords(root[name])} as ${name} instead of a list: it is kept and not read`] : [],
  );

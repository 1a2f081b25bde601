/** A question of a view about a context. `$tip` stands for its newest commit. */
interface View {
  readonly procedure: string;
  readonly input: object;
}

const id = '$tip';

/** What the views of a context ask, as they ask it. */
export const views: readonly View[] = [
  { procedure: 'context.show', input: { id } },
  { procedure: 'context.outline', input: { id, packed: true, near: null } },
  { procedure: 'context.outline', input: { id, packed: true, limit: 10_000 } },
  { procedure: 'context.entries', input: { id, offset: 0, limit: 60 } },
  { procedure: 'context.find', input: { id, text: 'queue retries', offset: 0, limit: 500 } },
  { procedure: 'context.history', input: { id, depth: 200 } },
  { procedure: 'context.materialize', input: { id } },
  { procedure: 'compose.rows', input: { id, limit: 100, longest: 2_000 } },
  { procedure: 'turn.list', input: { id } },
  { procedure: 'turn.get', input: { turnId: id } },
  { procedure: 'turn.steps', input: { id, packed: true, last: 500 } },
  { procedure: 'turn.compare', input: { a: id, b: '$first' } },
  { procedure: 'export.formats', input: { id } },
  { procedure: 'timeline.transcript', input: { id, window: true } },
  { procedure: 'timeline.rows', input: { id, limit: 100, longest: 2_000 } },
  { procedure: 'usage.largest', input: { id, limit: 20 } },
  { procedure: 'usage.fillers', input: { id } },
  { procedure: 'usage.context', input: { id } },
  { procedure: 'usage.calls', input: { id, packed: true, last: 500 } },
  { procedure: 'usage.series', input: { id, packed: true, last: 500 } },
];

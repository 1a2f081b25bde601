import type { Contract } from '../contract/index.js';
import { type Access, isUntrusted } from './access.js';

/**
 * The effect of a procedure. `machine`: it works on this machine and not on the open project. `reads`: it changes no record of the project,
 * but may fill caches or write a file that the caller names. `acts`: it changes no record, but lets a model or an agent act on the content
 * of the project. `writes`: it changes records.
 */
export type Effect = 'machine' | 'reads' | 'acts' | 'writes';

/** With `when`, the procedure writes only if that field of the input is true; with `unless`, only if that field is missing or false. */
type EffectRow = Effect | { readonly when: string } | { readonly unless: string };

type Effects = { readonly [Namespace in keyof Contract]: { readonly [Procedure in keyof Contract[Namespace]]: EffectRow } };

/** The effect of each procedure. A read-only project refuses those that write. */
export const effects: Effects = {
  project: {
    create: 'machine',
    open: 'machine',
    trust: 'machine',
    info: 'reads',
    changes: 'reads',
    storage: 'reads',
    check: { when: 'repair' },
    backups: 'reads',
    backUp: 'writes',
    setBackups: 'writes',
  },
  artifact: {
    put: 'writes',
    get: 'reads',
    stat: 'reads',
    setPolicy: 'writes',
    gc: { unless: 'dryRun' },
    repack: 'writes',
    dropCaches: 'writes',
  },
  replica: { list: 'reads', set: 'writes', remove: 'writes', replicate: 'writes' },
  template: { put: 'writes', get: 'reads', list: 'reads' },
  context: {
    checkpoint: 'writes',
    materialize: 'reads',
    resolve: 'reads',
    show: 'reads',
    history: 'reads',
    update: 'writes',
    tips: 'reads',
    graph: 'reads',
    entries: 'reads',
    outline: 'reads',
    find: 'reads',
    fork: 'writes',
    compact: 'writes',
    snapshot: 'writes',
    summarize: 'writes',
    diff: 'reads',
    diffCalls: 'reads',
    instantiate: 'writes',
  },
  export: { formats: 'reads', context: 'reads', comparison: 'reads', resume: 'acts', continue: 'acts' },
  import: { detect: 'machine', run: 'writes' },
  capture: { watch: 'writes', status: 'reads', stop: 'writes', checkpoint: 'writes' },
  source: { list: 'reads', get: { unless: 'path' } },
  session: { list: 'reads', place: 'reads', rename: 'writes', archive: 'writes', pin: 'writes', tag: 'writes', delete: 'writes' },
  branch: { rename: 'writes', archive: 'writes', delete: 'writes' },
  library: {
    sources: 'machine',
    sessions: 'machine',
    search: 'machine',
    recent: 'machine',
    sample: 'machine',
    home: 'machine',
    allowWrite: 'machine',
    drafts: 'machine',
    saveDraft: 'machine',
    startup: 'machine',
  },
  ticket: {
    create: 'writes',
    update: 'writes',
    get: 'reads',
    list: 'reads',
    overview: 'reads',
    facets: 'reads',
    transition: 'writes',
    verdict: 'writes',
    discuss: 'writes',
    answer: 'writes',
    thread: 'reads',
    startFrom: 'reads',
    ofContexts: 'reads',
    events: 'reads',
    acknowledge: 'writes',
    import: 'writes',
  },
  search: { query: 'reads' },
  usage: { context: 'reads', calls: 'reads', series: 'reads', fillers: 'reads', compaction: 'reads', judgeCompaction: 'acts', sessions: 'reads' },
  request: {
    list: 'reads',
    series: 'reads',
    get: 'reads',
    diff: 'reads',
    parts: 'reads',
    part: 'reads',
    partDiff: 'reads',
    capture: 'writes',
  },
  turn: {
    list: 'reads',
    get: 'reads',
    facts: 'reads',
    steps: 'reads',
    entries: 'reads',
    state: 'reads',
    file: 'reads',
    reproduce: 'reads',
    request: 'reads',
    providers: 'machine',
    rerun: 'writes',
    answer: 'writes',
    ask: 'acts',
    compare: 'reads',
    following: 'reads',
    whatIf: 'writes',
    sides: 'reads',
    compareMany: 'reads',
  },
  runner: {
    start: 'writes',
    stop: 'writes',
    list: 'reads',
    log: 'reads',
    answer: 'writes',
    agents: 'machine',
    getPolicy: 'reads',
    setPolicy: 'writes',
  },
  experiment: { save: 'writes', list: 'reads', get: 'reads', remove: 'writes', run: 'writes', judge: 'writes', export: 'reads' },
  provider: { list: 'machine', set: 'machine', remove: 'machine' },
  compose: { messages: 'machine', collect: 'machine', patch: 'machine', shorten: 'machine', compact: 'writes', body: 'machine', preview: 'reads' },
  timeline: { block: 'machine', render: 'machine', messages: 'machine', transcript: 'machine' },
  space: {
    addEntity: 'writes',
    entities: 'reads',
    create: 'writes',
    join: 'writes',
    leave: 'writes',
    list: 'reads',
    get: 'reads',
    messages: 'reads',
    wouldTrigger: 'reads',
    post: 'writes',
    wait: 'reads',
    waits: 'reads',
    read: 'writes',
  },
  run: {
    list: 'reads',
    get: 'reads',
    timeline: 'reads',
    preview: 'reads',
    start: 'writes',
    enterSpace: 'writes',
    send: 'writes',
    read: 'writes',
    tick: 'writes',
    finish: 'writes',
    goals: 'reads',
    setGoals: 'writes',
    memories: 'reads',
    setMemory: 'writes',
    plans: 'reads',
    setPlan: 'writes',
  },
  card: {
    add: 'writes',
    get: 'reads',
    batch: 'reads',
    delete: 'writes',
    history: 'reads',
    boxes: 'reads',
    list: 'reads',
    facets: 'reads',
  },
  box: {
    create: 'writes',
    get: 'reads',
    batch: 'reads',
    cards: 'reads',
    append: 'writes',
    replace: 'writes',
    list: 'reads',
    entries: 'reads',
    fromContext: 'writes',
    commit: 'writes',
  },
  profile: { put: 'writes', find: 'reads', list: 'reads' },
  handover: {
    pack: 'writes',
    preview: 'reads',
    packWithInstruction: 'writes',
    delegate: 'writes',
    forkJoin: 'writes',
    launchPrincipal: 'writes',
    askExpert: 'writes',
    batch: 'reads',
    map: 'reads',
  },
  agent: {
    register: 'writes',
    get: 'reads',
    turns: 'reads',
    input: { unless: 'preview' },
    begin: 'writes',
    write: 'writes',
    suspend: 'writes',
    answer: 'writes',
    submit: 'writes',
    finish: 'writes',
  },
  projects: { box: 'reads', boxes: 'reads', boxCards: 'reads', cards: 'reads', card: 'reads' },
};

/** The effect of a call, by its path such as `['context', 'fork']`. An unknown procedure counts as writing. */
export function effectOf(path: readonly string[], input: unknown): Effect {
  const [namespace = '', procedure = ''] = path;
  const row = (effects as Readonly<Record<string, Readonly<Record<string, EffectRow>> | undefined>>)[namespace]?.[procedure] ?? 'writes';
  if (typeof row === 'string') return row;
  const fields = (typeof input === 'object' && input !== null ? input : {}) as Readonly<Record<string, unknown>>;
  if ('when' in row) return fields[row.when] === true ? 'writes' : 'reads';
  return fields[row.unless] === undefined || fields[row.unless] === false ? 'writes' : 'reads';
}

/** Whether a call is refused for a project with this access. An untrusted project also refuses calls that act. */
export function isRefused(access: Access, path: readonly string[], input: unknown): boolean {
  if (access.mode === 'read-write') return false;
  const effect = effectOf(path, input);
  return effect === 'writes' || (effect === 'acts' && isUntrusted(access));
}

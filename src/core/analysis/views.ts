import { outlineVersion } from '../chain/index.js';
import { type AnalysisView, analysisViews, kinds as kindNames } from '../contract/index.js';
import { dayMs, nameIn } from '../usage/index.js';

/** How a column is stored in a file. A time is text in ISO 8601 for SQL, and an instant in Parquet. */
export type ViewColumnKind = 'text' | 'count' | 'number' | 'time' | 'yes-no';

export interface View {
  readonly name: AnalysisView;
  readonly what: string;
  readonly from: (within: Within) => string;
  readonly columns: ReturnType<typeof columns>;
  /** The column of times by which a dataset is divided into months. */
  readonly month: string;
}

/** A condition that limits a view to some commits, given the column that holds the commit. */
type Within = (commit: string) => string;

/** Raise this when a column changes its meaning or is removed. New columns do not change it. */
export const viewsVersion = 1;

/** `sql`: the expression over the view's tables. `isContent`: whether it reads stored content. A dataset leaves such columns out. */
type Column = readonly [name: string, kind: ViewColumnKind, sql: string, what: string, isContent?: true];
const columns = (all: readonly Column[]) => all.map(([name, kind, sql, what, isContent = false]) => ({ name, kind, sql, what, isContent }));

/** A time of the database as the contract writes it. */
const iso = (sql: string): string => `strftime('%Y-%m-%dT%H:%M:%fZ', (${sql}) / 1000.0, 'unixepoch')`;
/** The session of a commit `c`, and whether it is not deleted. */
export const sessionOfCommit = 'IFNULL((SELECT k.session FROM usageCommit k WHERE k.context = c.seq), c.sessionId)';
export const isShown = 'NOT EXISTS (SELECT 1 FROM usageCommit k WHERE k.context = c.seq AND k.session IS NULL)';
/** The agent of a commit `c`. */
export const agentOfTemplate = "IIF(instr(c.template, '/') > 0, substr(c.template, 1, instr(c.template, '/') - 1), c.template)";
const subagentOfTemplate = "IIF(instr(c.template, '/') > 0, substr(c.template, instr(c.template, '/') + 1), NULL)";

/** Whether a commit `c` is a turn of the project, and its calls. */
export const isTurnOfProject = `c.project = :project AND c.type = 'delta' AND c.checkpoint NOT IN ('tool_call', 'assistant_message') AND ${isShown}`;
export const callsOfCommit = 'FROM usageCall u WHERE u.context = c.seq AND u.replayed IS NULL';

/** The id of a call, as `usage.calls` names it. */
const requestId = `COALESCE((SELECT r.requestId FROM request r WHERE r.project = u.project AND r.replyRecord = stemma_record(u.key) ORDER BY r.provider IS NOT NULL, r.no LIMIT 1),
  IIF(substr(u.call, 1, length(:card)) = :card, u.call, 'call:' || (SELECT id FROM commits WHERE seq = u.context) || ':' || u.key))`;

const sessions = columns([
  ['session_id', 'text', 's.session', 'The id of the session, as `session.list` names it.'],
  ['parent_session_id', 'text', 's.parent', 'For a subagent: the session that started it.'],
  ['agent', 'text', 's.agent', 'The agent, such as `claude-code`.'],
  ['subagent', 'text', 's.subagent', 'The kind of a subagent.'],
  ['title', 'text', 's.title', 'The title.'],
  ['repository', 'text', 's.repository', 'The working directory; null if it was not recorded.'],
  ['person', 'text', 's.person', 'The machine on which it ran; null if it was not recorded.'],
  ['branch', 'text', 's.branch', 'The branch of git that was checked out last; null if it was not recorded.'],
  ['started_at', 'time', 's.startedAt', 'The time of its first commit.'],
  ['ended_at', 'time', 's.endedAt', 'The time of its last recorded commit.'],
  ['turns', 'count', 's.turns', 'Turns of the main branch.'],
  ['branches', 'count', 's.branches', 'Branches.'],
  ['calls', 'count', 's.calls', 'Calls to models, subagents with the same session id included.'],
  ['errors', 'count', 's.errors', 'Failed tool calls.'],
  ['peak_tokens', 'count', 's.peakTokens', 'The largest counted input.'],
  ['window_limit', 'count', 's.windowLimit', "The model's context window."],
  ['cost', 'number', 's.cost', 'The cost in US dollars, subagents included; null without a price.'],
  ['is_archived', 'yes-no', 's.isArchived', 'Whether a person archived it.'],
  ['tip', 'text', 's.tip', 'The newest end of its branches.'],
]);

const calls = columns([
  ['request_id', 'text', requestId, 'The id of the call for `request.get`.'],
  [
    'session_id',
    'text',
    `COALESCE(NULLIF(${nameIn('u.session')}, ''), (SELECT k.session FROM usageCommit k WHERE k.context = u.context))`,
    'The session that made it.',
  ],
  ['commit_id', 'text', '(SELECT id FROM commits WHERE seq = u.context)', 'The commit with its reply.'],
  ['reply_key', 'text', 'u.key', 'The first entry of its reply.'],
  ['agent', 'text', nameIn('u.agent'), 'The agent.'],
  ['subagent', 'text', `NULLIF(${nameIn('u.subagent')}, '')`, 'The kind of the subagent that made it.'],
  ['model', 'text', nameIn('u.model'), 'The model; null if it was not recorded.'],
  ['at', 'time', 'u.at', 'When its reply began.'],
  ['at_ms', 'count', 'u.at', 'The same in milliseconds since 1970, which is found and sorted faster.'],
  ['asked_at', 'time', 'u.askedAt', 'When it was sent.'],
  ['ended_at', 'time', 'u.endedAt', 'When its reply ended.'],
  ['wait_ms', 'count', 'l.waitMs', 'Milliseconds from the question to the end of the reply.'],
  ['input_tokens', 'count', 'u.input', 'Counted input without cached tokens; null if it was not recorded.'],
  ['cache_read_tokens', 'count', 'u.cacheRead', 'Counted tokens that were read from the cache.'],
  ['cache_write_tokens', 'count', 'u.cacheWrite', 'Counted tokens that were written to the cache.'],
  ['cache_write_1h_tokens', 'count', 'u.cacheWrite1h', 'The part of the cache writes that is kept for an hour.'],
  ['output_tokens', 'count', 'u.output', 'Counted output, thinking included.'],
  ['reasoning_tokens', 'count', 'u.reasoning', 'The part of the output that is thinking.'],
  ['window_tokens', 'count', 'IFNULL(u.windowTokens, u.input + IFNULL(u.cacheRead, 0) + IFNULL(u.cacheWrite, 0))', 'What filled the context window.'],
  ['window_limit', 'count', 'l.windowLimit', 'The context window of the model; null for an unknown model.'],
  ['cost', 'number', 'u.cost', 'The cost in US dollars at API prices; null without a price.'],
  ['cost_is_lower_bound', 'yes-no', 'u.cost IS NOT NULL AND u.output IS NULL', 'Whether the output was not counted.'],
  ['cache_hit', 'yes-no', 'l.hit', 'Whether it read from the cache what its predecessor left there.'],
  ['cache_miss', 'yes-no', 'l.miss', 'Whether it paid again for what the cache held. A first call misses nothing.'],
  ['miss_cause', 'text', 'l.cause', 'Why it missed the cache: first, expired, system, tools, message, model, parameters or unknown.'],
  ['lost_tokens', 'count', 'l.lostTokens', 'Cached tokens that were paid again.'],
  ['lost_cost', 'number', 'l.lostCost', 'What they cost beyond a cache read.'],
  ['is_beside', 'yes-no', 'substr(u.call, 1, length(:beside)) = :beside', 'Whether the agent made it outside of the conversation.'],
  ['flaw', 'text', 'u.flaw', 'Why a recorded count is not shown.'],
]);

const toolCalls = columns([
  ['session_id', 'text', sessionOfCommit, 'The session.'],
  ['commit_id', 'text', 'c.id', 'The commit with the call.'],
  ['entry_key', 'text', 't.key', 'The entry of the call.'],
  ['agent', 'text', agentOfTemplate, 'The agent.'],
  ['subagent', 'text', subagentOfTemplate, 'The kind of the subagent that made it.'],
  ['model', 'text', nameIn('t.model'), 'The model that asked for it; null if it was not recorded.'],
  ['name', 'text', 't.name', 'The tool.'],
  ['class', 'text', 't.class', 'What the tool does: read, write, edit, search, shell and so on; null for an unknown tool.'],
  ['path', 'text', 't.path', 'The file that its arguments name.'],
  ['command', 'text', 't.command', 'The beginning of a shell command.'],
  ['arguments_digest', 'count', 't.digest', 'Equal for calls with equal arguments.'],
  ['is_error', 'yes-no', 't.isError', 'Whether it failed; null without a result.'],
  ['at', 'time', 't.at', 'When it was called.'],
  ['at_ms', 'count', 't.at', 'The same in milliseconds since 1970, which is sorted faster.'],
  ['ended_at', 'time', 't.endedAt', 'When its result arrived.'],
  ['duration_ms', 'count', 'MAX(t.endedAt - t.at, 0)', 'Milliseconds from the call to the result.'],
  ['tokens', 'count', 't.tokens', 'Estimated tokens of the call.'],
  ['result_tokens', 'count', 't.resultTokens', 'Estimated tokens of the result.'],
  ['arguments', 'text', 'stemma_arguments(c.artifact, c.format, t.key)', 'The arguments as JSON, read from the stored content.', true],
  ['result', 'text', 'stemma_result(c.artifact, c.format, t.callId)', 'The text of the result, if it is in the same commit.', true],
]);

/** A text of an entry: its key (0), head (5) or id of a tool call (6). The other facts are in one number. */
const entry = (part: 0 | 5 | 6): string => `stemma_part(c.artifact, c.format, e.key, ${part})`;
/** The other facts of the entries of a commit. Those of deltas are stored (tools.ts). */
const entryNumbers = `IFNULL((SELECT n.numbers FROM usageEntry n WHERE n.artifact = c.artifact AND n.format = c.format AND n.version = ${outlineVersion}),
  stemma_numbers(c.artifact, c.format))`;
const roles = `CASE e.value >> 4 & 15 WHEN 0 THEN 'system' WHEN 1 THEN 'user' WHEN 2 THEN 'assistant' WHEN 3 THEN 'tool' END`;
const kindNumber = 'e.value & 15';
const kinds = `CASE ${kindNumber} ${kindNames.map((name, at) => `WHEN ${at} THEN '${name}'`).join(' ')} END`;
const entries = columns([
  ['session_id', 'text', sessionOfCommit, 'The session.'],
  ['commit_id', 'text', 'c.id', 'The commit that adds it.'],
  ['entry_index', 'count', 'e.key', 'Its place in the commit.'],
  ['entry_key', 'text', entry(0), 'Its key, which is the same in every commit.'],
  ['role', 'text', roles, 'system, user, assistant or tool.'],
  ['kind', 'text', kinds, 'text, thinking, tool_call, tool_result, image, summary or event.'],
  [
    'tool_name',
    'text',
    `IIF(${kindNumber} IN (:call, :result), stemma_tool(c.artifact, c.format, e.key), NULL)`,
    'The tool of a call, or of a result in the same commit.',
  ],
  ['tool_call_id', 'text', entry(6), 'The id that a call and its result share.'],
  ['head', 'text', entry(5), 'The beginning of the text, or the tool.'],
  ['tokens', 'count', 'e.value >> 16', 'Estimated tokens.'],
  ['is_hidden', 'yes-no', 'e.value >> 8 & 1', 'Whether it was never sent to the model.'],
  ['is_error', 'yes-no', 'e.value >> 9 & 1', 'Whether it is the result of a failed call.'],
  ['commit_type', 'text', 'c.type', 'delta, compaction or snapshot.'],
  ['committed_at', 'time', 'c.createdAt', 'The time of its commit.'],
  ['at', 'time', `stemma_at(c.artifact, c.format, ${entry(0)})`, 'Its own time, read from the stored content.', true],
  ['text', 'text', `stemma_text(c.artifact, c.format, ${entry(0)})`, 'Its text, read from the stored content.', true],
  ['content_ref', 'text', "(SELECT 'blake3:' || lower(hex(a.hash)) FROM artifact a WHERE a.no = c.artifact)", 'The object that holds it.'],
]);

const turns = columns([
  ['turn_id', 'text', 'c.id', 'The turn, which has the id of its commit.'],
  ['session_id', 'text', sessionOfCommit, 'The session.'],
  ['agent', 'text', agentOfTemplate, 'The agent.'],
  ['subagent', 'text', subagentOfTemplate, 'The kind of the subagent.'],
  ['parent_id', 'text', '(SELECT p.id FROM commits p WHERE p.seq = c.parent)', 'The commit before it.'],
  ['title', 'text', 'c.summary', 'The beginning of the prompt.'],
  ['at', 'time', 'c.createdAt', 'When it ended.'],
  ['entries', 'count', 'c.entries', 'Entries.'],
  ['tokens', 'count', 'c.tokenCount', 'Estimated tokens that it adds.'],
  ['errors', 'count', 'c.errors', 'Failed tool calls.'],
  ['is_fork', 'yes-no', 'c.forked', 'Whether it was made in Stemma.'],
  ['calls', 'count', `(SELECT COUNT(*) ${callsOfCommit})`, 'Calls to models.'],
  ['cost', 'number', `(SELECT SUM(u.cost) ${callsOfCommit})`, 'Their cost in US dollars.'],
]);

const files = columns([
  ['session_id', 'text', sessionOfCommit, 'The session.'],
  ['path', 'text', 't.path', 'The file, as the agent named it.'],
  ['reads', 'count', "COUNT(*) FILTER (WHERE t.class = 'read')", 'Calls that read it.'],
  ['writes', 'count', "COUNT(*) FILTER (WHERE t.class IN ('write', 'edit'))", 'Calls that wrote or edited it.'],
  ['errors', 'count', 'COUNT(*) FILTER (WHERE t.isError = 1)', 'Failed calls.'],
  ['tokens', 'count', 'SUM(t.tokens + IFNULL(t.resultTokens, 0))', 'Estimated tokens of the calls and results.'],
  ['first_at', 'time', 'MIN(t.at)', 'The first call.'],
  ['last_at', 'time', 'MAX(t.at)', 'The last call.'],
]);

const tickets = columns([
  ['ticket_id', 'text', 'k.ticketId', 'The ticket.'],
  ['title', 'text', 'k.title', 'Its title.'],
  ['type', 'text', 'k.type', 'Its type.'],
  ['status', 'text', 'k.status', 'Its status.'],
  ['assignee', 'text', 'k.assignee', 'Its assignee.'],
  ['parent_id', 'text', '(SELECT p.ticketId FROM ticket p WHERE p.no = k.parent)', 'The ticket that it is a part of.'],
  ['commit_id', 'text', 'k.contextId', 'The context that it came from.'],
  ['resolution', 'text', 'k.resolution', 'How it ended.'],
  ['labels', 'text', 'k.labels', 'Its labels, as a JSON list.'],
  ['created_at', 'time', 'k.createdAt', 'When it was created.'],
  ['updated_at', 'time', 'k.updatedAt', 'When it was changed last.'],
  ['body', 'text', 'k.body', 'Its text.'],
]);

const costs = columns([
  ['day', 'text', "strftime('%Y-%m-%d', q.day * 86400, 'unixepoch')", 'The day in UTC.'],
  ['session_id', 'text', "NULLIF(q.session, '')", 'The session.'],
  ['agent', 'text', 'q.agent', 'The agent.'],
  ['subagent', 'text', "NULLIF(q.subagent, '')", 'The kind of the subagent.'],
  ['model', 'text', "NULLIF(q.model, '')", 'The model; null if it was not recorded.'],
  ['repository', 'text', '(SELECT s.repository FROM usageSession s WHERE s.project = q.project AND s.session = q.session)', 'The working directory.'],
  ['calls', 'count', 'q.calls', 'Calls to models.'],
  ['input_tokens', 'count', 'q.input', 'Counted input without cached tokens.'],
  ['cache_read_tokens', 'count', 'q.cacheRead', 'Counted tokens that were read from the cache.'],
  ['cache_write_tokens', 'count', 'q.cacheWrite', 'Counted tokens that were written to the cache.'],
  ['output_tokens', 'count', 'q.output', 'Counted output.'],
  ['cost', 'number', 'q.cost', 'The cost in US dollars of the calls with a price.'],
  ['unpriced_calls', 'count', 'q.calls - q.priced', 'Calls without a price.'],
  ['uncounted_inputs', 'count', 'q.calls - q.inputs', 'Calls whose input was not recorded.'],
  ['uncounted_outputs', 'count', 'q.calls - q.outputs', 'Calls whose output was not recorded.'],
  ['misses', 'count', 'q.misses', 'Cache misses.'],
  ['lost_cost', 'number', 'q.lostCost', 'What the misses cost.'],
  ['wait_ms', 'count', 'q.waitMs', 'Milliseconds from the questions to the ends of the replies, where both are known.'],
]);

/** The sums of tool calls. Those of commits that name no session themselves are added up now. */
export const toolSums = `SELECT day, session, agent, model, name, calls, results, errors, ms FROM usageToolSlice WHERE project = :project
     UNION ALL
     SELECT t.at / ${dayMs}, k.session, ${agentOfTemplate}, IFNULL(${nameIn('t.model')}, ''), t.name, COUNT(*), COUNT(t.isError), IFNULL(SUM(t.isError), 0),
            IFNULL(SUM(MAX(t.endedAt - t.at, 0)), 0)
       FROM usageCommit k JOIN commits c ON c.seq = k.context JOIN usageTool t ON t.context = c.seq
      WHERE c.project = :project AND k.session IS NOT NULL AND IFNULL(c.sessionId, '') = '' GROUP BY 1, 2, 3, 4, 5`;

const tools = columns([
  ['day', 'text', "strftime('%Y-%m-%d', q.day * 86400, 'unixepoch')", 'The day in UTC.'],
  ['session_id', 'text', 'q.session', 'The session.'],
  ['agent', 'text', 'q.agent', 'The agent.'],
  ['model', 'text', "NULLIF(q.model, '')", 'The model that asked for them; null if it was not recorded.'],
  ['name', 'text', 'q.name', 'The tool.'],
  ['calls', 'count', 'q.calls', 'Calls of the tool.'],
  ['results', 'count', 'q.results', 'Calls whose result was recorded.'],
  ['errors', 'count', 'q.errors', 'Failed calls.'],
  ['duration_ms', 'count', 'q.ms', 'Milliseconds from the calls to their results.'],
]);

const ofProject = (table: string): string => `${table}.project = :project`;
/** The same, read in the order of the table. An index that begins with the project leads to the rows in an order that is slow to read. */
const inOrder = (table: string): string => `+${ofProject(table)}`;
/** The same for a table with such indexes that further columns make selective: nearly all rows are of the project. */
const likely = (table: string): string => `likelihood(${ofProject(table)}, 0.999)`;

const toolsOf = (within: Within): string =>
  `usageTool t JOIN commits c ON c.seq = t.context AND +c.project = t.project WHERE ${inOrder('t')} AND ${isShown} AND ${within('t.context')}`;

/** The views by name, without their names. `:project` and so on are filled in by `viewSql`. */
const unnamed: Readonly<Record<AnalysisView, Omit<View, 'name'>>> = {
  sessions: {
    what: 'A row for each session, subagents included.',
    columns: sessions,
    month: 'ended_at',
    from: () => `usageSession s WHERE ${ofProject('s')}`,
  },
  turns: {
    what: 'A row for each turn: from a prompt to its answer.',
    columns: turns,
    month: 'at',
    from: (within) => `commits c WHERE ${isTurnOfProject} AND ${within('c.seq')}`,
  },
  calls: {
    what: 'A row for each call to a model, once however many files contain it. Calls that a session only repeats are left out.',
    columns: calls,
    month: 'at',
    from: (within) =>
      `usageCall u LEFT JOIN usageLedger l ON l.call = u.no AND l.hit >= 0 WHERE ${likely('u')} AND u.replayed IS NULL AND ${within('u.context')}`,
  },
  tool_calls: { what: 'A row for each tool call.', columns: toolCalls, month: 'at', from: toolsOf },
  entries: {
    what: 'A row for each entry of a commit: texts, thinking, tool calls, results. `text` and `at` read the stored content, which takes longer.',
    columns: entries,
    month: 'committed_at',
    from: (within) => `commits c JOIN json_each(${entryNumbers}) e WHERE ${inOrder('c')} AND ${isShown} AND ${within('c.seq')}`,
  },
  files: {
    what: 'A row for each file that a session used.',
    columns: files,
    month: 'last_at',
    from: (within) => `${toolsOf(within)} AND t.path IS NOT NULL GROUP BY 1, 2`,
  },
  tickets: { what: 'A row for each ticket.', columns: tickets, month: 'updated_at', from: () => `ticket k WHERE ${ofProject('k')}` },
  costs: {
    what: 'Sums of calls by day, session, agent and model.',
    columns: costs,
    month: 'day',
    from: () => `usageSlice q WHERE ${ofProject('q')}`,
  },
  tools: {
    what: 'Sums of tool calls by day, session, agent, model and tool.',
    columns: tools,
    month: 'day',
    from: () => `(${toolSums}) q WHERE q.session IN (SELECT s.session FROM usageSession s WHERE ${ofProject('s')})`,
  },
};

/** The views that a person and an agent may ask, in the order of the contract. */
export const viewList: readonly View[] = analysisViews.map((name) => ({ name, ...unnamed[name] }));

/** The same by name. */
export const views = Object.fromEntries(viewList.map((view) => [view.name, view])) as Readonly<Record<AnalysisView, View>>;

/** Words of the engine that the views contain as `:name`. */
type ViewWords = Readonly<Record<'project' | 'card' | 'beside' | 'call' | 'result', string | number>>;

/** How the views of a database differ from those of all commits. */
export interface ViewOptions {
  /** Times are numbers of milliseconds. */
  readonly isRaw?: boolean;
  /** Rows of commits are those of the runs that `stemma_runs()` returns as a JSON list. */
  readonly isScoped?: boolean;
}

const everywhere: Within = () => 'true';
const inRuns: Within = (commit) => `${commit} IN (SELECT seq FROM commits WHERE run IN (SELECT value FROM json_each(stemma_runs())))`;

/** The statement of a view. A view takes no parameters, so the words become literals. */
export function viewSql({ columns, from }: View, words: ViewWords, { isRaw = false, isScoped = false }: ViewOptions = {}): string {
  const sql = `SELECT ${columns.map(({ name, sql, kind }) => `${kind === 'time' && !isRaw ? iso(sql) : sql} AS ${name}`).join(',\n  ')}\n  FROM ${from(isScoped ? inRuns : everywhere)}`;
  return sql.replace(/:(project|card|beside|call|result)\b/g, (_, name: keyof ViewWords) => literal(words[name]));
}

const literal = (value: string | number): string => (typeof value === 'number' ? String(value) : `'${value.replaceAll("'", "''")}'`);

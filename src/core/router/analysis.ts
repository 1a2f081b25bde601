import { analysisProgress, checkExport, packedSums, packedTools, type Statement, statementOf, viewList, viewsVersion } from '../analysis/index.js';
import type { AnalysisAnswer } from '../contract/index.js';
import { type Ask, analystMs, askProject, type Project, type Session, writeFor } from '../project/index.js';
import { analyzes, live, reads } from './procedure.js';

interface Open {
  readonly session: Session;
  readonly project: Project;
}

/** Answers a statement in a process of its own, after the writer has stored the facts of new commits. */
async function rows({ session, project }: Open, statement: Statement, limit?: number, signal?: AbortSignal): Promise<AnalysisAnswer> {
  await session.reading.prepare('analysis');
  const from = session.engine.clock();
  const answer = await askProject(session.engine, project, { kind: 'rows', statement, limit }, { ms: analystMs.question, signal });
  return { ...(answer as AnalysisAnswer), ms: session.engine.clock() - from };
}

export const analysisRouter = {
  schema: reads.analysis.schema.handler(() => ({
    version: viewsVersion,
    views: viewList.map(({ name, what, columns }) => ({ name, what, columns: columns.map(({ name, kind, what }) => ({ name, kind, what })) })),
  })),
  sums: analyzes.analysis.sums.handler(({ context: { chain } }) => {
    const { done, total } = analysisProgress(chain);
    return { packed: packedSums(chain), left: total - done };
  }),
  tools: analyzes.analysis.tools.handler(({ context }) => ({ packed: packedTools(context.chain) })),
  progress: reads.analysis.progress.handler(({ context }) => analysisProgress(context.chain)),
  sql: live.analysis.sql.handler(({ input, context, signal }) => rows(context, { sql: input.sql, values: [] }, input.limit, signal)),
  query: live.analysis.query.handler(({ input: { limit, ...question }, context, signal }) => rows(context, statementOf(question), limit, signal)),
  export: live.analysis.export.handler(async ({ input, context, signal }) => {
    checkExport(input);
    context.session.checkOutput(input.path);
    const { sql = '', query, format, dataset } = input;
    const statement = query ? statementOf(query) : { sql, values: [] };
    await context.session.reading.prepare('analysis');
    const askAt = (path: string): Ask =>
      dataset ? { kind: 'dataset', name: context.project.name, path } : { kind: 'file', statement, format, path };
    return await writeFor(context.session.engine, context.project, input.path, askAt, signal);
  }),
};

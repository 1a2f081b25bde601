import { notFound } from '../base/index.js';
import { findIn, rulesFolder, rulesIn } from '../project/index.js';
import { live } from './procedure.js';

/** The procedures of `finding`. Rules run in a process of their own. */
export const findingRouter = {
  list: live.finding.list.handler(async ({ input, context, signal }) => {
    const { engine, reading } = context.session;
    const { rule, sessionId, offset = 0, limit = 1_000 } = input;
    const rules = rulesIn(engine.options.dataDir).filter((one) => rule === undefined || one.rule === rule);
    if (rules.length === 0) throw notFound(rule ?? '', `There is no rule ${rule}. finding.rules lists them.`, { field: 'rule' });
    await reading.prepare('analysis');
    const { findings, problems } = await findIn(engine, context.project, rules, signal);
    const wanted = findings.filter((one) => sessionId === undefined || one.sessionId === sessionId);
    return { total: wanted.length, findings: wanted.slice(offset, offset + limit), problems: [...problems] };
  }),
  rules: live.finding.rules.handler(async ({ context, signal }) => {
    const { engine, reading } = context.session;
    const rules = rulesIn(engine.options.dataDir);
    await reading.prepare('analysis');
    const { findings, problems } = await findIn(engine, context.project, rules, signal);
    const counts = Map.groupBy(findings, ({ rule }) => rule);
    return {
      folder: rulesFolder(engine.options.dataDir),
      rules: rules.map((rule) => {
        const problem = problems.find((one) => one.rule === rule.rule)?.message;
        return { ...rule, found: counts.get(rule.rule)?.length ?? 0, ...(problem !== undefined && { problem }) };
      }),
    };
  }),
};

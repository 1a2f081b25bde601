import { notFound } from '../base/index.js';
import { countFindings, findIn, rulesFolder, rulesIn } from '../project/index.js';
import { live } from './procedure.js';

export const findingRouter = {
  list: live.finding.list.handler(async ({ input, context, signal }) => {
    const { engine } = context.session;
    const { rule, sessionId, offset = 0, limit = 1_000 } = input;
    const rules = rulesIn(engine.options.dataDir).filter((one) => rule === undefined || one.rule === rule);
    if (rules.length === 0) throw notFound(rule ?? '', `There is no rule ${rule}. finding.rules lists them.`, { field: 'rule' });
    const { total, findings, problems, unchecked } = await findIn(engine, context.project, { rules, sessionId, offset, limit }, signal);
    return { total, findings: [...findings], problems: [...problems], ...(unchecked > 0 && { unchecked }) };
  }),
  rules: live.finding.rules.handler(async ({ context, signal }) => {
    const { engine } = context.session;
    const rules = rulesIn(engine.options.dataDir);
    const { counts, problems, unchecked } = await countFindings(engine, context.project, rules, signal);
    return {
      folder: rulesFolder(engine.options.dataDir),
      rules: rules.map((rule) => {
        const problem = problems.find((one) => one.rule === rule.rule)?.message;
        return { ...rule, found: counts.get(rule.rule) ?? 0, ...(problem !== undefined && { problem }) };
      }),
      ...(unchecked > 0 && { unchecked }),
    };
  }),
};

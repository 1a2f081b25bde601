/** The number of calls with each count, so that a sum says how many calls it leaves out. Derived from `usageCall`. */
const columns = ['inputs', 'cacheReads', 'cacheWrites'].map((name) => `${name} INTEGER NOT NULL DEFAULT 0`);
const counted = 'COUNT(c.input), COUNT(c.cacheRead), COUNT(c.cacheWrite)';
const same = "c.project = s.project AND c.session = s.session AND c.agent = s.agent AND c.subagent = s.subagent AND IFNULL(c.model, '') = s.model";

export const usageRecorded = /* sql */ `
${['usageQuarter', 'usageSum'].flatMap((table) => columns.map((column) => `ALTER TABLE ${table} ADD COLUMN ${column};`)).join('\n')}
UPDATE usageQuarter AS s SET (inputs, cacheReads, cacheWrites) =
  (SELECT ${counted} FROM usageCall c WHERE ${same} AND c.at / 900000 = s.quarter);
UPDATE usageSum AS s SET (inputs, cacheReads, cacheWrites) = (SELECT ${counted} FROM usageCall c WHERE ${same});
`;

// integrity: finds damage (check), makes verified copies of the database (backup), and undoes damage (repair).
// Detection is separate from repair: nothing here guesses bytes.
// A repair takes rows from backups, and content and commits from imported files, replicas and backups; each is verified by its hash.
export { areBackupsOn, backUp, backupsToKeep, lastTry, listBackups, noteTry, turnBackups } from './backup.js';
export { type CheckProblem, type CheckResult, checkProject } from './check.js';
export { jsonColumns, malformedIn } from './json.js';
export { repairProject, type Scratch } from './repair.js';
export { damageIn, hasDamage, markDamage, markDamagedTexts, refuseDamaged } from './shown.js';

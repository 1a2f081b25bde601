// analyst: the process that answers one question over many sessions, such as a SELECT statement of a person, and ends. The engine starts it
// (engine/analyst.ts) and kills it when it takes too long.
// So no statement can hold an engine.
export { answerQuestion } from './answer.js';

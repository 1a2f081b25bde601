// replay: a player over a chain: the conversation as it grew, and beside it what the agent had in front of it at that moment.
// `axis` is pure: times of steps as a player plays them. Everything else draws what the engine says of a step.
// The moment stands in the address as the entry that came last, so that a link and a reload lead to the same step.
import './replay.css';

export { ReplayView } from './Replay';

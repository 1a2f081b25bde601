// views/replay: plays a chain step by step, and shows the agent's state at each step.
// `axis.ts` (pure) computes playback times; `keys.ts` maps keys to the player.
// The address names the current entry, so a link or a reload leads to the same step.
import './replay.css';

export { ReplayView as View } from './Replay';

// views/usage: what all sessions cost, lost and failed at: key figures, one chart, one table, and a panel about the selected bar.
// It asks the engine once for sums by session, day, agent, model and tool. Facets, groups, sorts and ranges are computed in the window.
// Its state is in the address.
import './usage.css';

export { UsageView as View } from './Usage';

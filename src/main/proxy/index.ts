// proxy: records calls on the wire. It listens on loopback between an agent and its model, and forwards every byte at once in both directions.
// When a call has ended, it records a copy of the body and the reply. Errors of recording do not reach the agent.
// Keys are forwarded and not stored (R5): a recorded call contains neither the credential headers nor their values.
export { type RunningProxy, startProxy } from './proxy.js';
export { defaultUpstreams, parseUpstream, type Upstreams } from './upstreams.js';

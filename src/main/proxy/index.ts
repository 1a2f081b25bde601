// proxy: a recorder on the wire. It stands on loopback between an agent and its model and passes every byte on at once, both ways.
// When a call is over, a copy of its body and reply is handed on to be captured; what goes wrong with that never reaches the agent.
// Keys are passed on in their headers and kept nowhere: what is handed on has neither the headers nor their values.
export { type RunningProxy, type SeenCall, startProxy } from './proxy.js';
export { defaultUpstreams, type Upstreams, upstreamOf } from './upstreams.js';

import { createEngine, type Engine, type EngineOptions } from '../../core/project/index.js';
import { providersFrom } from '../providers/index.js';
import { agentIsRunning } from './agents.js';

/**
 * The engine of this process, with the providers that its environment opens. They are made here, not handed over: keys
 * stay in the process that asks with them.
 */
export const startEngine = (options: EngineOptions): Engine =>
  createEngine({ ...options, providers: providersFrom(process.env), isRunning: agentIsRunning });

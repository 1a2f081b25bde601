import type { ContextId, Stop } from '../../../core/contract/index.js';

export interface ContextInView {
  readonly project: string;
  readonly commit: ContextId;
  readonly stop: Stop;
  readonly unsent: boolean;
}

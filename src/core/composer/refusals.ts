import { badRequest, type StemmaError } from '../base/index.js';

/** What the layers' rules refuse, under the names that `data.reason` carries (decisions, rule 30). */
export type Reason =
  | 'CONCURRENT_OVERWRITE'
  | 'CONCURRENT_UPDATE'
  | 'DUAL_QUERY_PATH'
  | 'INVALID_CONTEXT_KEY'
  | 'INVALID_STATE_CALL'
  | 'PATCH_CONFLICT'
  | 'REDUCER_FIELD_SET'
  | 'REMOVE_UNKNOWN_ID'
  | 'RESERVED_CONTEXT_KEY'
  | 'UNEXPECTED_ARGUMENT'
  | 'UNKNOWN_STATE_KEY'
  | 'UNPAIRED_TOOL_CALL';

export const refuse = (reason: Reason, field: string, message: string): StemmaError => badRequest(field, message, { reason });

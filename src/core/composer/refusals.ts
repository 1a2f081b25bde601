import { badRequest, type StemmaError } from '../base/index.js';

/** The values of `data.reason` in errors of this folder. */
export type Reason =
  | 'CONCURRENT_OVERWRITE'
  | 'CONCURRENT_UPDATE'
  | 'DUAL_QUERY_PATH'
  | 'INVALID_CONTEXT_KEY'
  | 'INVALID_STATE_CALL'
  | 'PATCH_CONFLICT'
  | 'QUERY_DROPPED'
  | 'QUERY_NOT_IN_MEMORY'
  | 'QUERY_WITHOUT_PATH'
  | 'REDUCER_FIELD_SET'
  | 'REMOVE_UNKNOWN_ID'
  | 'RESERVED_CONTEXT_KEY'
  | 'SYSTEM_IN_MEMORY'
  | 'UNEXPECTED_ARGUMENT'
  | 'UNKNOWN_STATE_KEY'
  | 'UNPAIRED_TOOL_CALL';

/** BAD_REQUEST with a reason. */
export const refuse = (reason: Reason, field: string, message: string): StemmaError => badRequest(field, message, { reason });

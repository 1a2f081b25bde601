-- title: Cache lost
-- severity: medium
-- what: A call paid again for at least 20,000 tokens that the cache had held.
SELECT session_id, commit_id, reply_key AS entry_key, at, lost_tokens AS count,
       printf('%,d tokens were paid again', lost_tokens) || iif(lost_cost IS NULL, '', printf(', for $%.2f', lost_cost)) || ': ' ||
       CASE miss_cause WHEN 'expired' THEN 'the cache had expired' WHEN 'system' THEN 'the system prompt changed' WHEN 'tools' THEN 'the tools changed'
         WHEN 'message' THEN 'an earlier message changed' WHEN 'model' THEN 'the model changed' WHEN 'parameters' THEN 'the parameters changed'
         ELSE 'the cause was not recorded' END AS detail
  FROM calls
 WHERE lost_tokens >= 20000 AND NOT cache_hit AND miss_cause <> 'first'

-- title: Session cannot be resumed
-- severity: medium
-- what: The main branch of a session ends with a tool call that has no result, so its agent may refuse to go on.
SELECT t.session_id, t.commit_id, t.entry_key, t.at, 1 AS count, t.name || ' was called last and has no result' AS detail
  FROM tool_calls t JOIN sessions s ON s.session_id = t.session_id AND s.tip = t.commit_id
 WHERE t.is_error IS NULL
 GROUP BY t.session_id

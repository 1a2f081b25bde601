-- title: Same tool call repeated
-- severity: medium
-- what: The agent called a tool with the same arguments at least five times in a session.
SELECT session_id, commit_id, entry_key, max(at) AS at, count(*) AS count,
       name || ' was called ' || count(*) || ' times with the same arguments' || iif(path IS NULL, '', ' on ' || path) AS detail
  FROM tool_calls
 WHERE coalesce(class, '') NOT IN ('plan', 'task')
 GROUP BY session_id, name, arguments_digest
HAVING count(*) >= 5

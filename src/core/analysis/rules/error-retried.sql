-- title: Error retried five times
-- severity: high
-- what: A tool failed five times in a row in a session, without a success of that tool in between.
WITH ordered AS (
  SELECT session_id, commit_id, entry_key, name, at, is_error,
         sum(is_error = 0) OVER (PARTITION BY session_id, name ORDER BY at, entry_key) AS successes
    FROM tool_calls WHERE is_error IS NOT NULL
)
SELECT session_id, commit_id, entry_key, max(at) AS at, count(*) AS count, name || ' failed ' || count(*) || ' times in a row' AS detail
  FROM ordered WHERE is_error
 GROUP BY session_id, name, successes
HAVING count(*) >= 5

-- title: Edit without read
-- severity: low
-- what: The agent edited a file that it had neither read nor written in the session.
SELECT e.session_id, e.commit_id, e.entry_key, e.at, 1 AS count, e.name || ' changed ' || e.path || ', which was not read before' AS detail
  FROM tool_calls e
  LEFT JOIN (SELECT session_id, path, min(at) AS first FROM tool_calls
              WHERE path IS NOT NULL AND class IN ('read', 'write') AND coalesce(is_error, 0) = 0 GROUP BY 1, 2) r
    ON r.session_id = e.session_id AND r.path = e.path AND r.first < e.at
 WHERE e.class = 'edit' AND e.path IS NOT NULL AND coalesce(e.is_error, 0) = 0 AND r.path IS NULL

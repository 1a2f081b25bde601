-- title: Context over 90 %
-- severity: medium
-- what: A call filled more than 90 percent of the context window of its model.
SELECT session_id, commit_id, reply_key AS entry_key, at, max(window_tokens) AS count,
       printf('The context held %,d of %,d tokens', max(window_tokens), window_limit) AS detail
  FROM calls
 WHERE window_limit > 0 AND NOT is_beside AND window_tokens > 0.9 * window_limit
 GROUP BY session_id

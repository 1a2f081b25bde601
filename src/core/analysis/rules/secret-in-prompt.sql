-- title: Secret in a prompt
-- severity: high
-- what: A text that a person typed contains what looks like a key or a private key.
WITH pattern (glob) AS (
  SELECT '*' || prefix || replace(hex(zeroblob(length)), '00', '[A-Za-z0-9_-]') || '*'
    FROM (SELECT 'sk-' AS prefix, 20 AS length UNION ALL SELECT 'gh[pousr]_', 20 UNION ALL SELECT 'github_pat_', 20 UNION ALL SELECT 'AKIA', 16
          UNION ALL SELECT 'xox[abprs]-', 10 UNION ALL SELECT 'AIza', 30 UNION ALL SELECT 'glpat-', 16 UNION ALL SELECT 'npm_', 30 UNION ALL SELECT 'eyJ', 40)
  UNION ALL SELECT '*-----BEGIN*PRIVATE KEY-----*'
)
SELECT session_id, commit_id, entry_key, committed_at AS at, 1 AS count, 'A prompt contains what looks like a secret' AS detail
  -- The limit keeps SQLite from reading the text again for each pattern.
  FROM (SELECT session_id, commit_id, entry_key, committed_at, text FROM entries WHERE role = 'user' AND kind = 'text' AND NOT is_hidden LIMIT -1)
 WHERE EXISTS (SELECT 1 FROM pattern WHERE text GLOB glob)

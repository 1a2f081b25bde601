-- title: Test never run
-- severity: low
-- what: The agent changed source files in a session and ran no test after the last change.
WITH changed AS (
  SELECT session_id, max(at) AS last, count(*) AS changes FROM tool_calls
   WHERE class IN ('write', 'edit') AND coalesce(is_error, 0) = 0
     AND (path GLOB '*.[ch]' OR path GLOB '*.[jt]s' OR path GLOB '*.[jt]sx' OR path GLOB '*.m[jt]s' OR path GLOB '*.py' OR path GLOB '*.go' OR path GLOB '*.rs'
       OR path GLOB '*.java' OR path GLOB '*.kt' OR path GLOB '*.rb' OR path GLOB '*.php' OR path GLOB '*.cs' OR path GLOB '*.swift' OR path GLOB '*.cpp' OR path GLOB '*.cc'
       OR path GLOB '*.scala' OR path GLOB '*.ex' OR path GLOB '*.vue' OR path GLOB '*.svelte')
   GROUP BY session_id
)
SELECT c.session_id, t.commit_id, t.entry_key, c.last AS at, c.changes AS count, c.changes || ' changes of source files, and no test after the last one' AS detail
  FROM changed c
  JOIN tool_calls t ON t.session_id = c.session_id AND t.at = c.last AND t.class IN ('write', 'edit')
 WHERE NOT EXISTS (
   SELECT 1 FROM tool_calls r WHERE r.session_id = c.session_id AND r.at > c.last AND r.command IS NOT NULL
      AND (r.command LIKE '%test%' OR r.command LIKE '%spec%' OR r.command LIKE '%jest%' OR r.command LIKE '%tox%' OR r.command LIKE '%check%' OR r.command LIKE '%verify%'))
 GROUP BY c.session_id

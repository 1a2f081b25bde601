-- title: Test never run
-- severity: low
-- what: The agent changed source files in a session and ran no test after the last change.
WITH changed AS (
  SELECT session_id, commit_id, entry_key, max(at) AS last, count(*) AS changes FROM tool_calls
   WHERE class IN ('write', 'edit') AND coalesce(is_error, 0) = 0
     AND (path GLOB '*.[ch]' OR path GLOB '*.[jt]s' OR path GLOB '*.[jt]sx' OR path GLOB '*.m[jt]s' OR path GLOB '*.py' OR path GLOB '*.go' OR path GLOB '*.rs'
       OR path GLOB '*.java' OR path GLOB '*.kt' OR path GLOB '*.rb' OR path GLOB '*.php' OR path GLOB '*.cs' OR path GLOB '*.swift' OR path GLOB '*.cpp' OR path GLOB '*.cc'
       OR path GLOB '*.scala' OR path GLOB '*.ex' OR path GLOB '*.vue' OR path GLOB '*.svelte')
   GROUP BY session_id
), tested AS (
  SELECT session_id, max(at) AS last FROM tool_calls
   WHERE command LIKE '%test%' OR command LIKE '%spec%' OR command LIKE '%jest%' OR command LIKE '%tox%' OR command LIKE '%check%' OR command LIKE '%verify%'
   GROUP BY session_id
)
SELECT c.session_id, c.commit_id, c.entry_key, c.last AS at, c.changes AS count, c.changes || iif(c.changes = 1, ' change', ' changes') || ' of source files, and no test after the last one' AS detail
  FROM changed c LEFT JOIN tested t ON t.session_id = c.session_id
 WHERE t.last IS NULL OR t.last <= c.last

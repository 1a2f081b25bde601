-- title: Compaction dropped an open task
-- severity: medium
-- what: A compaction replaced a list of tasks with an open one, and its summary does not mention that task.
WITH compactions AS MATERIALIZED (
  SELECT session_id, committed_at, lower(text) AS text FROM entries WHERE commit_type = 'compaction'
), lists AS (
  SELECT t.session_id, t.commit_id, t.entry_key, t.at, t.arguments,
         (SELECT min(c.committed_at) FROM compactions c WHERE c.session_id = t.session_id AND c.committed_at > t.at) AS compacted
    FROM tool_calls t WHERE t.class = 'plan' AND coalesce(t.is_error, 0) = 0
), latest AS (
  SELECT *, max(at) FROM lists WHERE compacted IS NOT NULL AND json_valid(arguments) GROUP BY session_id, compacted
), tasks AS (
  SELECT l.session_id, l.commit_id, l.entry_key, l.compacted,
         coalesce(json_extract(d.value, '$.content'), json_extract(d.value, '$.step'), json_extract(d.value, '$.text'), json_extract(d.value, '$.description')) AS task
    FROM latest l JOIN json_each(l.arguments, iif(json_type(l.arguments, '$.todos') = 'array', '$.todos', '$.plan')) d
   WHERE json_type(d.value) = 'object' AND coalesce(json_extract(d.value, '$.status'), 'pending') NOT IN ('completed', 'cancelled', 'done')
)
SELECT t.session_id, t.commit_id, t.entry_key, t.compacted AS at, count(*) AS count, 'The summary does not mention ' || min(t.task) || iif(count(*) > 1, ' and ' || (count(*) - 1) || ' more', '') AS detail
  FROM tasks t
 WHERE t.task IS NOT NULL AND NOT EXISTS (
   SELECT 1 FROM compactions s WHERE s.session_id = t.session_id AND s.committed_at = t.compacted AND instr(s.text, lower(t.task)) > 0)
 GROUP BY t.session_id, t.compacted

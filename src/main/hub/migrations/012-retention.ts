/** Retention: how long the contents of a project stay. */
export const retention = [
  // Days that contents stay after they arrived. Null: for ever.
  'ALTER TABLE project ADD COLUMN retention integer',
  // When a file of the bucket arrived. Files from before this step count as new.
  'ALTER TABLE pack ADD COLUMN at timestamptz NOT NULL DEFAULT now()',
  'ALTER TABLE pack ADD COLUMN removed_at timestamptz',
  // Set when the content of an object was removed. Its row stays, so that commits can still name it.
  'ALTER TABLE object ADD COLUMN expired_at timestamptz',
  // A later push brings the content back.
  'GRANT UPDATE (pack, start, size, expired_at) ON object TO stemma_project',
  'CREATE INDEX object_in_pack ON object (pack)',
];

/** Indexes of work that is open, so that what is due is found without reading all that has ended. */
export const openWork = /* sql */ `
CREATE INDEX agentTurnOpen ON agentTurn(project, no) WHERE endedAt IS NULL;
CREATE INDEX runStatus ON run(project, status);
CREATE INDEX batchRunning ON batch(project, deadline) WHERE status = 'running';
CREATE INDEX jobRunning ON job(project, leaseUntil) WHERE status = 'running';
`;

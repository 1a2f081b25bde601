/** Finds forks, which are few. */
export const forks = /* sql */ `
CREATE INDEX contextForked ON context(project) WHERE forked = 1;
`;

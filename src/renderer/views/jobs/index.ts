// views/jobs: the work of models and agents as a live list: the events of a job, its limits, its questions and its links.
// A second page lists the work that may start by itself.
// `words.ts` is pure.
import './jobs.css';

export { JobList } from './JobList';
export { JobsView as View } from './Jobs';
export { useJobs } from './useJobs';
export { endedGroup, groupJobs } from './words';

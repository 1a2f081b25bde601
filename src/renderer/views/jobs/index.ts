// views/jobs: what models and agents carry out here, as a live list: the stream of a job, its limits, its questions and what it belongs to.
// A second page lists what may start by itself.
// `words.ts` is pure.
import './jobs.css';

export { JobsView as View } from './Jobs';

import { create } from 'zustand';

const maxKept = 20;

/** The jobs of one kind in this window, the newest first. They continue in the background of every view. */
export function backgroundJobs<Job extends { readonly id: number; readonly stop: () => void }>() {
  const useJobs = create<{ readonly jobs: readonly Job[] }>(() => ({ jobs: [] }));
  let nextId = 1;
  const begin = (make: (own: Pick<Job, 'id' | 'stop'>) => Job) => {
    const controller = new AbortController();
    const id = nextId++;
    const job = make({ id, stop: () => controller.abort() } as Pick<Job, 'id' | 'stop'>);
    useJobs.setState(({ jobs }) => ({ jobs: [job, ...jobs].slice(0, maxKept) }));
    const change = (part: (job: Job) => Partial<Job>) =>
      useJobs.setState(({ jobs }) => ({ jobs: jobs.map((one) => (one.id === id ? { ...one, ...part(one) } : one)) }));
    return { job, signal: controller.signal, change };
  };
  return { useJobs, begin };
}

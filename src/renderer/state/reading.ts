import { create } from 'zustand';

/** Which entries of the open context are in view, and where somebody outside of the list asked it to go. */
export const useReading = create<{
  readonly from: number;
  readonly to: number;
  readonly jump: { readonly entry: number; readonly at: number } | undefined;
}>(() => ({ from: 0, to: 0, jump: undefined }));

export const jumpTo = (entry: number): void => useReading.setState({ jump: { entry, at: performance.now() } });

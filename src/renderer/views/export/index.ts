// views/export: exports a context as a file, or as a session that an agent can resume.
// `useExport.ts` holds the choices and the state of one export.
// The engine writes the files and never overwrites one (F15).
import './export.css';

export { ExportSheet } from './Export';
export { ResumeSheet } from './Resume';

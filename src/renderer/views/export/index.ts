// views/export: contexts on their way out of Stemma.
// A file in one of the formats that others read, or a session put where Claude Code finds and resumes it.
// The engine writes and never overwrites; the window shows where, how much, and what to do next.
import './export.css';

export { ExportSheet } from './Export';
export { ResumeSheet } from './Resume';

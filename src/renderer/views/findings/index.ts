// views/findings: what the rules find in all sessions. Each finding opens the entry that shows it.
// The rules are applied by the engine, in a process of its own.
// The chosen rule is in the address.
import './findings.css';

export { FindingsView as View } from './Findings';

// views/sql: a SELECT statement over the documented views, its rows as a table or a chart, and a file of them.
// The statement is in the address. It runs in a process of its own that can only read.
// Values are shown as text; ids of sessions, commits and tickets are links.
import './sql.css';

export { SqlView as View } from './Sql';

// app: the frame around the views: panes, tabs, palette, keys, theme, status bar and sheets.
// `mount` starts the window over a carrier. `views.ts` registers every view in one line.
// The frame imports the views; no view imports the frame.
import './tokens.css';
import './base.css';
import './frame.css';

export { mount } from './mount';

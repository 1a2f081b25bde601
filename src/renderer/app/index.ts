// app: the frame around the views. Panes, tabs, the address, the palette, keys, theme, status, and what floats.
// `mount` starts the window over a carrier, and is all that the entry calls.
// The frame knows every view; no view knows the frame.
import './tokens.css';
import './base.css';
import './frame.css';

export { mount } from './mount';

// window: what the desktop shell and the web host do alike for the window: which built file answers an address, and the
// headers that go with it. Nothing here knows a carrier, a session or a project.
// The window is made of local files only; its policy lets nothing else in.
export { type Answer, answerFor, plain } from './files.js';
export { contentSecurityPolicy, securityHeaders } from './policy.js';

// window: shared by the desktop shell and the web host: which built file answers an address, and with which headers.
// It knows no carrier, no session and no project.
// The window consists of local files only, and its policy allows nothing else.
export { answerFor, answerWith, type FileAnswer, plain } from './files.js';
export { contentSecurityPolicy, securityHeaders } from './policy.js';

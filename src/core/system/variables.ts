/**
 * Patterns of the names of environment variables that a system itself uses: path, home, locale, terminal, temporary folders, proxies, SSH agent and
 * certificates. Windows ignores their case.
 */
export const systemVariables: readonly RegExp[] = [
  /^PATH$/i,
  /^(HOME|USER|LOGNAME|SHELL|PWD|TERM|COLORTERM|NO_COLOR|FORCE_COLOR|TZ|LANG|LANGUAGE|LC_[A-Z]+|TMPDIR|TMP|TEMP)$/,
  /^XDG_(DATA|CONFIG|STATE|CACHE)_HOME$|^XDG_(RUNTIME_DIR|DATA_DIRS|CONFIG_DIRS)$|^__CF_USER_TEXT_ENCODING$/,
  /^(HTTPS?|ALL|NO|FTP)_PROXY$/i,
  /^SSH_(AUTH_SOCK|AGENT_PID)$/,
  /^(NODE_EXTRA_CA_CERTS|NODE_USE_SYSTEM_CA|SSL_CERT_(FILE|DIR)|REQUESTS_CA_BUNDLE|CURL_CA_BUNDLE|GIT_SSL_CA(INFO|PATH))$/,
  /^(SystemRoot|SystemDrive|windir|ComSpec|PATHEXT|USERPROFILE|USERNAME|USERDOMAIN|HOMEDRIVE|HOMEPATH|APPDATA|LOCALAPPDATA|COMPUTERNAME|OS|PUBLIC)$/i,
  /^(ALLUSERSPROFILE|ProgramData|ProgramFiles(\(x86\))?|ProgramW6432|CommonProgram(Files(\(x86\))?|W6432)|NUMBER_OF_PROCESSORS|PROCESSOR_[A-Z]+)$/i,
];

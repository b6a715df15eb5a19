// `npm start`: sets up what is missing, then opens the window; without a display it serves the same app as a page.
import { spawn } from 'node:child_process';
import { setup } from './setup.mjs';
import { pinnedNode } from './support/node24.mjs';
import { inRoot, root } from './support/root.mjs';
import { printProblem, StepProblem } from './support/steps.mjs';
import { hasDisplay, missingLibraries } from './support/system.mjs';

/** Runs a program in this terminal until it ends; its end is ours. */
function become(command, env = {}) {
  const child = spawn(command[0], command.slice(1), { cwd: root, env: { ...process.env, ...env }, stdio: 'inherit' });
  // Ctrl+C reaches the child through the terminal as well; we stay until it has put its things away.
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => child.kill(signal));
  child.once('error', (cause) => {
    console.error(cause.message);
    process.exitCode = 1;
  });
  child.once('exit', (code) => {
    process.exitCode = code ?? 0;
  });
}

function openWindow(electron, extra) {
  if (electron.flags.includes('--no-sandbox')) {
    console.log('Running as root: Chromium refuses its sandbox there, so the page runs without it. Start as another user to have it.');
  }
  console.log('Opening the window …');
  become([electron.executable, ...electron.flags, root, ...extra], electron.needsNode ? { SOTTO_NODE: pinnedNode().path } : {});
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

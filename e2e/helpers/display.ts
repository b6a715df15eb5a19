import { type ChildProcess, spawn } from 'node:child_process';
import type { Readable } from 'node:stream';

/**
 * Sees to it that windows can open: where no display is set on Linux, an Xvfb of our own. It picks its number itself, so that runs
 * beside each other do not meet.
 */
export async function startDisplay(): Promise<{ stop(): Promise<void> }> {
  if (process.platform !== 'linux' || process.env['DISPLAY'] || process.env['WAYLAND_DISPLAY']) return { stop: async () => {} };
  const xvfb = spawn('Xvfb', ['-displayfd', '3', '-screen', '0', '1600x1200x24', '-nolisten', 'tcp'], {
    stdio: ['ignore', 'ignore', 'ignore', 'pipe'],
  });
  process.env['DISPLAY'] = `:${await displayNumber(xvfb)}`;
  return {
    async stop() {
      const gone = new Promise((resolve) => xvfb.once('exit', resolve));
      if (xvfb.exitCode === null && xvfb.kill()) await gone;
      delete process.env['DISPLAY'];
    },
  };
}

function displayNumber(xvfb: ChildProcess): Promise<string> {
  return new Promise((resolve, reject) => {
    let text = '';
    xvfb.once('error', () => reject(new Error('a window needs a display, and Xvfb is not installed')));
    xvfb.once('exit', (code) => reject(new Error(`Xvfb ended with ${code}`)));
    (xvfb.stdio[3] as Readable).on('data', (bytes: Buffer) => {
      text += bytes.toString();
      if (text.includes('\n')) resolve(text.trim());
    });
  });
}

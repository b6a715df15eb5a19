import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { inRoot } from './root.mjs';
import { StepProblem } from './steps.mjs';

// npm packages that hold nothing but a Node binary; no install script, so the lock file pins them (`node` itself fetches one).
const packageName = `node-${process.platform}-${process.arch}`;

/**
 * The Node that the product and its tools run on.
 *
 * @returns {{path: string, version: string}}
 * @throws StepProblem when it is not there or not the pinned version.
 */
export function pinnedNode() {
  const own = inRoot('node_modules', packageName, 'bin', process.platform === 'win32' ? 'node.exe' : 'node');
  if (existsSync(own)) {
    const wanted = JSON.parse(readFileSync(inRoot('package.json'), 'utf8')).optionalDependencies[packageName];
    const version = execFileSync(own, ['--version'], { encoding: 'utf8' }).trim().slice(1);
    if (wanted !== undefined && version !== wanted) {
      throw new StepProblem({
        missing: `node_modules holds Node ${version}, not ${wanted}`,
        means: 'the installed packages are not those of package-lock.json',
        todo: 'delete node_modules and run the command again',
      });
    }
    return { path: own, version };
  }
  if (Number(process.versions.node.split('.')[0]) >= 24) return { path: process.execPath, version: process.versions.node };
  throw new StepProblem({
    missing: `no Node 24 for ${process.platform} on ${process.arch} among the packages, and this is Node ${process.versions.node}`,
    means: 'the database library and the tools need Node 24',
    todo: 'install Node 24 and run the command with it',
  });
}

/** The environment in which `node` and every tool of node_modules is the pinned one. */
export function withPinnedNode() {
  return { PATH: `${inRoot('node_modules', '.bin')}${process.platform === 'win32' ? ';' : ':'}${process.env.PATH ?? ''}` };
}

import { readdirSync, readFileSync } from 'node:fs';

export type Running = { readonly pid: number; readonly command: string };

/** Everything below a process, living ones only: a killed child may stay as a zombie where nobody reaps. Linux. */
export function descendants(root: number): Running[] {
  const children = new Map<number, number[]>();
  for (const name of readdirSync('/proc')) {
    if (!/^\d+$/.test(name)) continue;
    const stat = readStat(Number(name));
    if (stat === null || stat.state === 'Z') continue;
    children.set(stat.parent, [...(children.get(stat.parent) ?? []), Number(name)]);
  }
  const found: Running[] = [];
  const waiting = [...(children.get(root) ?? [])];
  for (let pid = waiting.shift(); pid !== undefined; pid = waiting.shift()) {
    found.push({ pid, command: commandOf(pid) });
    waiting.push(...(children.get(pid) ?? []));
  }
  return found;
}

/** Whether a process runs (a zombie does not). */
export function isAlive(pid: number): boolean {
  const stat = readStat(pid);
  return stat !== null && stat.state !== 'Z';
}

/** The runtime and the engines below main, by the files that they run. */
export function partsOf(main: number): { runtime: number | null; engines: number[] } {
  const all = descendants(main);
  const running = (file: string) => all.filter(({ command }) => command.includes(file)).map(({ pid }) => pid);
  return { runtime: running('main/runtime.cjs')[0] ?? null, engines: running('main/engine.cjs') };
}

function readStat(pid: number): { state: string; parent: number } | null {
  try {
    // The name in brackets may hold spaces and brackets: what follows its last bracket is fixed.
    const text = readFileSync(`/proc/${pid}/stat`, 'utf8');
    const [state = '', parent = ''] = text.slice(text.lastIndexOf(')') + 2).split(' ');
    return { state, parent: Number(parent) };
  } catch {
    return null;
  }
}

function commandOf(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ').trim();
  } catch {
    return '';
  }
}

// The parts that we use of two npm libraries which ship no types.
declare module '@npmcli/config' {
  type Options = {
    definitions: unknown;
    shorthands: unknown;
    flatten: unknown;
    nerfDarts?: unknown;
    npmPath: string;
    env: Readonly<Record<string, string | undefined>>;
    argv: readonly string[];
    execPath: string;
    cwd: string;
    warn: boolean;
  };
  export default class Config {
    constructor(options: Options);
    load(): Promise<void>;
    readonly flat: Readonly<Record<string, unknown>>;
  }
}
declare module '@npmcli/config/lib/definitions/index.js' {
  const all: { definitions: unknown; shorthands: unknown; flatten: unknown; nerfDarts: unknown };
  export default all;
}
declare module '@npmcli/agent' {
  import type { ClientRequest, Agent as HttpAgent } from 'node:http';
  import type { Socket } from 'node:net';
  export class Agent extends HttpAgent {
    constructor(options: Readonly<Record<string, unknown>>);
    connect(request: ClientRequest, options: { host: string; port: number | string }): Promise<Socket>;
  }
}

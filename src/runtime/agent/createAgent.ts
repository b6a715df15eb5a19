import type { Agent, AgentDeps } from './ports.ts';

/** The durable agent kernel: sessions, turns and their event log over one store. No I/O before `recover`. */
export declare function createAgent(deps: AgentDeps): Agent;

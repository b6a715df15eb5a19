import type { Migration } from '../migration.ts';
import { migration as agent } from './0001-agent.ts';
import { migration as models } from './0002-models.ts';
import { migration as server } from './0003-server.ts';
import { migration as speed } from './0004-speed.ts';
import { migration as heard } from './0005-heard.ts';

/**
 * All steps in order: 1 agent (sessions, turns, events), 2 models (downloads, installed, ledger), 3 server (keys, settings), 4 speed of
 * voices, 5 heard (how much of a spoken answer).
 */
export const migrations: readonly Migration[] = [agent, models, server, speed, heard];

import { events } from './events.ts';
import { ledger } from './ledger.ts';
import { machine } from './machine.ts';
import { models } from './models.ts';
import { runtime } from './runtime.ts';
import { server } from './server.ts';
import { sessions } from './sessions.ts';
import { settings } from './settings.ts';
import { speech } from './speech.ts';
import { turns } from './turns.ts';
import { voice } from './voice.ts';

/** Every call of the product. Client, server, tests and the served page derive from this list. */
export const contract = { runtime, sessions, turns, events, models, machine, ledger, settings, server, speech, voice };
export type Contract = typeof contract;

import { toAppError } from '../../shared/errors/appError.ts';
import { codes } from '../../shared/errors/codes.ts';
import { version } from '../../shared/version.ts';
import { type Command, parseCommand } from './cli/args.ts';
import { askCommand } from './cli/ask.ts';
import { openClient } from './cli/connect.ts';
import { converseCommand } from './cli/converse.ts';
import { helpText } from './cli/help.ts';
import { holding, type Io, processIo, UsageError } from './cli/io.ts';
import { keysCommand } from './cli/keys.ts';
import { createLocal } from './cli/local.ts';
import { modelsCommand } from './cli/models.ts';
import { sayCommand, transcribeCommand } from './cli/speech.ts';
import { errorText } from './cli/texts.ts';
import { watchFaults } from './product.ts';
import { serve } from './serveMain.ts';

const here = import.meta.url;

/** Runs one command. Returns the exit code of the error tables, 64 for wrong usage. */
async function main(argv: readonly string[], io: Io): Promise<number> {
  let json = false;
  try {
    const command = parseCommand(argv, io.env, (text) => io.err(`Warning: ${text}\n`));
    json = command.name === 'serve' ? command.json : 'common' in command && command.common.json;
    return await run(command, io);
  } catch (thrown) {
    if (thrown instanceof UsageError) {
      io.err(`${thrown.message}\n  \`sotto help\` shows what there is.\n`);
      return 64;
    }
    const error = toAppError(thrown);
    io.err(json ? `${JSON.stringify({ error: { code: error.code, data: error.data } })}\n` : errorText(error));
    return codes[error.code].exitCode;
  }
}

async function run(command: Command, io: Io): Promise<number> {
  switch (command.name) {
    case 'version':
      io.out(`${version}\n`);
      return 0;
    case 'help': {
      const text = helpText(command.topic);
      if (text === null) throw new UsageError('There is no such command.');
      io.out(text);
      return 0;
    }
    case 'serve': {
      const local = createLocal(command, io.env, here);
      watchFaults(local.log);
      return serve(command, local, io, here);
    }
    default: {
      const local = createLocal(command.common, io.env, here);
      watchFaults(local.log);
      const { client, openLine, close } = await openClient(local, io.env);
      try {
        if (command.name === 'keys') return await keysCommand(command, client, io);
        if (command.name === 'models') return await modelsCommand(command, client, io);
        if (command.name === 'transcribe') return await transcribeCommand(command, client, io);
        if (command.name === 'converse') return await converseCommand(command, { client, openLine }, io, local.clock);
        if (command.name === 'say') return await sayCommand(command, client, io);
        return await askCommand(command, client, io);
      } finally {
        await close();
      }
    }
  }
}

holding(() => main(process.argv.slice(2), processIo())).then(
  (code) => {
    process.exitCode = code;
  },
  (error: unknown) => {
    process.stderr.write(errorText(toAppError(error)));
    process.exitCode = 70;
  },
);

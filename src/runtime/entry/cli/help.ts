const common = `
  --data FOLDER       data folder (SOTTO_DATA_DIR; default: the system's place for application data)
  --json              results as JSON, one object a line
  --offline           nothing may leave this machine (SOTTO_OFFLINE=1)
  --log-level LEVEL   error, warn or info (SOTTO_LOG; default info); the log is in the data folder
`.trimEnd();

/** One page for each command, each with one worked example (CLI-07). */
const pages: Readonly<Record<string, string>> = {
  serve: `sotto serve: serves Sotto as a page, and its calls, to this machine.

  --host ADDRESS      where to listen (SOTTO_HOST; default 127.0.0.1)
  --port NUMBER       0 takes a free one (SOTTO_PORT; default 17717)
  --no-auth           lets in everybody on this machine; refused for other addresses
  --allow-remote      allows a --host that other machines can reach; keys are then needed
  --allowed-host NAME a further name by which the server may be called; may be repeated (SOTTO_ALLOWED_HOSTS)
${common}

Example: sotto serve --port 8080
  Prints the address and a one-time code. Open the address in a browser and type the code.
`,
  keys: `sotto keys: who may reach this machine's server.

  sotto keys code             prints a one-time code for the page; it lasts 10 minutes
  sotto keys list             keys and signed-in pages
  sotto keys create --name N  makes a key and shows it, once
  sotto keys revoke ID        ends a key or a page; its open connections close
${common}

Example: sotto keys create --name backup-script
`,
  models: `sotto models: models on this machine, for answering, hearing and speaking.

  sotto models list      what there is, and what is installed
  sotto models pull ID   downloads and checks a model; goes on where it stopped
${common}

Example: sotto models pull smollm2-135m-instruct-q4_1
`,
  transcribe: `sotto transcribe FILE.wav: the words in a sound file. PCM or float, one or two channels, 8 to 192 kHz.
${common}

Example: sotto transcribe meeting.wav --json
`,
  say: `sotto say "TEXT" --out FILE.wav: a text as a sound file. Ctrl-C stops; nothing is written then.

  --out FILE          where to write it; a file of that name is replaced
  --voice ID          one of the installed model's voices
  --speed NUMBER      0.5 to 2; default 1
${common}

Example: sotto say "Good morning." --out morning.wav
`,
  converse: `sotto converse --in FILE.wav --out FILE.wav: says a question out of a file and writes the spoken answer into another, by
the whole way of a talk at the window. The written answer is printed as it comes. Ctrl-C stops; nothing is written to the file then.

  --in FILE           the question: PCM or float, one or two channels, 8 to 192 kHz, at most two minutes
  --out FILE          where to write the answer; a file of that name is replaced
${common}

Example: sotto converse --in question.wav --out answer.wav --json
`,
  ask: `sotto ask "TEXT": asks and shows the answer as it is written. Ctrl-C stops the answer.
${common}

Example: sotto ask "What is the capital of France?"
`,
};

export function helpText(topic: string | null): string | null {
  if (topic !== null) return Object.hasOwn(pages, topic) ? (pages[topic] ?? null) : topic === 'chat' ? helpText('ask') : null;
  return `Sotto: a private assistant whose models run on this machine.

  sotto serve          serves the page and the calls
  sotto keys …         one-time codes and keys: code, list, create, revoke
  sotto models …       models: list, pull
  sotto ask "TEXT"     asks and shows the answer
  sotto transcribe F   the words in a WAV file
  sotto say "TEXT"     a text as a WAV file
  sotto converse …     a spoken question out of a WAV file, the spoken answer into another
  sotto --version      the version

\`sotto help COMMAND\` shows the options of a command.

Example: sotto serve
`;
}

import { languageMethods } from '../contract/language.ts';
import { createLanguageSession } from './languageSession.ts';
import { serveWorker } from './serve.ts';

// The thread in which llama.cpp runs.

const session = createLanguageSession();

serveWorker(
  languageMethods,
  {
    abi: () => session.abi(),
    load: (params, emit, control) => session.load(params, emit, control),
    unload: () => session.unload(),
    count: (params) => session.count(params),
    generate: (params, emit, control) => session.generate(params, emit, control),
    trial: (params, emit, control) => session.trial(params, emit, control),
  },
  () => session.close(),
);

import { prepareMethods } from '../contract/prepare.ts';
import { prepareFile } from '../onnx/prepareFile.ts';
import { serveWorker } from './serve.ts';

// The thread that makes a downloaded file ready; it loads no library.

serveWorker(
  prepareMethods,
  {
    'prepare.floatConv'(params, emit, { nowMs, isCancelled }) {
      const startMs = nowMs();
      const made = prepareFile(params, { isCancelled, onProgress: (fraction) => emit({ fraction }) });
      return { ...made, ms: nowMs() - startMs };
    },
  },
  async () => {},
);

// Decode speed of node-llama-cpp, in a process of its own. Prints one JSON line.
const { entry, model: modelPath, prompt, output, threads } = JSON.parse(process.argv[2] ?? '{}');
const { getLlama, LlamaLogLevel } = await import(entry);
const llama = await getLlama({ gpu: false, build: 'never', skipDownload: true, logLevel: LlamaLogLevel.error, progressLogs: false });
const model = await llama.loadModel({ modelPath });
const context = await model.createContext({ contextSize: 2048, threads, flashAttention: false, batchSize: 128 });
const sequence = context.getSequence();
let count = 0;
let startMs = 0;
let startCpu = process.cpuUsage();
for await (const token of sequence.evaluate(model.tokenize(prompt), { temperature: 0, yieldEogToken: true })) {
  // The first token ends the reading of the prompt; from it to the last one, all is decode.
  if (count === 0) {
    startMs = performance.now();
    startCpu = process.cpuUsage();
  }
  if (token !== undefined) count += 1;
  if (count > output) break;
}
const seconds = (performance.now() - startMs) / 1000;
const cpu = process.cpuUsage(startCpu);
const cpuSeconds = (cpu.user + cpu.system) / 1e6;
console.log(JSON.stringify({ perSecond: (count - 1) / seconds, perCpuSecond: (count - 1) / cpuSeconds }));
process.exit(0);

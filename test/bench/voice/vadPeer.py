"""Silero v5 in Python's onnxruntime: wall and processor microseconds per frame of 512 samples, best of two passes.

Arguments: model file, raw float32 samples of 16 kHz.
"""

import json
import sys
import time

import numpy as np
import onnxruntime as ort

options = ort.SessionOptions()
options.intra_op_num_threads = 1
options.inter_op_num_threads = 1
options.execution_mode = ort.ExecutionMode.ORT_SEQUENTIAL
options.add_session_config_entry("session.intra_op.allow_spinning", "0")
options.add_session_config_entry("session.disable_quant_qdq", "1")
session = ort.InferenceSession(sys.argv[1], options, providers=["CPUExecutionProvider"])
samples = np.fromfile(sys.argv[2], dtype=np.float32)
frames = len(samples) // 512
rate = np.array(16000, dtype=np.int64)


def run_all():
    state = np.zeros((2, 1, 128), dtype=np.float32)
    joined = np.zeros((1, 576), dtype=np.float32)
    last = 0.0
    for i in range(frames):
        joined[0, :64] = joined[0, 512:]
        joined[0, 64:] = samples[i * 512 : (i + 1) * 512]
        out, state = session.run(None, {"input": joined, "state": state, "sr": rate})
        last = float(out[0, 0])
    return last


run_all()
best = None
for _ in range(2):
    wall, cpu = time.perf_counter(), time.process_time()
    run_all()
    took = ((time.perf_counter() - wall) / frames * 1e6, (time.process_time() - cpu) / frames * 1e6)
    best = took if best is None else (min(best[0], took[0]), min(best[1], took[1]))
print(json.dumps({"wallUs": best[0], "cpuUs": best[1], "version": ort.__version__}))

"""Writes down what is said: raw 16-bit samples of 16 kHz on standard input, one line of words on standard output."""

import sys
import types

# The package imports it for microphones, which nobody needs here.
sys.modules["sounddevice"] = types.ModuleType("sounddevice")

from pocketsphinx import Decoder  # noqa: E402

decoder = Decoder(samprate=16000, loglevel="FATAL")
decoder.start_utt()
decoder.process_raw(sys.stdin.buffer.read(), full_utt=True)
decoder.end_utt()
hypothesis = decoder.hyp()
print(hypothesis.hypstr if hypothesis else "")

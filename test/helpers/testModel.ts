import { existsSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';

/** The starter model of the pack (models facts, section 1). */
export const starter = {
  file: 'SmolLM2-135M-Instruct.Q4_1.gguf',
  bytes: 98_362_432,
  sha256: 'b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53',
} as const;

/**
 * Path of the real model for native tests and benches: SOTTO_TEST_MODEL, or where setup keeps it. A test without it must fail, not be
 * skipped: a skipped native test looks like a passing one.
 */
export function testModel(): string {
  const path = process.env['SOTTO_TEST_MODEL'] ?? join(homedir(), '.cache', 'sotto', 'models', starter.file);
  if (!existsSync(path))
    throw new Error(`the test model is not there: run \`npm run setup\`, or set SOTTO_TEST_MODEL (looked for ${starter.file})`);
  return path;
}

/** The system message with which this model behaves (models facts, section 2). */
export const starterSystem =
  'You are a helpful assistant on a desktop computer. Answer in one short sentence. If you are given context, use only the context.';

const meeting = 'Context: The meeting with Dana is on Thursday at 15:30 in room 4B. Bring the printed budget.\nQuestion: ';
const order = 'Context: Order 8812 was shipped on 3 May by train. It contains two lamps and a chair.\nQuestion: ';
const cat = 'Context: The cat of Mr. Holm is called Pixel. She is seven years old and lives in Oslo.\nQuestion: ';

/** User texts and the substring that held over CPU variants, threads, chunks and seeds (models facts, section 2). */
export const fixedQuestions = [
  ['What colour is the sky on a clear day?', 'blue'],
  ['What is the capital of Japan?', 'Tokyo'],
  ['Which animal says meow?', 'cat'],
  ['Hello!', 'Hello'],
  ['Repeat exactly: The quick brown fox.', 'The quick brown fox'],
  [`${meeting}On which day is the meeting with Dana?`, 'Thursday'],
  [`${meeting}In which room is the meeting?`, '4B'],
  [`${order}How was order 8812 shipped?`, 'train'],
  [`${order}What does the order contain?`, 'two lamps and a chair'],
  [`${cat}What is the name of the cat?`, 'Pixel'],
  [`${cat}In which city does the cat live?`, 'Oslo'],
] as const;

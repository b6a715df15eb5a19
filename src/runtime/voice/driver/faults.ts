import type { VoiceFault } from '../../../shared/domain/voiceView.ts';
import { AppError } from '../../../shared/errors/appError.ts';
import { codes, type ErrorCode } from '../../../shared/errors/codes.ts';

/** The engine that hears and speaks is gone, or nobody may start it any more. */
const lost: readonly ErrorCode[] = ['ENGINE_CRASHED', 'ENGINE_TIMEOUT', 'ENGINE_PROTOCOL', 'ENGINE_BREAKER_OPEN'];
const memory: readonly ErrorCode[] = ['MODEL_DOES_NOT_FIT', 'OUT_OF_MEMORY'];

export const isEngineLost = (error: AppError): boolean => lost.includes(error.code);
export const isFinal = (error: AppError): boolean => error.code === 'ENGINE_BREAKER_OPEN';
export const isMemory = (error: AppError): boolean => memory.includes(error.code);

/** The numbers of an error, for a person to see (VO-94). */
export function figuresOf({ data }: AppError): Record<string, number> {
  return Object.fromEntries(Object.entries(data).filter((entry): entry is [string, number] => typeof entry[1] === 'number'));
}

export const isCode = (code: string): code is ErrorCode => Object.hasOwn(codes, code);

/** What of the microphone's codes has to be said beside the code. */
function dataOf(code: string, device: string): VoiceFault['data'] {
  switch (code) {
    case 'MIC_UNREADABLE':
    case 'MIC_SILENT':
    case 'VOICE_DEVICE_CHANGED':
      return { device };
    case 'DEVICE_LOST':
      return { kind: 'input' };
    case 'ENGINE_TIMEOUT':
    case 'ENGINE_CRASHED':
      return { engineKey: 'speech', stage: 'voice' };
    default:
      return {};
  }
}

/** A code of a page as our error; one that no table has is an unreadable device. */
export function micError(code: string, device: string): AppError {
  const known = isCode(code) && code.startsWith('MIC_') ? code : 'MIC_UNREADABLE';
  return new AppError(known, dataOf(known, device));
}

/** The reducer speaks in codes; what belongs to them waits here. */
export function createDetails(device: () => string) {
  const known = new Map<string, VoiceFault['data']>();
  return {
    /** @returns its code. */
    note(error: AppError): ErrorCode {
      // Only what can be written crosses to a page.
      known.set(error.code, JSON.parse(JSON.stringify(error.data)) as VoiceFault['data']);
      return error.code;
    },
    of: (code: string): VoiceFault['data'] => known.get(code) ?? dataOf(code, device()),
  };
}

import { systemPreferences } from 'electron';

/**
 * Whether the system lets this program have a microphone (VO-06). macOS asks its person, once, and remembers; Windows only has a switch;
 * Linux has neither.
 */
export async function askForMicrophone(): Promise<boolean> {
  if (process.platform === 'darwin') return systemPreferences.askForMediaAccess('microphone');
  if (process.platform !== 'win32') return true;
  const status = systemPreferences.getMediaAccessStatus('microphone');
  return status !== 'denied' && status !== 'restricted';
}

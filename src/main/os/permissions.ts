import type { Session } from 'electron';
import { isOurAddress } from '../app/origin.ts';
import type { MainLog } from '../log.ts';
import type { MicrophonePolicy } from './microphone.ts';

/** What the page may have at any time (robustness page, section 5). The microphone has a policy of its own. */
const allowed: ReadonlySet<string> = new Set(['clipboard-sanitized-write', 'speaker-selection']);

/** Who asks, and for which devices. */
export type Asking = {
  /** Electron's name of the permission. */
  readonly permission: string;
  /** The origins or addresses that it names; each of them must be ours. */
  readonly addresses: readonly string[];
  /** Whether the asking frame is the window's own. */
  readonly mainFrame: boolean;
  /** Of `media`: the kinds of device. A screen comes as none. */
  readonly kinds: readonly string[];
};

export function mayHave({ permission, addresses, mainFrame, kinds }: Asking, microphoneOpen: boolean): boolean {
  if (!mainFrame || addresses.length === 0 || !addresses.every(isOurAddress)) return false;
  if (permission === 'media') return microphoneOpen && kinds.length > 0 && kinds.every((kind) => kind === 'audio');
  return allowed.has(permission);
}

/** Refuses every permission but those of `mayHave`, for requests and for quiet checks alike; devices and screens always. */
export function guardPermissions(
  session: Pick<
    Session,
    'setPermissionRequestHandler' | 'setPermissionCheckHandler' | 'setDevicePermissionHandler' | 'setDisplayMediaRequestHandler'
  >,
  microphone: Pick<MicrophonePolicy, 'isOpen'>,
  log: MainLog,
): void {
  session.setPermissionRequestHandler((_contents, permission, answer, details) => {
    const media = 'mediaTypes' in details ? details : undefined;
    const addresses = [details.requestingUrl, ...given('securityOrigin' in details ? details.securityOrigin : undefined)];
    const kinds = media?.mediaTypes ?? [];
    const granted = mayHave({ permission, addresses, mainFrame: details.isMainFrame, kinds }, microphone.isOpen());
    if (!granted) log.warn('permission.refused', { permission });
    answer(granted);
  });
  session.setPermissionCheckHandler((_contents, permission, origin, details) =>
    mayHave(
      {
        permission,
        addresses: [origin, ...given(details.securityOrigin)],
        mainFrame: details.isMainFrame,
        kinds: given(details.mediaType),
      },
      microphone.isOpen(),
    ),
  );
  session.setDevicePermissionHandler(() => false);
  session.setDisplayMediaRequestHandler((_request, answer) => answer({}));
}

const given = (value: string | undefined): string[] => (value === undefined || value === '' ? [] : [value]);

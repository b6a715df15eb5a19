/** A microphone or a loudspeaker. Ids change from page to page, so a choice is kept by name (VO-04). */
export type Device = {
  readonly id: string;
  /** Empty until the microphone was allowed once. */
  readonly name: string;
  /** Devices of one piece of hardware share it; it tells whether "default" became another one. */
  readonly group: string;
};
export type Devices = { readonly inputs: readonly Device[]; readonly outputs: readonly Device[] };

/** The part of `navigator.mediaDevices` that is used. */
export type Media = Pick<MediaDevices, 'enumerateDevices' | 'getUserMedia' | 'addEventListener' | 'removeEventListener'>;

/** Chromium names these two beside the devices that they stand for. */
const standIns: ReadonlySet<string> = new Set(['default', 'communications']);

export async function listDevices(media: Media): Promise<Devices> {
  const found = await media.enumerateDevices();
  const of = (kind: MediaDeviceKind) =>
    found
      .filter((device) => device.kind === kind)
      .map((device): Device => ({ id: device.deviceId, name: device.label, group: device.groupId }));
  return { inputs: of('audioinput'), outputs: of('audiooutput') };
}

/** Those that a person can choose among. */
export const choices = (devices: readonly Device[]): readonly Device[] => devices.filter(({ id }) => !standIns.has(id));

/**
 * The device of a choice.
 *
 * @param name  as it was chosen, null for the system's own.
 * @returns     the chosen one while it is there, else the system's; null if there is none at all.
 */
export function pickDevice(devices: readonly Device[], name: string | null): Device | null {
  const chosen = name === null ? undefined : choices(devices).find((device) => device.name === name);
  return chosen ?? devices.find(({ id }) => id === 'default') ?? devices[0] ?? null;
}

/** Which hardware stands behind it: the id alone of "default" never changes. */
export const hardware = (device: Device | null): string => (device === null ? '' : `${device.group} ${device.name}`);

/**
 * Calls with the list now and whenever a device is plugged in or out.
 *
 * @returns  how to end it.
 */
export function watchDevices(media: Media, onChange: (devices: Devices) => void, onError: (error: unknown) => void): () => void {
  let ended = false;
  const look = () => {
    listDevices(media).then((devices) => {
      if (!ended) onChange(devices);
    }, onError);
  };
  media.addEventListener('devicechange', look);
  look();
  return () => {
    ended = true;
    media.removeEventListener('devicechange', look);
  };
}

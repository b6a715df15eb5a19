/**
 * What a page of ours may ask its browser for, sent with the page: the microphone for itself and no frame of it, and of the other
 * devices none. In the app main decides besides (`main/os/permissions.ts`).
 */
export const permissionsPolicy = 'camera=(), display-capture=(), geolocation=(), microphone=(self), midi=(), serial=(), usb=()';

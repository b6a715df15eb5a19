import { contextBridge, ipcRenderer } from 'electron';
import { type ConnectReply, channels, isLinkNumber, type PageBridge, type PageLinkMessage } from '../shared/contract/pageLink.ts';

// The only thing that the page gets. A port cannot cross contextBridge: it goes by window.postMessage, marked with the number that the
// page chose for this one call.
const bridge: PageBridge = {
  connect: async (number, options) => (await ipcRenderer.invoke(channels.connect, number, options)) as ConnectReply,
};
contextBridge.exposeInMainWorld('sotto', bridge);

ipcRenderer.on(channels.port, (event, number: unknown) => {
  if (isLinkNumber(number)) tell({ sotto: 'port', number }, [...event.ports]);
});
ipcRenderer.on(channels.closed, (_event, number: unknown) => {
  if (isLinkNumber(number)) tell({ sotto: 'closed', number }, []);
});

function tell(message: PageLinkMessage, ports: MessagePort[]): void {
  window.postMessage(message, window.location.origin, ports);
}

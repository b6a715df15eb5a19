import { Menu, type MenuItemConstructorOptions } from 'electron';

/**
 * The menu that carries the keys of editing, zoom and window. Electron's own one would also lead to its web site, and reload the page
 * of a person who meant something else.
 */
export function setMenu(developer: boolean): void {
  const view: MenuItemConstructorOptions[] = [{ role: 'resetZoom' }, { role: 'zoomIn' }, { role: 'zoomOut' }, { role: 'togglefullscreen' }];
  const tools: MenuItemConstructorOptions[] = [{ type: 'separator' }, { role: 'forceReload' }, { role: 'toggleDevTools' }];
  Menu.setApplicationMenu(
    Menu.buildFromTemplate([
      ...(process.platform === 'darwin' ? [{ role: 'appMenu' } as const] : []),
      { role: 'editMenu' },
      { label: 'View', submenu: developer ? [...view, ...tools] : view },
      { role: 'windowMenu' },
    ]),
  );
}

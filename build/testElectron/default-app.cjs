// Stand-in for default_app.asar, which a packaged Electron lacks: `electron [flags] [-r module] <app folder or file> [args]`.
// It is copied to resources/app/index.js of the unpacked test Electron and runs there on Node 18.
'use strict';
const { app } = require('electron');
const fs = require('node:fs');
const path = require('node:path');
const Module = require('node:module');

let target;
const preload = [];
const argv = process.argv.slice(1);
for (let i = 0; i < argv.length && target === undefined; i++) {
  if (argv[i] === '-r' || argv[i] === '--require') preload.push(argv[++i]);
  else if (!argv[i].startsWith('-')) target = argv[i];
}
target ??= process.env.ELECTRON_APP_PATH;
if (!target) {
  console.error('usage: electron [flags] [-r module] <app path>');
  process.exit(2);
}

let folder = path.resolve(target);
let entry = folder;
let description = {};
if (fs.statSync(folder).isDirectory()) {
  description = JSON.parse(fs.readFileSync(path.join(folder, 'package.json'), 'utf8'));
  entry = Module._resolveFilename(path.join(folder, description.main || 'index.js'), null, true);
} else {
  folder = path.dirname(folder);
}

process.defaultApp = true;
const name = description.productName || description.name;
if (description.version) app.setVersion(description.version);
if (name) {
  app.name = name;
  app.setPath('userData', app.commandLine.getSwitchValue('user-data-dir') || path.join(app.getPath('appData'), name));
}
if (description.desktopName) app.setDesktopName(description.desktopName);
else if (name) app.setDesktopName(`${name}.desktop`);
app.setAppPath(folder);
if (preload.length > 0) Module._preloadModules(preload);
Module._load(entry, Module, true);

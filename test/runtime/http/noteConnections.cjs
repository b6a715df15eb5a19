// Loaded before a program (NODE_OPTIONS): writes down every name it looks up and every connection it opens.
const { appendFileSync } = require('node:fs');
const net = require('node:net');
const dns = require('node:dns');
const dgram = require('node:dgram');

const note = (what) => appendFileSync(process.env.SOTTO_TEST_NOTES, `${what}\n`);
const connect = net.Socket.prototype.connect;
net.Socket.prototype.connect = function (...args) {
  const [options] = Array.isArray(args[0]) ? args[0] : args;
  if (typeof options === 'object' && options !== null && options.path == null) note(`connect ${options.host ?? 'localhost'}`);
  return connect.apply(this, args);
};
const lookup = dns.lookup;
dns.lookup = (name, ...rest) => {
  // Listening on an address asks for it too.
  if (net.isIP(name) === 0) note(`lookup ${name}`);
  return lookup(name, ...rest);
};
const send = dgram.Socket.prototype.send;
dgram.Socket.prototype.send = function (...args) {
  note('datagram');
  return send.apply(this, args);
};

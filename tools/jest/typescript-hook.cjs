/** Lets a child process of a test load the libraries from their sources, as jest does. */
const { readFileSync } = require('node:fs');
/** Node's loader, with its internal methods. @type {any} */
const Module = require('node:module');
const { join } = require('node:path');
const { transformSync } = require('@swc/core');

const root = join(__dirname, '../..');
const { $schema, ...options } = JSON.parse(readFileSync(join(root, '.swcrc'), 'utf8'));

const resolve = Module._resolveFilename;
/**
 * @param {string} request
 * @param {...unknown} rest
 */
Module._resolveFilename = function (request, ...rest) {
  const library = /^@rookery\/([a-z0-9-]+)$/.exec(request);
  return resolve.call(this, library?.[1] ? join(root, 'libs', library[1], 'src/index.ts') : request, ...rest);
};
/**
 * @param {any} module
 * @param {string} filename
 */
Module._extensions['.ts'] = (module, filename) => {
  const { code } = transformSync(readFileSync(filename, 'utf8'), {
    ...options,
    filename,
    swcrc: false,
    sourceMaps: false,
  });
  module._compile(code, filename);
};

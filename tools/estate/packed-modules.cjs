/**
 * `node --require packed-modules.cjs <program>`: a service begins with one read instead of thousands. Nearly all that a
 * start takes is finding, reading and compiling some 2,400 modules (docs/performance.md 5.13). The first start keeps for
 * the next ones where each `require` led, the source, and V8's compiled code, in one file for each program.
 *
 * A module is taken from there only while its file has the size and time that it had; whatever changed is read as usual,
 * and kept anew. File names, `__dirname`, stack traces and the order of loading are those of Node's own loader. A pack
 * that cannot be read, or that another version of Node or another installation made, is as good as none. Source: ADR 0018.
 *
 * Shape of a pack: length of the head (uint32), head (JSON), then sources and compiled code.
 */
'use strict';
const fs = require('node:fs');
const Module = require('node:module');
const path = require('node:path');
const v8 = require('node:v8');
const vm = require('node:vm');
const { isMainThread } = require('node:worker_threads');

// As `boot` sets it; code that was compiled under other flags is refused.
v8.setFlagsFromString('--no-allocation-site-pretenuring');

const ROOT = path.join(__dirname, '../..');
/** Code that a start needs is compiled by then. Units: ms. */
const KEEP_AFTER_MS = 10_000;
/** Modules whose code is taken in one turn of the event loop. */
const AT_ONCE = 100;
const HEAD_BYTES = 4;
const [OPENING] = Module.wrapper;

const [, service] = /apps[/\\]([a-z]+)[/\\]dist[/\\]main\.js$/.exec(process.argv[1]) ?? [];
const packFile = path.join(ROOT, 'node_modules/.cache/rookery/modules', `${service}.pack`);
const loadAsUsual = Module._extensions['.js'];
const findAsUsual = Module._resolveFilename;

/** Shape: `head.files` by file name: time, size, encoding, place and length of the source, and those of the code. */
let pack = null;
/** What the next pack is made of: scripts by file name, and file names by folder and request. */
const scripts = new Map();
const found = new Map();
let isStale = false;

if (isMainThread && service) {
  pack = readPack();
  isStale = pack === null;
  Module._resolveFilename = find;
  Module._extensions['.js'] = load;
  setTimeout(() => void end(), KEEP_AFTER_MS).unref();
}

/** What the pack was made for. An installation that changed may lead a `require` elsewhere. */
function madeFor() {
  const { mtimeMs, size } = fs.statSync(path.join(ROOT, 'node_modules/.package-lock.json'));
  return [process.version, process.arch, ROOT, mtimeMs, size].join(' ');
}

function readPack() {
  try {
    const bytes = fs.readFileSync(packFile);
    const from = HEAD_BYTES + bytes.readUInt32LE(0);
    const head = JSON.parse(bytes.toString('utf8', HEAD_BYTES, from));
    if (head.madeFor !== madeFor() || bytes.length !== from + head.bytes) return null;
    return { ...head, body: bytes.subarray(from) };
  } catch {
    return null;
  }
}

/** The entry of a file that is as it was; null for any other. Asked once a file. */
function packed(file) {
  const entry = pack?.files[file];
  if (!entry || entry.isChecked) return entry ?? null;
  entry.isChecked = true;
  const now = stateOf(file);
  if (now.at === entry.at && now.size === entry.size) return entry;
  delete pack.files[file];
  return null;
}

function stateOf(file) {
  const stat = fs.statSync(file, { throwIfNoEntry: false });
  return { at: stat?.mtimeMs, size: stat?.size };
}

function find(request, parent, isMain, options) {
  const folder = parent?.path;
  if (folder === undefined || options) return findAsUsual.call(Module, request, parent, isMain, options);
  const kept = pack?.found[folder]?.[request];
  const file = kept && packed(kept) ? kept : findAsUsual.call(Module, request, parent, isMain, options);
  if (file.endsWith('.js') && path.isAbsolute(file)) noteFound(folder, request, file);
  return file;
}

function noteFound(folder, request, file) {
  if (!found.has(folder)) found.set(folder, new Map());
  found.get(folder).set(request, file);
}

function load(module, file) {
  const script = scriptOf(file);
  if (!script) return loadAsUsual(module, file);
  script.runInThisContext().call(module.exports, module.exports, requireOf(module), module, file, path.dirname(file));
}

/** Null for what is no CommonJS: Node's own loader knows what to do, or to say. */
function scriptOf(file) {
  const entry = packed(file);
  const { at, size } = entry ?? stateOf(file);
  const source = entry ? sourceIn(entry) : sourceFrom(file);
  const cachedData = entry ? pack.body.subarray(entry.code, entry.code + entry.codeBytes) : undefined;
  try {
    const script = new vm.Script(source, {
      filename: file,
      columnOffset: -OPENING.length,
      cachedData,
      importModuleDynamically: vm.constants.USE_MAIN_CONTEXT_DEFAULT_LOADER,
    });
    if (!entry || script.cachedDataRejected) isStale = true;
    scripts.set(file, { script, source, at, size });
    return script;
  } catch (error) {
    if (error instanceof SyntaxError) return null;
    throw error;
  }
}

function sourceIn({ encoding, source, sourceBytes }) {
  return pack.body.toString(encoding, source, source + sourceBytes);
}

function sourceFrom(file) {
  return Module.wrap(
    fs
      .readFileSync(file, 'utf8')
      .replace(/^\uFEFF/, '')
      .replace(/^#!/, '//'),
  );
}

/** As Node makes it. */
function requireOf(module) {
  const require = (id) => module.require(id);
  require.resolve = (request, options) => Module._resolveFilename(request, module, false, options);
  require.resolve.paths = (request) => Module._resolveLookupPaths(request, module);
  require.main = process.mainModule;
  require.extensions = Module._extensions;
  require.cache = Module._cache;
  return require;
}

/** What is loaded from now on is loaded as usual; nothing of the pack stays in memory. */
async function end() {
  Module._resolveFilename = findAsUsual;
  Module._extensions['.js'] = loadAsUsual;
  pack = null;
  // A pack is a gain only: where none can be written, the next start is like this one.
  if (isStale) await keep().catch(() => undefined);
  scripts.clear();
  found.clear();
}

async function keep() {
  const files = {};
  const pieces = [];
  let bytes = 0;
  const add = (piece) => {
    pieces.push(piece);
    bytes += piece.length;
    return bytes - piece.length;
  };
  let count = 0;
  for (const [file, { script, source, at, size }] of scripts) {
    const encoding = /[^\x00-\xff]/.test(source) ? 'utf8' : 'latin1';
    const [text, code] = [Buffer.from(source, encoding), script.createCachedData()];
    const places = { source: add(text), sourceBytes: text.length, code: add(code), codeBytes: code.length };
    files[file] = { at, size, encoding, ...places };
    if (++count % AT_ONCE === 0) await new Promise((resolve) => setImmediate(resolve));
  }
  const shown = Object.fromEntries([...found].map(([folder, requests]) => [folder, Object.fromEntries(requests)]));
  const head = Buffer.from(JSON.stringify({ madeFor: madeFor(), bytes, files, found: shown }));
  const length = Buffer.alloc(HEAD_BYTES);
  length.writeUInt32LE(head.length);
  await fs.promises.mkdir(path.dirname(packFile), { recursive: true });
  // On the disk before it has its name: compiled code is not checked when it is read.
  await fs.promises.writeFile(`${packFile}.${process.pid}`, Buffer.concat([length, head, ...pieces]), { flush: true });
  await fs.promises.rename(`${packFile}.${process.pid}`, packFile);
}

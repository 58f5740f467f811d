/**
 * `node --require packed-modules.cjs <program>`: caches the modules of a service in one file, so that it starts with one
 * read instead of thousands. Nearly all time of a start is spent on finding, reading and compiling some 2,400 modules
 * (docs/performance.md 5.13). The first start stores the resolved path of each `require`, the source, and V8's compiled
 * code, in one file (a pack) for each program.
 *
 * A module is loaded from the pack only while its file has the same size and modification time; changed files are read as
 * usual, and the pack is written again. File names, `__dirname`, stack traces and the order of loading are those of Node's
 * own loader. A pack is ignored if it is damaged or was made by another version of Node or another installation.
 * Source: ADR 0018.
 *
 * Shape of a pack: length of the head (uint32), head (JSON), then sources and compiled code.
 *
 * @typedef {{ at: number | undefined, size: number | undefined, encoding: BufferEncoding, source: number,
 *   sourceBytes: number, code: number, codeBytes: number, isChecked?: boolean }} PackedFile
 * @typedef {{ files: Record<string, PackedFile>, found: Record<string, Record<string, string>>,
 *   body: Buffer }} ModulePack
 */
'use strict';
const fs = require('node:fs');
/** Node's loader, with its internal methods. @type {any} */
const Module = require('node:module');
const path = require('node:path');
const v8 = require('node:v8');
const vm = require('node:vm');
const { isMainThread } = require('node:worker_threads');

// The same flag as in `boot`: V8 refuses code that was compiled with other flags.
v8.setFlagsFromString('--no-allocation-site-pretenuring');

const ROOT = path.join(__dirname, '../..');
/** Time after which the code of a start is compiled. Units: ms. */
const KEEP_AFTER_MS = 10_000;
/** Modules whose code is serialized in one turn of the event loop. */
const AT_ONCE = 100;
const HEAD_BYTES = 4;
const [OPENING] = Module.wrapper;

const [, service] = /apps[/\\]([a-z]+)[/\\]dist[/\\]main\.js$/.exec(process.argv[1] ?? '') ?? [];
const packFile = path.join(ROOT, 'node_modules/.cache/rookery/modules', `${service}.pack`);
const loadAsUsual = Module._extensions['.js'];
const findAsUsual = Module._resolveFilename;

/**
 * The pack in use. `files` by name: time, size, encoding, offset and length of the source, and those of the code.
 * @type {ModulePack | null}
 */
let pack = null;
/**
 * Scripts for the next pack, by file name.
 * @type {Map<string, { script: import('node:vm').Script, source: string, at: number | undefined, size: number | undefined }>}
 */
const scripts = new Map();
/** Resolved paths for the next pack, by folder and request. @type {Map<string, Map<string, string>>} */
const found = new Map();
let isStale = false;
/** Another preloaded module may change modules while Node loads them, as drills do. A pack would bypass it. */
const isChanged = /--(?:require|import|loader)\b/.test(process.env.NODE_OPTIONS ?? '');

if (isMainThread && service && !isChanged) {
  pack = readPack();
  isStale = pack === null;
  Module._resolveFilename = resolveFilename;
  Module._extensions['.js'] = loadModule;
  setTimeout(() => void endPacking(), KEEP_AFTER_MS).unref();
}

/** Identifies the installation that a pack belongs to: after `npm install`, a `require` may resolve to another file. */
function installationKey() {
  const { mtimeMs, size } = fs.statSync(path.join(ROOT, 'node_modules/.package-lock.json'));
  return [process.version, process.arch, ROOT, mtimeMs, size].join(' ');
}

/** @returns {ModulePack | null} */
function readPack() {
  try {
    const bytes = fs.readFileSync(packFile);
    const from = HEAD_BYTES + bytes.readUInt32LE(0);
    const head = JSON.parse(bytes.toString('utf8', HEAD_BYTES, from));
    if (head.madeFor !== installationKey() || bytes.length !== from + head.bytes) return null;
    return { ...head, body: bytes.subarray(from) };
  } catch {
    return null;
  }
}

/**
 * Returns the entry of an unchanged file, else null. Each file is checked once.
 * @param {string} file
 */
function unchangedEntryOf(file) {
  const entry = pack?.files[file];
  if (!pack || !entry || entry.isChecked) return entry ?? null;
  entry.isChecked = true;
  const now = fileStateOf(file);
  if (now.at === entry.at && now.size === entry.size) return entry;
  delete pack.files[file];
  return null;
}

/** @param {string} file */
function fileStateOf(file) {
  const stat = fs.statSync(file, { throwIfNoEntry: false });
  return { at: stat?.mtimeMs, size: stat?.size };
}

/**
 * @param {string} request
 * @param {any} parent
 * @param {boolean} isMain
 * @param {unknown} options
 */
function resolveFilename(request, parent, isMain, options) {
  const folder = parent?.path;
  if (folder === undefined || options) return findAsUsual.call(Module, request, parent, isMain, options);
  const kept = pack?.found[folder]?.[request];
  const file = kept && unchangedEntryOf(kept) ? kept : findAsUsual.call(Module, request, parent, isMain, options);
  if (file.endsWith('.js') && path.isAbsolute(file)) recordResolution(folder, request, file);
  return file;
}

/**
 * @param {string} folder
 * @param {string} request
 * @param {string} file
 */
function recordResolution(folder, request, file) {
  const requests = found.get(folder) ?? new Map();
  found.set(folder, requests.set(request, file));
}

/**
 * @param {any} module
 * @param {string} file
 */
function loadModule(module, file) {
  const script = compiledScriptOf(file);
  if (!script) return loadAsUsual(module, file);
  script
    .runInThisContext()
    .call(module.exports, module.exports, createRequireOf(module), module, file, path.dirname(file));
}

/**
 * Returns the compiled script of a CommonJS module, else null: Node's own loader then loads it or reports the error.
 * @param {string} file
 */
function compiledScriptOf(file) {
  const entry = unchangedEntryOf(file);
  const { at, size } = entry ?? fileStateOf(file);
  const source = entry ? packedSourceOf(entry) : readWrappedSource(file);
  const cachedData = entry && pack ? pack.body.subarray(entry.code, entry.code + entry.codeBytes) : undefined;
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

/** @param {PackedFile} entry */
function packedSourceOf({ encoding, source, sourceBytes }) {
  return /** @type {ModulePack} */ (pack).body.toString(encoding, source, source + sourceBytes);
}

/** @param {string} file */
function readWrappedSource(file) {
  return Module.wrap(
    fs
      .readFileSync(file, 'utf8')
      .replace(/^\uFEFF/, '')
      .replace(/^#!/, '//'),
  );
}

/**
 * Makes a `require` function like Node's.
 * @param {any} module
 */
function createRequireOf(module) {
  /** @type {any} */
  const require = (/** @type {string} */ id) => module.require(id);
  require.resolve = (/** @type {string} */ request, /** @type {unknown} */ options) =>
    Module._resolveFilename(request, module, false, options);
  require.resolve.paths = (/** @type {string} */ request) => Module._resolveLookupPaths(request, module);
  require.main = process.mainModule;
  require.extensions = Module._extensions;
  require.cache = Module._cache;
  return require;
}

/** Restores Node's loader for later modules, frees the pack, and writes a new one if needed. */
async function endPacking() {
  Module._resolveFilename = findAsUsual;
  Module._extensions['.js'] = loadAsUsual;
  pack = null;
  // A pack only saves time: if it cannot be written, the next start is like this one.
  if (isStale) await writePack().catch(() => undefined);
  scripts.clear();
  found.clear();
}

async function writePack() {
  /** @type {Record<string, PackedFile>} */
  const files = {};
  /** @type {Buffer[]} */
  const pieces = [];
  let bytes = 0;
  /** @param {Buffer} piece */
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
  const head = Buffer.from(JSON.stringify({ madeFor: installationKey(), bytes, files, found: shown }));
  const length = Buffer.alloc(HEAD_BYTES);
  length.writeUInt32LE(head.length);
  await fs.promises.mkdir(path.dirname(packFile), { recursive: true });
  // The content is flushed before the rename, because compiled code is not verified when it is read.
  await fs.promises.writeFile(`${packFile}.${process.pid}`, Buffer.concat([length, head, ...pieces]), { flush: true });
  await fs.promises.rename(`${packFile}.${process.pid}`, packFile);
}

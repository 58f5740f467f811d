/**
 * Search for the credential of an upstream host in all places that outlive an import, and in the arguments and environments
 * of processes during it. Source: reference reliability 8.5.
 *
 * @import { DrillClient } from '../client.mjs'
 */
import { readdirSync, readFileSync } from 'node:fs';
import { open, readdir } from 'node:fs/promises';
import { join } from 'node:path';

const CHUNK_BYTES = 1024 * 1024;
const SAMPLE_MS = 50;
const PROCESSES = '/proc';
/** Tries to list a folder. */
const MAX_TRIES = 20;

export class CredentialSearch {
  /** Places that have the credential. @type {Set<string>} */
  places = new Set();
  /** Whether the arguments of a process had the address of the host, which shows that processes are seen. */
  #hasSeenHost = false;
  #files = 0;
  /** @type {NodeJS.Timeout | undefined} */
  #timer;

  /**
   * @param {DrillClient} client
   * @param {{ secrets: string[], address: string, folders: string[] }} given  `secrets` are the forms of the credential,
   *   `address` is a text that the database must have
   */
  constructor(client, { secrets, address, folders }) {
    this.client = client;
    this.address = address;
    this.folders = folders;
    // PostgreSQL shows binary columns as hexadecimal digits.
    this.forms = secrets.flatMap((secret) => [secret, Buffer.from(secret).toString('hex')]);
  }

  /** Reads arguments and environments of all processes again and again until `stopWatching`. */
  watchProcesses() {
    this.#timer = setInterval(() => this.#readProcesses(), SAMPLE_MS);
  }

  stopWatching() {
    clearInterval(this.#timer);
  }

  /** Searches files and databases. Resolves to the places with the credential, and to the parts of the search that saw nothing. */
  async run() {
    for (const folder of this.folders) await this.#readFolder(folder);
    let hosts = 0;
    for (const service of Object.keys(this.client.estate.databases)) hosts += await this.#readDatabase(service);
    const blind = [];
    if (this.#files === 0) blind.push('there are no files');
    if (hosts === 0) blind.push('the databases do not have the address of the host');
    if (process.platform === 'linux' && !this.#hasSeenHost) blind.push('no process had the address of the host');
    return { places: [...this.places], blind };
  }

  #readProcesses() {
    const ids = readdirSync(PROCESSES).filter((name) => /^\d+$/.test(name) && Number(name) !== process.pid);
    for (const id of ids) {
      for (const name of ['cmdline', 'environ']) {
        const text = readProcFileOrEmpty(join(PROCESSES, id, name));
        if (name === 'cmdline' && text.includes(this.address)) this.#hasSeenHost = true;
        if (this.forms.some((form) => text.includes(form)))
          this.places.add(`${name} of ${readProcFileOrEmpty(join(PROCESSES, id, 'comm')).trim()}`);
      }
    }
  }

  /** @param {string} folder */
  async #readFolder(folder) {
    for (const entry of await listRecursively(folder)) {
      const path = join(entry.parentPath, entry.name);
      if (!entry.isFile()) continue;
      this.#files += 1;
      if (await fileHasAnyOf(path, this.forms)) this.places.add(path.slice(folder.length + 1));
    }
  }

  /**
   * Searches all columns of all tables. Resolves to the number of rows with the address of the host.
   * @param {string} service
   */
  async #readDatabase(service) {
    const tables = await this.client.query(
      service,
      `select format('%I.%I', n.nspname, c.relname) as name from pg_class c join pg_namespace n on n.oid = c.relnamespace
       where c.relkind = 'r' and n.nspname not in ('pg_catalog', 'information_schema') order by 1`,
    );
    let hosts = 0;
    for (const { name } of tables) {
      const [row] = await this.client.query(
        service,
        `select count(*) filter (where exists (select 1 from unnest($1::text[]) as f (form) where strpos(t.text, f.form) > 0))::int as secrets,
           count(*) filter (where strpos(t.text, $2::text) > 0)::int as hosts
         from (select r::text as text from ${name} r) t`,
        [this.forms, this.address],
      );
      if (row.secrets > 0) this.places.add(`table ${name} of ${service}`);
      hosts += row.hosts;
    }
    return hosts;
  }
}

/**
 * Lists a folder with all folders below it, some of which may be deleted meanwhile.
 * @param {string} folder
 * @returns {Promise<import('node:fs').Dirent[]>}
 */
async function listRecursively(folder) {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await readdir(folder, { recursive: true, withFileTypes: true });
    } catch (error) {
      if (attempt === MAX_TRIES) throw error;
    }
  }
}

/**
 * Returns a file of a process; an empty text for a process that has ended.
 * @param {string} path
 */
function readProcFileOrEmpty(path) {
  try {
    return readFileSync(path, 'latin1');
  } catch {
    return '';
  }
}

/**
 * Whether a file has one of the texts. Files that were deleted meanwhile have none.
 * @param {string} path
 * @param {string[]} texts
 */
async function fileHasAnyOf(path, texts) {
  const file = await open(path).catch(() => null);
  if (file === null) return false;
  const longest = Math.max(...texts.map((text) => text.length));
  try {
    const buffer = Buffer.alloc(CHUNK_BYTES + longest);
    let kept = 0;
    for (;;) {
      const { bytesRead } = await file.read(buffer, kept, CHUNK_BYTES);
      if (bytesRead === 0) return false;
      const end = kept + bytesRead;
      const read = buffer.subarray(0, end);
      if (texts.some((text) => read.includes(text))) return true;
      // A text may go on in the next chunk.
      kept = Math.min(longest, end);
      buffer.copy(buffer, 0, end - kept, end);
    }
  } finally {
    await file.close();
  }
}

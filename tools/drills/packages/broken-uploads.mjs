/**
 * Uploads to all registries while their clients cut connections, the package service is killed, and PostgreSQL is killed.
 * Afterwards every acknowledged file is there with its bytes and once, only files that were sent whole are listed, and the
 * sweep leaves the contents of listed files only. First, a thousand files are published at once.
 * Source: docs/reference/packages-and-admin.md 4.1.
 *
 * @import { DrillClient, Person } from '../client.mjs'
 * @import { Upload } from './registry-requests.mjs'
 * @typedef {{ upload: Upload, status: number | null, text: string, isCut: boolean }} UploadEntry  `status` is null without an answer
 */
import { randomBytes } from 'node:crypto';
import { existsSync, readdirSync, utimesSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { WITHOUT_RATES } from '../../processes/environment.mjs';
import { until } from '../client.mjs';
import { FORMATS, sendUpload, sha256, uploadOf } from './registry-requests.mjs';

const WRITERS = 16;
const AT_ONCE = 1000;
const MAX_ATTEMPTS = 60;
/** Answers to which clients repeat an upload. */
const REPEATED = [429, 502, 503, 504];
/** Refusals of a file that exists. */
const EXISTS = /already|Duplicate/;
/** Kills of the package service; every second one is followed by one of PostgreSQL. */
const KILLS = 6;
/** Largest file. Units: bytes. */
const MAX_BYTES = 1024 * 1024;
/** Proportion of uploads that their client cuts. */
const CUT_PART = 0.25;
/** Files of this age are swept. Units: ms. */
const OLD_MS = 48 * 60 * 60 * 1000;

export function prepare() {
  return { env: { ...WITHOUT_RATES, PACKAGES_SWEEP_CRON: '* * * * *' } };
}

/**
 * Runs the drill. Returns the figures of its parts. `wrong` is the number of violations.
 * @param {DrillClient} client
 */
export async function run(client) {
  const drill = new BrokenUploadsDrill(client);
  await drill.prepare();
  const atOnce = await drill.publishAtOnce();
  const faults = await drill.publishDuringFaults();
  const swept = await drill.sweep();
  return { atOnce, faults, swept, wrong: drill.wrong, examples: drill.examples };
}

class BrokenUploadsDrill {
  wrong = 0;
  /** @type {string[]} */
  examples = [];
  /** @type {UploadEntry[]} */
  entries = [];
  /** @type {Person[]} */
  writers = [];
  project = 0;

  /** @param {DrillClient} client */
  constructor(client) {
    this.client = client;
  }

  /** @param {string} text */
  #complain(text) {
    this.wrong += 1;
    if (this.examples.length < 8) this.examples.push(text);
  }

  async prepare() {
    const { client } = this;
    this.writers = await client.people(WRITERS, 'uploader');
    this.project = await client.projectWithIssue('uploads');
    await client.join(this.project, this.writers, 40);
    // A repeated upload then adds no second file of the same name.
    const settings = { generic_duplicates_allowed: false, maven_duplicates_allowed: false };
    await client.done(200, 'PUT', `/groups/uploads-${client.seed}/packages/settings`, { json: settings });
  }

  /** Publishes a thousand small files at once, a quarter to each registry. Clients repeat what was refused for the load. */
  async publishAtOnce() {
    const from = Date.now();
    let repeated = 0;
    const publish = async (/** @type {number} */ n) => {
      const content = randomBytes(100);
      for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt += 1) {
        const entry = await this.#publishPackage(n, content, n, false);
        // The gateway may have given up on an answer that the service had just written.
        if (attempt > 0 && EXISTS.test(entry.text)) return { ...entry, status: 200 };
        if (entry.status !== null && !REPEATED.includes(entry.status)) return entry;
        repeated += 1;
        await delay(500 + Math.random() * 1500);
      }
      throw new Error(`upload ${n} was refused ${MAX_ATTEMPTS} times`);
    };
    const entries = await Promise.all(Array.from({ length: AT_ONCE }, (_, n) => publish(n)));
    const refused = entries.filter((entry) => !isAcknowledged(entry));
    for (const { upload, status } of refused) this.#complain(`${upload.path}: ${status}`);
    const checked = await this.#checkUploads();
    return { seconds: (Date.now() - from) / 1000, acknowledged: entries.length - refused.length, repeated, ...checked };
  }

  /** Uploads until all faults have happened. */
  async publishDuringFaults() {
    let isOver = false;
    let next = AT_ONCE;
    const write = async (/** @type {number} */ writer) => {
      while (!isOver) {
        const content = randomBytes(1 + Math.floor(Math.random() * MAX_BYTES));
        const { status } = await this.#publishPackage(next++, content, writer, Math.random() < CUT_PART);
        if (status === null || status >= 429) await delay(200);
      }
    };
    const before = this.entries.length;
    const uploads = Array.from({ length: WRITERS }, (_, index) => write(index));
    for (let round = 0; round < KILLS; round += 1) {
      await delay(3000 + Math.random() * 2000);
      await this.client.process('package').restart();
      if (round % 2 === 0) continue;
      await delay(500 + Math.random() * 500);
      await this.client.killPostgres();
    }
    await delay(1500);
    isOver = true;
    await Promise.all(uploads);
    await until('the estate is ready', async () => {
      const answer = await fetch(`${this.client.estate.baseUrl}/-/health/ready`).catch(() => null);
      return answer?.status === 200;
    });
    const own = this.entries.slice(before);
    return {
      acknowledged: own.filter(isAcknowledged).length,
      cut: own.filter(({ isCut }) => isCut).length,
      unknown: own.filter((entry) => !entry.isCut && !isAcknowledged(entry)).length,
      ...(await this.#checkUploads()),
    };
  }

  /**
   * @param {number} n
   * @param {Buffer} content
   * @param {number} writer
   * @param {boolean} isCut
   */
  async #publishPackage(n, content, writer, isCut) {
    const upload = uploadOf(this.project, FORMATS[n % FORMATS.length] ?? 'generic', n, content);
    const token = this.writers[writer % WRITERS]?.token ?? '';
    // The last byte is never sent, so that no upload is whole.
    const cutAt = isCut ? Math.floor(Math.random() * (upload.body.length - 1)) : undefined;
    const answer = await sendUpload(this.client, upload, { token, cutAt });
    const entry = { upload, status: answer?.status ?? null, text: answer?.text ?? '', isCut };
    this.entries.push(entry);
    return entry;
  }

  /** Compares what is listed and downloaded with what was sent. */
  async #checkUploads() {
    const listed = await this.#countListedFiles();
    const byName = new Map(this.entries.map((entry) => [entry.upload.fileName, entry]));
    for (const [name, count] of listed) {
      const entry = byName.get(name);
      if (!entry || entry.isCut) this.#complain(`${name} is listed, but was not sent whole`);
      if (count > 1) this.#complain(`${name} is listed ${count} times`);
    }
    let damaged = 0;
    for (const { upload, ...entry } of this.entries) {
      const isListed = listed.has(upload.fileName);
      if (isAcknowledged(entry) && !isListed) this.#complain(`${upload.fileName} is lost`);
      if (isListed && !(await this.#isDownloadedWhole(upload))) {
        damaged += 1;
        this.#complain(`${upload.fileName} has other bytes`);
      }
    }
    return { listed: listed.size, damaged };
  }

  /** @param {Upload} upload */
  async #isDownloadedWhole({ download, content }) {
    const response = await fetch(`${this.client.estate.baseUrl}/api/v4${download}`, {
      headers: { 'private-token': this.writers[0]?.token ?? '' },
    });
    return response.status === 200 && sha256(Buffer.from(await response.arrayBuffer())) === sha256(content);
  }

  /** Names of all listed files, with their number. */
  async #countListedFiles() {
    const rows = await this.client.query(
      'package',
      `select f.file_name as name, count(*)::int as count from package_files f join packages p on p.id = f.package_id
       where f.project_id = $1 and not f.is_pending_destruction and p.status <> 'pending_destruction'
       group by f.file_name`,
      [this.project],
    );
    return new Map(rows.map(({ name, count }) => [name, count]));
  }

  /**
   * Lets all stored contents be old, and waits for the sweep to remove those that no row names.
   */
  async sweep() {
    const folder = this.client.estate.blobsUrl;
    const rows = await this.client.query(
      'package',
      `select sha256 from package_files union select metadata_sha256 from pypi_files where metadata_sha256 is not null`,
    );
    const named = new Set(rows.map((row) => row.sha256));
    const old = new Date(Date.now() - OLD_MS);
    const before = filesBelow(folder);
    for (const file of before) utimesSync(file, old, old);
    const isClean = () => filesBelow(folder).every((file) => named.has(file.split('/').at(-1)));
    await until('the sweep has removed everything else', isClean, 180_000).catch((error) => {
      this.#complain(error.message);
    });
    const after = filesBelow(folder);
    const names = new Set(after.map((file) => file.split('/').at(-1)));
    for (const key of named) if (!names.has(key)) this.#complain(`the content ${key} is gone`);
    return { contents: named.size, before: before.length, after: after.length };
  }
}

/** @param {Pick<UploadEntry, 'status'>} entry */
function isAcknowledged({ status }) {
  return status !== null && status < 300;
}

/**
 * Contents, unfinished uploads and marks of removals.
 * @param {string} folder
 */
function filesBelow(folder) {
  if (!existsSync(folder)) return [];
  const entries = readdirSync(folder, { recursive: true, withFileTypes: true });
  return entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
}

/**
 * A file of 1 GiB goes up and down, and a large npm document goes up. The gateway and the package service hold no part of it
 * in memory that grows with its size. Source: docs/reference/packages-and-admin.md 4.1.
 *
 * @import { DrillClient } from '../client.mjs'
 * @typedef {Record<string, number>} MibByProcess  in MiB, by process
 */
import { createHash, randomBytes } from 'node:crypto';
import { request } from 'node:http';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { WITHOUT_RATES } from '../../processes/environment.mjs';

const MIB = 1024 * 1024;
const FILE_BYTES = 1024 * MIB;
const TARBALL_BYTES = 300 * MIB;
/** The first transfers, which load code and fill pools. Their growth counts too. */
const FIRST_BYTES = 64 * MIB;
/** Units: MiB. */
const MAX_GROWTH = 64;
const WATCHED = ['gateway', 'package'];

export function prepare() {
  return { env: WITHOUT_RATES };
}

/**
 * Runs the drill. `grown` contains MiB by transfer and process. `wrong` is the number of violations.
 * @param {DrillClient} client
 */
export async function run(client) {
  const project = await client.projectWithIssue('large');
  const transfers = new PackageFileTransfers(client, project);
  /** @type {string[]} */
  const examples = [];
  /** @type {Record<string, MibByProcess>} */
  const grown = {};
  grown['first'] = await memoryGrowthDuringTransfer(client, async () => {
    await transfers.up('first.bin', FIRST_BYTES);
    await transfers.down('first.bin');
    await transfers.publish('first', FIRST_BYTES);
  });
  let sent = '';
  let received = '';
  grown['up'] = await memoryGrowthDuringTransfer(
    client,
    async () => void (sent = await transfers.up('large.bin', FILE_BYTES)),
  );
  grown['down'] = await memoryGrowthDuringTransfer(
    client,
    async () => void (received = await transfers.down('large.bin')),
  );
  grown['npm'] = await memoryGrowthDuringTransfer(client, () => transfers.publish('large', TARBALL_BYTES));
  if (sent !== received) examples.push('the file came back with other bytes');
  for (const [transfer, sizes] of Object.entries(grown)) {
    for (const [name, size] of Object.entries(sizes))
      if (size >= MAX_GROWTH) examples.push(`${transfer}: ${name} grew by ${size.toFixed(1)} MiB`);
  }
  return { grown, seconds: transfers.seconds, wrong: examples.length, examples };
}

class PackageFileTransfers {
  /** @type {Record<string, number>} */
  seconds = {};

  /**
   * @param {DrillClient} client
   * @param {number} project
   */
  constructor(client, project) {
    this.client = client;
    this.base = `${client.estate.baseUrl}/api/v4/projects/${project}/packages`;
  }

  /**
   * Uploads a generic file. Resolves to its digest.
   * @param {string} name
   * @param {number} size
   */
  async up(name, size) {
    const digest = createHash('sha256');
    const body = Readable.from(
      generateBytes(size, (part) => digest.update(part)),
      { objectMode: false },
    );
    const headers = { 'content-length': String(size), 'content-type': 'application/octet-stream' };
    await this.#uploadFile(`up ${name}`, `${this.base}/generic/large/1.0.0/${name}`, headers, body, 201);
    return digest.digest('hex');
  }

  /**
   * Downloads a generic file. Resolves to its digest.
   * @param {string} name
   */
  async down(name) {
    const from = performance.now();
    const { token } = this.client.estate;
    const response = await fetch(`${this.base}/generic/large/1.0.0/${name}`, { headers: { 'private-token': token } });
    if (response.status !== 200 || !response.body) throw new Error(`the download was answered ${response.status}`);
    const digest = createHash('sha256');
    for await (const part of response.body) digest.update(part);
    this.seconds[`down ${name}`] = (performance.now() - from) / 1000;
    return digest.digest('hex');
  }

  /**
   * Publishes an npm package whose tarball has this size.
   * @param {string} name
   * @param {number} size
   */
  async publish(name, size) {
    const [version, file] = ['1.0.0', `${name}-1.0.0.tgz`];
    const versions = { [version]: { name, version, dist: {} } };
    const start = { _id: name, name, 'dist-tags': { latest: version }, versions };
    const head = `${JSON.stringify(start).slice(0, -1)},"_attachments":{"${file}":{"data":"`;
    const whole = async function* () {
      yield Buffer.from(head);
      // Parts of a multiple of three bytes have no padding.
      for (const part of generateBytes(size - (size % 3), () => {})) yield Buffer.from(part.toString('base64'));
      yield Buffer.from('"}}}');
    };
    const headers = { 'content-type': 'application/json' };
    await this.#uploadFile(`npm ${name}`, `${this.base}/npm/${name}`, headers, Readable.from(whole()), 200);
  }

  /**
   * @param {string} about
   * @param {string} url
   * @param {Record<string, string>} headers
   * @param {Readable} body
   * @param {number} expected
   */
  async #uploadFile(about, url, headers, body, expected) {
    const from = performance.now();
    const outgoing = request(url, {
      method: 'PUT',
      headers: { ...headers, 'private-token': this.client.estate.token },
    });
    /** @type {Promise<import('node:http').IncomingMessage>} */
    const answered = new Promise((resolve, reject) => outgoing.once('response', resolve).once('error', reject));
    answered.catch(() => {});
    await pipeline(body, outgoing);
    const response = await answered;
    const text = (await response.toArray()).join('');
    if (response.statusCode !== expected) throw new Error(`${about}: ${response.statusCode} ${text}`);
    this.seconds[about] = (performance.now() - from) / 1000;
  }
}

/**
 * Yields so many bytes, in parts that differ from each other and have a multiple of three bytes.
 * @param {number} size
 * @param {(part: Buffer) => void} onChunk
 */
function* generateBytes(size, onChunk) {
  const part = randomBytes(48 * 1024);
  for (let left = size, count = 0; left > 0; left -= part.length, count += 1) {
    part.writeUInt32BE(count, 0);
    const next = Buffer.from(part.subarray(0, Math.min(left, part.length)));
    onChunk(next);
    yield next;
  }
}

/**
 * Growth of the resident memory of both processes during a transfer: the highest value, compared with the one before.
 * @param {DrillClient} client
 * @param {() => Promise<unknown>} transfer
 * @returns {Promise<MibByProcess>}
 */
async function memoryGrowthDuringTransfer(client, transfer) {
  const before = Object.fromEntries(WATCHED.map((name) => [name, client.residentMib(name)]));
  const peaks = { ...before };
  const look = () => {
    for (const name of WATCHED) peaks[name] = Math.max(peaks[name] ?? 0, client.residentMib(name));
  };
  const timer = setInterval(look, 20);
  try {
    await transfer();
    look();
  } finally {
    clearInterval(timer);
  }
  return Object.fromEntries(WATCHED.map((name) => [name, (peaks[name] ?? 0) - (before[name] ?? 0)]));
}

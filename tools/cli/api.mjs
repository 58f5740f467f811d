/**
 * Requests of the command line to the API: of the estate on a data folder with the token of its administrator, or of any
 * estate (`--url`) with the token in `ROOKERY_ROOT_TOKEN` or in a file. No token is an argument, because other users of the
 * machine can read arguments.
 *
 * @typedef {{ data: string, url?: string, tokenFile?: string }} EstateLocation
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { runningEnvironment } from '../processes/operate.mjs';
import { readRecord } from '../processes/process-records.mjs';
import { EXIT, CommandFailure } from './output.mjs';

export class Api {
  /**
   * Errors: NoEstate without `url` and a running estate; Failure without a token.
   * @param {EstateLocation} place
   */
  constructor({ data, url, tokenFile }) {
    this.base = url ?? localUrlOf(data);
    this.token = readRootToken(data, url === undefined, tokenFile);
  }

  /**
   * Sends a request and returns the JSON of the answer. Errors: Failure.
   * @param {string} method
   * @param {string} path
   * @param {object} [json]
   * @returns {Promise<any>}
   */
  async ask(method, path, json) {
    const response = await this.#sendRequest(method, path, json);
    if (response.status >= 300 && response.status < 400)
      throw new CommandFailure(`${this.base} redirects to another address: name the final one, --url https://…`);
    const body = /** @type {any} */ (await response.json().catch(() => null));
    if (response.ok) return body;
    const about = body?.message ?? body?.error ?? response.statusText;
    throw new CommandFailure(`${response.status} ${typeof about === 'string' ? about : JSON.stringify(about)}`);
  }

  /**
   * Redirects are not followed, because the token would go to any server that they name.
   * @param {string} method
   * @param {string} path
   * @param {object} [json]
   */
  async #sendRequest(method, path, json) {
    try {
      return await fetch(`${this.base.replace(/\/$/, '')}/api/v4${path}`, {
        method,
        redirect: 'manual',
        headers: { 'private-token': this.token, ...(json ? { 'content-type': 'application/json' } : {}) },
        ...(json ? { body: JSON.stringify(json) } : {}),
      });
    } catch {
      throw new CommandFailure(`${this.base} does not answer`, EXIT.unavailable);
    }
  }
}

/** @param {string} data */
function localUrlOf(data) {
  return `http://127.0.0.1:${runningEnvironment(data, 'gateway')['PORT']}`;
}

/**
 * @param {string} data
 * @param {boolean} isLocal
 * @param {string} [file]
 * @returns {string}
 */
function readRootToken(data, isLocal, file) {
  const path = file ?? process.env['ROOKERY_ROOT_TOKEN_FILE'];
  if (path) return readFileSync(path, 'utf8').trim();
  const given = process.env['ROOKERY_ROOT_TOKEN'];
  const found = given || (isLocal ? readRecord(join(data, 'secrets.json'))?.rootToken : undefined);
  if (!found) throw new CommandFailure('Set ROOKERY_ROOT_TOKEN, or name a file with a token: --token-file', EXIT.usage);
  return found;
}

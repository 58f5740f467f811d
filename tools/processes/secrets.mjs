/** Generated passwords and keys of an estate, stored in `<data>/secrets.json`, which only their owner can read. */
import { randomBytes, randomInt } from 'node:crypto';
import { join } from 'node:path';
import { readRecord, writeRecord } from './process-records.mjs';
import { INTERNAL_PAIRS, SERVICES } from './environment.mjs';

const LETTERS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789';

/**
 * Reads the secrets of an estate, and generates missing ones. Passwords of databases and keys of request contexts are by
 * service: `databases` for its role, `owners` for the role that owns its tables. Passwords of the bus are by account, internal
 * keys by `caller/callee`; `session` seals cookies of web pages.
 * @typedef {{ postgres: string, databases: Record<string, string>, owners: Record<string, string>, bus: Record<string, string>,
 *   contextKeys: Record<string, string>, internalKeys: Record<string, string>, session: string, rootToken: string }} Secrets
 * @param {string} dataDir
 * @returns {Secrets}
 */
export function readSecrets(dataDir) {
  const file = join(dataDir, 'secrets.json');
  const kept = readRecord(file) ?? {};
  const secrets = {
    postgres: kept.postgres ?? randomHexSecret(),
    databases: Object.fromEntries(SERVICES.map((name) => [name, kept.databases?.[name] ?? randomHexSecret()])),
    owners: Object.fromEntries(SERVICES.map((name) => [name, kept.owners?.[name] ?? randomHexSecret()])),
    // A letter first, because nats-server parses a value that begins with a digit as a number.
    bus: Object.fromEntries(
      ['operator', ...SERVICES].map((name) => [name, kept.bus?.[name] ?? `p${randomHexSecret()}`]),
    ),
    contextKeys: Object.fromEntries(
      SERVICES.map((name) => [name, kept.contextKeys?.[name] ?? generateSigningKey(name)]),
    ),
    internalKeys: Object.fromEntries(
      INTERNAL_PAIRS.map((pair) => pair.join('/')).map((pair) => [
        pair,
        kept.internalKeys?.[pair] ?? generateSigningKey(pair),
      ]),
    ),
    session: kept.session ?? randomHexSecret(),
    rootToken:
      kept.rootToken ?? `glpat-${Array.from({ length: 20 }, () => LETTERS[randomInt(LETTERS.length)]).join('')}`,
  };
  if (JSON.stringify(kept) !== JSON.stringify(secrets)) writeRecord(file, secrets);
  return secrets;
}

/**
 * Generates a key: for a service, the key with which the gateway signs for it; for `caller/callee`, that of their calls.
 * @param {string} name
 */
function generateSigningKey(name) {
  return `k1/${name}:${randomBytes(32).toString('base64')}`;
}

function randomHexSecret() {
  return randomBytes(24).toString('hex');
}

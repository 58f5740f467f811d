/** What an estate made up once: passwords and keys, kept in `<data>/secrets.json`, readable by their owner alone. */
import { randomBytes, randomInt } from 'node:crypto';
import { join } from 'node:path';
import { readRecord, writeRecord } from './processes.mjs';
import { INTERNAL_PAIRS, SERVICES } from './environment.mjs';

const LETTERS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789';

/**
 * Shape: `{ postgres, databases: { identity… }, bus: { operator, identity… }, contextKeys: { identity… },
 * internalKeys: { 'gateway/identity'… }, rootToken }`.
 */
export function readSecrets(dataDir) {
  const file = join(dataDir, 'secrets.json');
  const kept = readRecord(file) ?? {};
  const secrets = {
    postgres: kept.postgres ?? word(),
    databases: Object.fromEntries(SERVICES.map((name) => [name, kept.databases?.[name] ?? word()])),
    // A letter in front: nats-server reads what begins with a digit as a number.
    bus: Object.fromEntries(['operator', ...SERVICES].map((name) => [name, kept.bus?.[name] ?? `p${word()}`])),
    contextKeys: Object.fromEntries(SERVICES.map((name) => [name, kept.contextKeys?.[name] ?? keyFor(name)])),
    internalKeys: Object.fromEntries(
      INTERNAL_PAIRS.map((pair) => pair.join('/')).map((pair) => [pair, kept.internalKeys?.[pair] ?? keyFor(pair)]),
    ),
    rootToken:
      kept.rootToken ?? `glpat-${Array.from({ length: 20 }, () => LETTERS[randomInt(LETTERS.length)]).join('')}`,
  };
  if (JSON.stringify(kept) !== JSON.stringify(secrets)) writeRecord(file, secrets);
  return secrets;
}

/** For a service, the key by which the gateway signs for it; for `caller/callee`, the key by which these two speak. */
function keyFor(name) {
  return `k1/${name}:${randomBytes(32).toString('base64')}`;
}

function word() {
  return randomBytes(24).toString('hex');
}

/** What an estate made up once: passwords and keys, kept in `<data>/secrets.json`, readable by their owner alone. */
import { randomBytes, randomInt } from 'node:crypto';
import { join } from 'node:path';
import { readRecord, writeRecord } from './processes.mjs';
import { SERVICES } from './environment.mjs';

const LETTERS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789';

/**
 * Shape: `{ postgres, databases: { identity… }, bus: { operator, identity… }, internalSecret, contextKeys: { identity… },
 * rootToken }`.
 */
export function readSecrets(dataDir) {
  const file = join(dataDir, 'secrets.json');
  const kept = readRecord(file) ?? {};
  const secrets = {
    postgres: kept.postgres ?? word(),
    databases: Object.fromEntries(SERVICES.map((name) => [name, kept.databases?.[name] ?? word()])),
    internalSecret: kept.internalSecret ?? word(),
    // A letter in front: nats-server reads what begins with a digit as a number.
    bus: Object.fromEntries(['operator', ...SERVICES].map((name) => [name, kept.bus?.[name] ?? `p${word()}`])),
    contextKeys: Object.fromEntries(SERVICES.map((name) => [name, kept.contextKeys?.[name] ?? contextKey(name)])),
    rootToken:
      kept.rootToken ?? `glpat-${Array.from({ length: 20 }, () => LETTERS[randomInt(LETTERS.length)]).join('')}`,
  };
  if (JSON.stringify(kept) !== JSON.stringify(secrets)) writeRecord(file, secrets);
  return secrets;
}

/** The key by which the gateway signs for one service, and that service checks. */
function contextKey(service) {
  return `k1/${service}:${randomBytes(32).toString('base64')}`;
}

function word() {
  return randomBytes(24).toString('hex');
}

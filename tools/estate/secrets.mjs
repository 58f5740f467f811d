/** What an estate made up once: passwords and keys, kept in `<data>/secrets.json`, readable by their owner alone. */
import { randomBytes, randomInt } from 'node:crypto';
import { join } from 'node:path';
import { readRecord, writeRecord } from './processes.mjs';
import { SERVICES } from './environment.mjs';

const LETTERS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789';

/** Shape: `{ postgres, databases: { identity… }, internalSecret, contextKeys, rootToken }`. */
export function readSecrets(dataDir) {
  const file = join(dataDir, 'secrets.json');
  const kept = readRecord(file) ?? {};
  const secrets = {
    postgres: kept.postgres ?? word(),
    databases: Object.fromEntries(SERVICES.map((name) => [name, kept.databases?.[name] ?? word()])),
    internalSecret: kept.internalSecret ?? word(),
    contextKeys: kept.contextKeys ?? `k1:${randomBytes(32).toString('base64')}`,
    rootToken:
      kept.rootToken ?? `glpat-${Array.from({ length: 20 }, () => LETTERS[randomInt(LETTERS.length)]).join('')}`,
  };
  if (JSON.stringify(kept) !== JSON.stringify(secrets)) writeRecord(file, secrets);
  return secrets;
}

function word() {
  return randomBytes(24).toString('hex');
}

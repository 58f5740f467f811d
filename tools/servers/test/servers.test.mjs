import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { connect } from 'nats';
import { createTransport } from 'nodemailer';
import pg from 'pg';
import { ensureDatabases } from '../databases.mjs';
import { environmentOf, INTERNAL_PAIRS, PROCESSES, SERVICES } from '../../processes/environment.mjs';
import { startMailSink } from '../mail-sink.mjs';
import { isNatsListening, startNats } from '../nats.mjs';
import { startPostgres } from '../postgres.mjs';
import { discardPostgres, sharedTemporaryFolder } from '../postgres-files.mjs';
import { isAlive } from '../../processes/process-records.mjs';
import { readSecrets } from '../../processes/secrets.mjs';

const folder = mkdtempSync(join(sharedTemporaryFolder(), 'rookery-servers-'));
after(() => rmSync(folder, { recursive: true, force: true }));

/**
 * @param {string | undefined} url
 * @param {string} text
 */
async function queryDatabase(url, text) {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    return (await client.query(text)).rows;
  } finally {
    await client.end();
  }
}

describe('the embedded PostgreSQL', () => {
  /** @type {import('../postgres.mjs').PostgresServer} */
  let server;
  /** @type {Record<string, string>} */
  let databases;
  /** @type {Record<string, string>} */
  let owners;
  /** @param {string} service */
  const urlOf = (service) => databases[service] ?? '';
  const secrets = readSecrets(folder);
  const start = () => startPostgres({ folder, password: secrets.postgres });

  before(async () => {
    server = await start();
    ({ databases, owners } = await ensureDatabases(server, secrets));
  });
  after(async () => {
    await server.stop();
    discardPostgres(folder);
  });

  it('gives each service a database to which no other role may connect', async () => {
    assert.deepEqual(Object.keys(databases), SERVICES);
    assert.deepEqual(await queryDatabase(databases.admin, 'SELECT current_user AS role'), [{ role: 'rookery_admin' }]);
    const foreign = urlOf('admin').replace(/rookery_admin(?=\?)/, 'rookery_identity');
    await assert.rejects(queryDatabase(foreign, 'SELECT 1'), /permission denied/);
  });

  it('lets the owner of a database alone create tables in it', async () => {
    assert.deepEqual(Object.keys(owners), SERVICES);
    assert.deepEqual(await queryDatabase(owners.admin, 'SELECT current_user AS role'), [
      { role: 'rookery_admin_owner' },
    ]);
    for (const statement of [
      'CREATE TABLE eggs (id int)',
      'CREATE SCHEMA eggs',
      'CREATE TEMPORARY TABLE eggs (id int)',
    ])
      await assert.rejects(queryDatabase(databases.admin, statement), /permission denied/);
    await queryDatabase(owners.admin, 'CREATE TABLE eggs (id int)');
    await assert.rejects(queryDatabase(databases.admin, 'DROP TABLE eggs'), /must be owner/);
    await assert.rejects(
      queryDatabase(owners.admin?.replace(/rookery_admin(?=\?)/, 'rookery_identity'), 'SELECT 1'),
      /denied/,
    );
  });

  it('gives a database of an earlier version, which its service owned, to the owner', async () => {
    await queryDatabase(server.url(), 'ALTER DATABASE rookery_package OWNER TO rookery_package');
    await queryDatabase(databases.package, 'CREATE SCHEMA queue; CREATE TABLE queue.eggs (id serial)');
    await queryDatabase(server.url(), 'REVOKE CONNECT ON DATABASE rookery_package FROM rookery_package_owner');
    ({ databases, owners } = await ensureDatabases(server, secrets));
    await assert.rejects(queryDatabase(databases.package, 'SELECT * FROM queue.eggs'), /permission denied/);
    await queryDatabase(owners.package, 'ALTER TABLE queue.eggs ADD COLUMN colour text; DROP SCHEMA queue CASCADE');
    assert.deepEqual(await queryDatabase(databases.package, 'SELECT current_user AS role'), [
      { role: 'rookery_package' },
    ]);
  });

  it('changes the password of an owner that the secrets do not have any more', async () => {
    ({ owners } = await ensureDatabases(server, { ...secrets, owners: { ...secrets.owners, admin: 'other' } }));
    await queryDatabase(owners.admin, 'SELECT 1');
    await assert.rejects(
      queryDatabase(owners.admin?.replace('other', secrets.owners.admin ?? ''), 'SELECT 1'),
      /authentication/,
    );
    ({ databases, owners } = await ensureDatabases(server, secrets));
  });

  it('refuses a wrong password', async () => {
    await assert.rejects(
      queryDatabase(urlOf('admin').replace(/:[^:@]+@/, ':wrong@'), 'SELECT 1'),
      /password authentication/,
    );
  });

  it('waits for the disk', async () => {
    assert.deepEqual(await queryDatabase(server.url(), 'SHOW fsync'), [{ fsync: 'on' }]);
  });

  it('keeps committed data after a SIGKILL, and ends the server that a dead supervisor left behind', async () => {
    await queryDatabase(owners.import, 'CREATE TABLE nests AS SELECT 1 AS id');
    server.kill();
    const left = await start();
    const next = await start();
    assert.equal(isAlive(left.record), false);
    server = next;
    ({ databases, owners } = await ensureDatabases(server, secrets));
    assert.deepEqual(await queryDatabase(owners.import, 'SELECT * FROM nests'), [{ id: 1 }]);
  });
});

it('nats-server restarts on its port, and a new start ends the server that a dead supervisor left behind', async () => {
  const first = await startNats({ folder: join(folder, 'nats') });
  await first.stop();
  assert.equal(await isNatsListening(first.port), false);
  await first.start();
  assert.equal(await isNatsListening(first.port), true);
  const second = await startNats({ folder: join(folder, 'nats') });
  assert.equal(isAlive(first.record), false);
  await second.stop();
});

it('nats-server of an estate refuses clients without its passwords, and limits a service to its own subjects', async () => {
  const passwords = readSecrets(folder).bus;
  const server = await startNats({ folder: join(folder, 'accounts'), passwords });
  /** @type {(user?: string, pass?: string) => Promise<import('nats').NatsConnection>} */
  const enter = (user, pass) =>
    connect({ servers: `127.0.0.1:${server.port}`, user, pass, inboxPrefix: `_INBOX_${user}`, reconnect: false });
  try {
    for (const [user, pass] of [[], ['import', passwords.admin], ['unknown', passwords.import]])
      await assert.rejects(enter(user, pass), /Authorization Violation/i);
    for (const name of SERVICES) {
      const connection = await enter(name, passwords[name]);
      for (const other of SERVICES.filter((one) => one !== name))
        for (const subject of [`${other}.x.y.v1`, `$JS.API.STREAM.DELETE.${other.toUpperCase()}`])
          await assert.rejects(
            connection.request(subject, '{}', { timeout: 20_000 }),
            /Permissions Violation/i,
            subject,
          );
      await assert.rejects(connection.request(`${name}.x.y.v1`, '{}', { timeout: 20_000 }), /503|no responders/i);
      await connection.close();
    }
  } finally {
    await server.stop();
  }
});

it('the mail sink stores a message with its envelope before it acknowledges', async () => {
  const mail = join(folder, 'mail');
  const sink = await startMailSink({ folder: mail });
  const transport = createTransport(sink.url);
  await transport.sendMail({
    from: 'a@example.org',
    to: 'b@example.org',
    bcc: 'c@example.org',
    subject: 'Nest',
    text: 'Hm',
  });
  const [file = '', ...others] = readdirSync(mail);
  assert.deepEqual(others, []);
  const text = readFileSync(join(mail, file), 'utf8');
  assert.match(
    text,
    /^X-Envelope-From: a@example.org\r\nX-Envelope-To: b@example.org\r\nX-Envelope-To: c@example.org\r\n/,
  );
  assert.match(text, /Subject: Nest/);
  transport.close();
  await sink.stop();
});

describe('the environment of a process', () => {
  const ports = Object.fromEntries(PROCESSES.map((name, index) => [name, { http: 1 + index, management: 11 + index }]));
  const databases = Object.fromEntries(SERVICES.map((service) => [service, `postgres://${service}`]));
  /**
   * @param {Record<string, string>} env
   * @returns {import('../../processes/environment.mjs').EstateFacts}
   */
  const estate = (env) => ({
    env,
    ports,
    databases,
    owners: Object.fromEntries(SERVICES.map((service) => [service, `postgres://owner-of-${service}`])),
    host: '0.0.0.0',
    externalUrl: 'http://localhost:6',
    natsUrls: Object.fromEntries(SERVICES.map((service) => [service, `nats://${service}:p@own`])),
    smtpUrl: 'smtp://own',
    secrets: {
      contextKeys: Object.fromEntries(SERVICES.map((service) => [service, `k1/${service}:x`])),
      internalKeys: Object.fromEntries(INTERNAL_PAIRS.map((pair) => [pair.join('/'), `k1/${pair.join('/')}:x`])),
      session: 'seals-cookies',
    },
  });

  it('contains its own database only, and never the token of root', () => {
    const env = {
      DATABASE_URL_ADMIN: 'postgres://other',
      ROOKERY_ROOT_TOKEN: 'x',
      ROOKERY_DATA: '/x',
      RATE_LIMITS: 'off',
    };
    const given = environmentOf('identity', estate(env));
    const keys = Object.keys(given).filter((key) => key.startsWith('DATABASE_URL') || key.startsWith('ROOKERY_'));
    assert.deepEqual(keys.sort(), [
      'DATABASE_URL_IDENTITY',
      'ROOKERY_CONTEXT_KEYS',
      'ROOKERY_EXTERNAL_URL',
      'ROOKERY_INTERNAL_KEYS',
    ]);
    assert.equal(given.DATABASE_URL_IDENTITY, 'postgres://identity');
    assert.equal(given.RATE_LIMITS, 'off');
    assert.equal(environmentOf('admin', estate(env)).DATABASE_URL_ADMIN, 'postgres://other');
  });

  it('contains no variable that all processes lack, and only its own share of restricted variables', () => {
    const databases = SERVICES.map((service) => `DATABASE_URL_${service.toUpperCase()}`);
    const BUCKET = ['AWS_ACCESS_KEY_ID', 'AWS_SECRET_ACCESS_KEY', 'AWS_SESSION_TOKEN'];
    const withheld = ['ROOKERY_CONTEXT_KEYS', 'ROOKERY_INTERNAL_KEYS', 'ROOKERY_ROOT_TOKEN'];
    const restricted = [...databases, 'NATS_URL', 'SMTP_URL', 'GEO_SHARED_SECRET', ...BUCKET];
    const env = Object.fromEntries(
      [...withheld, ...restricted].flatMap((key) => [key, `${key}_FILE`]).map((key) => [key, `canary of ${key}`]),
    );
    for (const name of PROCESSES) {
      const given = Object.entries(environmentOf(name, estate(env)));
      const wanted = [
        ...(name === 'gateway' ? [] : [`DATABASE_URL_${name.toUpperCase()}`, 'NATS_URL']),
        ...(name === 'collaboration' ? ['SMTP_URL'] : []),
        ...(name === 'admin' ? ['GEO_SHARED_SECRET'] : []),
        ...(name === 'package' ? BUCKET : []),
      ].flatMap((key) => [key, `${key}_FILE`]);
      const passed = given.filter(([, value]) => value?.includes('canary')).map(([key]) => key);
      assert.deepEqual([name, ...passed.sort()], [name, ...wanted.sort()]);
    }
  });

  it('contains the folder of files in the service that stores them, unless the operator names another', () => {
    /** @type {(name: string, env: Record<string, string>) => string | undefined} */
    const of = (name, env) => environmentOf(name, { ...estate(env), blobsUrl: '/data/blobs' }).BLOBS_URL;
    const recipients = PROCESSES.filter((name) => of(name, {}) === '/data/blobs');
    assert.deepEqual([recipients, of('package', { BLOBS_URL: 's3://bucket' })], [['package'], 's3://bucket']);
  });

  it('contains the secret of geo sites only in admin, which sends requests to them', () => {
    const env = { GEO_SHARED_SECRET: 'x', GEO_SHARED_SECRET_FILE: '/x' };
    const recipients = PROCESSES.filter((name) =>
      Object.keys(environmentOf(name, estate(env))).some((key) => key in env),
    );
    assert.deepEqual(recipients, ['admin']);
  });

  it('contains its own key of the request context and its own account of the bus; the gateway has all keys', () => {
    for (const service of SERVICES) {
      const given = environmentOf(service, estate({ ROOKERY_CONTEXT_KEYS: 'k0:master' }));
      assert.equal(given.ROOKERY_CONTEXT_KEYS, `k1/${service}:x`);
      assert.equal(given.NATS_URL, `nats://${service}:p@own`);
      assert.equal(given.SMTP_URL, service === 'collaboration' ? 'smtp://own' : undefined);
    }
    const { ROOKERY_CONTEXT_KEYS: keys, NATS_URL: bus } = environmentOf('gateway', estate({}));
    assert.deepEqual([keys?.split(',').length, bus], [SERVICES.length, undefined]);
  });

  it('contains the keys of the calls that it makes or answers, and no others', () => {
    /** @param {string} name */
    const keysOf = (name) =>
      environmentOf(name, estate({ ROOKERY_INTERNAL_KEYS: 'k0/a/b:x' }))
        .ROOKERY_INTERNAL_KEYS?.split(',')
        .sort();
    /** @param {...string} pairs */
    const of = (...pairs) => pairs.map((pair) => `k1/${pair}:x`).sort();
    assert.deepEqual(keysOf('gateway'), of('gateway/identity'));
    assert.deepEqual(
      keysOf('import'),
      of('import/identity', 'import/collaboration', 'import/package', 'identity/import'),
    );
    assert.deepEqual(
      keysOf('package'),
      of('package/identity', 'package/collaboration', 'package/admin', 'identity/package', 'import/package'),
    );
    assert.deepEqual(
      keysOf('collaboration'),
      of(
        ...['collaboration/identity', 'collaboration/admin', 'identity/collaboration'],
        ...['import/collaboration', 'package/collaboration'],
      ),
    );
    assert.deepEqual(keysOf('admin'), of('admin/identity', 'identity/admin', 'collaboration/admin', 'package/admin'));
    const callees = ['gateway', 'collaboration', 'import', 'package', 'admin'].map((name) => `${name}/identity`);
    assert.deepEqual(
      keysOf('identity'),
      of(...callees, 'identity/collaboration', 'identity/package', 'identity/import', 'identity/admin'),
    );
  });

  it('leaves out variables that the operator gives as files', () => {
    const given = environmentOf(
      'collaboration',
      estate({ DATABASE_URL_COLLABORATION_FILE: '/run/secret', SMTP_URL: 'smtp://relay' }),
    );
    assert.equal(given.DATABASE_URL_COLLABORATION, undefined);
    assert.equal(given.SMTP_URL, 'smtp://relay');
  });

  it('contains the addresses of all services in the gateway, and services listen on loopback', () => {
    const given = environmentOf('gateway', estate({}));
    assert.deepEqual(
      SERVICES.map((service) => given[`GATEWAY_UPSTREAM_${service.toUpperCase()}`]),
      SERVICES.map((service) => `http://127.0.0.1:${ports[service]?.http}`),
    );
    assert.equal(given.HOST, '0.0.0.0');
    assert.equal(environmentOf('identity', estate({})).HOST, '127.0.0.1');
  });
});

it('an estate with older secrets generates missing keys, and keeps the others', () => {
  const own = mkdtempSync(join(folder, 'older-'));
  const { internalKeys, ...others } = readSecrets(own);
  const { 'gateway/identity': dropped, ...left } = internalKeys;
  writeFileSync(join(own, 'secrets.json'), JSON.stringify({ ...others, internalKeys: left, internalSecret: 'shared' }));
  const read = readSecrets(own);
  assert.deepEqual({ ...read, internalKeys: null }, { ...others, internalKeys: null });
  const { 'gateway/identity': made, ...kept } = read.internalKeys;
  assert.deepEqual(kept, left);
  assert.match(made ?? '', /^k1\/gateway\/identity:/);
  assert.notEqual(made, dropped);
  assert.equal(new Set(Object.values(read.internalKeys).map((key) => key.split(':')[1])).size, INTERNAL_PAIRS.length);
  assert.doesNotMatch(readFileSync(join(own, 'secrets.json'), 'utf8'), /shared/);
});

it('each service and each pair of caller and callee has its own key', () => {
  const { contextKeys, internalKeys } = readSecrets(mkdtempSync(join(folder, 'keys-')));
  for (const service of SERVICES) assert.ok(contextKeys[service]?.startsWith(`k1/${service}:`));
  const keys = [...Object.values(contextKeys), ...Object.values(internalKeys)].map((key) => key.split(':')[1]);
  assert.equal(new Set(keys).size, SERVICES.length + INTERNAL_PAIRS.length);
});

it('secrets are generated once, and only their owner may read them', () => {
  assert.deepEqual(readSecrets(folder), readSecrets(folder));
  assert.match(readSecrets(folder).rootToken, /^glpat-[A-Za-z0-9]{20}$/);
  if (process.platform !== 'win32')
    assert.match(execFileSync('ls', ['-l', join(folder, 'secrets.json')], { encoding: 'utf8' }), /^-rw-------/);
});

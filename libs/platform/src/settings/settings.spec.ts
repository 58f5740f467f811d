import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describeSettings } from './describe-settings';
import { platformSettings } from '../boot/platform.settings';
import { setting } from './setting';
import { ConfigurationError, defineSettings, readSettings, pickSettings } from './settings';
import type { SettingsOf } from './settings';

const outbox = defineSettings('outbox', {
  pollMs: setting.int('OUTBOX_POLL_MS', { default: 250, min: 10, max: 60_000, about: 'Pause between two looks.' }),
  name: setting.text('OUTBOX_NAME', { about: 'A name.' }),
  label: setting.text('OUTBOX_LABEL', { default: null, about: 'A label.' }),
  isOn: setting.flag('OUTBOX_ENABLED', { default: true, about: 'Whether it runs.' }),
  mode: setting.choice('OUTBOX_MODE', ['fast', 'safe'], { default: 'safe', about: 'How.' }),
  hosts: setting.list('OUTBOX_HOSTS', { default: [], about: 'Where.' }),
  target: setting.url('OUTBOX_TARGET', { default: null, protocols: ['nats', 'tls'], about: 'To whom.' }),
  key: setting.secret('OUTBOX_KEY', { default: null, about: 'A key.' }),
});

const read = (env: Record<string, string>): SettingsOf<typeof outbox> =>
  pickSettings(readSettings([outbox], env), outbox);

function problemsOf(env: Record<string, string>, definitions = [outbox]): readonly string[] {
  try {
    readSettings(definitions, env);
  } catch (error) {
    if (error instanceof ConfigurationError) return error.problems;
    throw error;
  }
  return [];
}

describe('settings', () => {
  const folder = mkdtempSync(join(tmpdir(), 'rookery-settings-'));
  afterAll(() => rmSync(folder, { recursive: true }));

  it('have types and defaults', () => {
    const settings = read({ OUTBOX_NAME: 'n' });
    const pollMs: number = settings.pollMs;
    const label: string | null = settings.label;
    expect({ ...settings, pollMs, label }).toEqual({
      pollMs: 250,
      name: 'n',
      label: null,
      isOn: true,
      mode: 'safe',
      hosts: [],
      target: null,
      key: null,
    });
  });

  it('read a cron schedule', () => {
    const tidy = defineSettings('tidy', {
      cron: setting.cron('OUTBOX_TIDY_CRON', { default: '*/10 * * * *', about: 'When it is tidied.' }),
    });
    const of = (line: string) => problemsOf({ OUTBOX_TIDY_CRON: line }, [tidy as never]);
    expect(pickSettings(readSettings([tidy], {}), tidy).cron).toBe('*/10 * * * *');
    for (const line of ['* * * * *', '0,30 4-6 */2 1 0', '5  3 1-7/2 * 1,3']) expect(of(line)).toEqual([]);
    for (const line of ['* * * *', '* * * * * *', 'daily', '*/x * * * *'])
      expect(of(line)).toEqual(['OUTBOX_TIDY_CRON is not a line of cron']);
  });

  it('read lists of ids', () => {
    const people = defineSettings('people', {
      ids: setting.ids('OUTBOX_PEOPLE', { default: [], about: 'Who.' }),
    });
    const of = (text: string) => pickSettings(readSettings([people], { OUTBOX_PEOPLE: text }), people).ids;
    expect([of(''), of('7, 12,,')]).toEqual([[], [7, 12]]);
    for (const text of ['wren', '0', '-1', '1.5', '1 2', '1234567890123456'])
      expect(problemsOf({ OUTBOX_PEOPLE: text }, [people as never])).toEqual(['OUTBOX_PEOPLE is not a list of ids']);
  });

  it('accept `none` for a URL with `orNone`', () => {
    const away = defineSettings('away', {
      url: setting.url('OUTBOX_AWAY', { default: 'http://x', orNone: true, about: 'Where.' }),
    });
    const of = (env: Record<string, string>) => pickSettings(readSettings([away], env), away).url;
    expect([of({}), of({ OUTBOX_AWAY: 'none' })]).toEqual(['http://x', null]);
    expect(problemsOf({ OUTBOX_NAME: 'n', OUTBOX_TARGET: 'none' })).toEqual(['OUTBOX_TARGET is not an absolute URL']);
  });

  it('read every type', () => {
    expect(
      read({
        OUTBOX_POLL_MS: ' 10 ',
        OUTBOX_NAME: 'relay',
        OUTBOX_LABEL: 'x',
        OUTBOX_ENABLED: 'OFF',
        OUTBOX_MODE: 'fast',
        OUTBOX_HOSTS: 'a:1, b:2,,',
        OUTBOX_TARGET: 'nats://bus:4222/',
        OUTBOX_KEY: 'k',
      }),
    ).toEqual({
      pollMs: 10,
      name: 'relay',
      label: 'x',
      isOn: false,
      mode: 'fast',
      hosts: ['a:1', 'b:2'],
      target: 'nats://bus:4222',
      key: 'k',
    });
  });

  it('count an empty variable as absent', () => {
    expect(read({ OUTBOX_NAME: 'n', OUTBOX_POLL_MS: '', OUTBOX_LABEL: ' ' })).toMatchObject({
      pollMs: 250,
      label: null,
    });
  });

  it('list all problems together, including unknown variables with our prefixes', () => {
    expect(
      problemsOf({
        OUTBOX_POLL_MS: '1e3',
        OUTBOX_ENABLED: 'maybe',
        OUTBOX_MODE: 'slow',
        OUTBOX_TARGET: 'http://bus',
        OUTBOX_POL_MS: '5',
        ROOKERY_EXTRENAL_URL: 'http://x',
        ROOKERY_SOMETHING_ELSE: '1',
        OTHER_POLL_MS: '5',
      }),
    ).toEqual([
      'OUTBOX_POLL_MS is not a whole number',
      'OUTBOX_NAME is missing: A name.',
      'OUTBOX_ENABLED is neither on nor off',
      'OUTBOX_MODE is not one of fast, safe',
      'OUTBOX_TARGET is not a URL of nats or tls',
      'OUTBOX_POL_MS is not known; is OUTBOX_POLL_MS meant?',
      'ROOKERY_EXTRENAL_URL is not known; is ROOKERY_EXTERNAL_URL meant?',
      'ROOKERY_SOMETHING_ELSE is not known',
    ]);
  });

  it('name the range of a number that is out of it', () => {
    expect(problemsOf({ OUTBOX_NAME: 'n', OUTBOX_POLL_MS: '9' })).toEqual([
      'OUTBOX_POLL_MS is out of range (10 to 60000)',
    ]);
  });

  it('check a prefix only where it is declared, and ignore service links', () => {
    const env = {
      OUTBOX_NAME: 'n',
      GATEWAY_AUTH_LEASE_MS: '0',
      OUTBOX_SERVICE_HOST: '10.0.0.1',
      OUTBOX_PORT_8080_TCP_ADDR: '10.0.0.1',
      OUTBOX_PORT: 'tcp://10.0.0.1:8080',
    };
    expect(problemsOf(env)).toEqual([]);
  });

  it('read a secret from a file, without the line end', () => {
    const file = join(folder, 'key');
    writeFileSync(file, 'canary-secret\n');
    expect(read({ OUTBOX_NAME: 'n', OUTBOX_KEY_FILE: file }).key).toBe('canary-secret');
    expect(problemsOf({ OUTBOX_NAME: 'n', OUTBOX_KEY_FILE: file, OUTBOX_KEY: 'x' })).toEqual([
      'OUTBOX_KEY and OUTBOX_KEY_FILE are both set',
    ]);
    expect(problemsOf({ OUTBOX_NAME: 'n', OUTBOX_KEY_FILE: join(folder, 'none') })).toEqual([
      `OUTBOX_KEY_FILE cannot be read (ENOENT: ${join(folder, 'none')})`,
    ]);
  });

  it('never show a secret in a problem', () => {
    const env = { ROOKERY_INTERNAL_KEYS: 'k1/admin/identity:canary', ROOKERY_CONTEXT_KEYS: 'k1:canary' };
    const problems = problemsOf(env, [platformSettings] as never);
    expect(problems).toEqual([
      'ROOKERY_INTERNAL_KEYS is unusable: key k1/admin/identity is not base64 of at least 32 bytes',
      'ROOKERY_CONTEXT_KEYS is unusable: key k1 is not base64 of at least 32 bytes',
    ]);
    expect(problems.join()).not.toContain('canary');
  });

  it('describe themselves', () => {
    expect(describeSettings([outbox, outbox])).toHaveLength(8);
    expect(describeSettings([outbox])[0]).toEqual({
      area: 'outbox',
      env: 'OUTBOX_POLL_MS',
      field: 'pollMs',
      type: 'integer',
      isRequired: false,
      defaultText: '250',
      unit: 'milliseconds',
      allowed: '10 to 60000',
      fileTwin: undefined,
      about: 'Pause between two looks.',
    });
    expect(describeSettings([outbox]).at(-1)).toMatchObject({ fileTwin: 'OUTBOX_KEY_FILE', defaultText: '' });
  });
});

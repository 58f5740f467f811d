import { hostname } from 'node:os';
import { describeSettings } from '../settings/describe-settings';
import { platformSettings } from './platform.settings';
import { readSettings, pickSettings } from '../settings/settings';

describe('platform settings', () => {
  it('have exactly these defaults', () => {
    const ROOKERY_CONTEXT_KEYS = `k1:${Buffer.alloc(32, 7).toString('base64')}`;
    const ROOKERY_INTERNAL_KEYS = `k1/admin/identity:${Buffer.alloc(32, 8).toString('base64')}`;
    const env = { ROOKERY_INTERNAL_KEYS, ROOKERY_CONTEXT_KEYS };
    expect(pickSettings(readSettings([platformSettings], env), platformSettings)).toEqual({
      logLevel: 'info',
      port: 8080,
      host: '0.0.0.0',
      managementHost: '0.0.0.0',
      managementPort: 9090,
      externalUrl: 'http://localhost:8080',
      internalKeys: ROOKERY_INTERNAL_KEYS,
      contextKeys: ROOKERY_CONTEXT_KEYS,
      identityUrl: 'http://identity:8080',
      collaborationUrl: 'http://collaboration:8080',
      packageUrl: 'http://package:8080',
      importUrl: 'http://import:8080',
      directoryWaitMs: 150,
      requestRightsMs: 1000,
      adminUrl: 'http://admin:8080',
      shutdownDelayMs: 5000,
      shutdownGraceMs: 30_000,
      strictParameters: false,
      otlpEndpoint: null,
      instanceId: `${hostname()}-${process.pid}`,
    });
  });

  it('are described in sentences', () => {
    const unfinished = describeSettings([platformSettings]).filter((line) => !/^[A-Z].*\.$/.test(line.about));
    expect(unfinished).toEqual([]);
  });
});

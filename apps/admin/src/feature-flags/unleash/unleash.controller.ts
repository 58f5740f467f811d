import { createHash } from 'node:crypto';
import { Controller } from '@nestjs/common';
import type { Call, FileAnswer } from '@rookery/api-v4';
import { anyone, emptyOk, Endpoint, file } from '@rookery/api-v4';
import { Database } from '@rookery/persistence';
import { FeatureFlagsClientsService } from '../../feature-flags-clients/feature-flags-clients.service';
import { findStrategiesForUnleashClients } from '../feature-flags.queries';
import { CLIENT_FEATURES, toUnleashFeatures } from './client-features';
import { IdentifyUnleashClient } from './unleash.dto';

/** Clients authenticate by the token of the project. Access tokens have no effect here. */
const SHARED = {
  source: 'reference packages-and-admin 9.3',
  may: anyone(),
  tokenScopes: 'any',
  params: IdentifyUnleashClient,
  fails: [401],
} as const;
const BASE = '/feature_flags/unleash/:project_id';

/** Endpoints for unmodified Unleash clients. */
@Controller()
export class UnleashController {
  constructor(
    private readonly clients: FeatureFlagsClientsService,
    private readonly database: Database,
  ) {}

  @Endpoint('GET', BASE, { ...SHARED, about: 'Checks the token of an Unleash client.', answers: emptyOk() })
  async check(call: Call<IdentifyUnleashClient>): Promise<void> {
    await this.findRevision(call);
  }

  @Endpoint('GET', `${BASE}/client/features`, {
    ...SHARED,
    about: 'Returns the feature flags of a project for Unleash clients of one environment.',
    aliases: [`${BASE}/features`],
    answers: file('application/json', CLIENT_FEATURES),
    fails: [304, 401],
  })
  async features(call: Call<IdentifyUnleashClient>): Promise<FileAnswer> {
    const { params, knownVersions } = call;
    const environment = params.app_name ?? '';
    const revision = await this.findRevision(call);
    const version = `${revision}-${createHash('sha256').update(environment).digest('hex').slice(0, 16)}`;
    const mediaType = 'application/json';
    if (knownVersions.has(version)) return { stream: null, mediaType, version };
    const rows = await findStrategiesForUnleashClients(this.database, Number(params.project_id));
    const features = toUnleashFeatures(rows, environment);
    return { stream: Buffer.from(JSON.stringify({ version: 1, features })), mediaType, version };
  }

  @Endpoint('POST', `${BASE}/client/register`, {
    ...SHARED,
    about: 'Accepts the registration of an Unleash client. Nothing is stored.',
    answers: emptyOk(),
  })
  async register(call: Call<IdentifyUnleashClient>): Promise<void> {
    await this.findRevision(call);
  }

  @Endpoint('POST', `${BASE}/client/metrics`, {
    ...SHARED,
    about: 'Accepts the metrics of an Unleash client. Nothing is stored.',
    answers: emptyOk(),
  })
  async metrics(call: Call<IdentifyUnleashClient>): Promise<void> {
    await this.findRevision(call);
  }

  /** Errors: Unauthorized, also for a path in place of the project id. */
  private findRevision({ viewer, params }: Call<IdentifyUnleashClient>): Promise<number> {
    const { project_id: id, instance_id: token } = params;
    return this.clients.findRevision(viewer, typeof id === 'number' ? id : undefined, token);
  }
}

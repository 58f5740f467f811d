import { Inject, Injectable } from '@nestjs/common';
import type { EgressAnswer } from '@rookery/egress';
import { Egress, EgressError } from '@rookery/egress';
import type { Clock } from '@rookery/kernel';
import { CLOCK } from '@rookery/kernel';
import type { GeoSettings } from '../geo-sites.config';
import { geoSettings } from '../geo-sites.config';
import { GEO_SIGNATURE_HEADER, GEO_STATUS_PATH, signGeoRequest } from './geo-signature';
import { parseGeoStatusAnswer, unhealthyResult } from './site-status';
import type { ProbeResult } from './site-status';

/** Limits of a status request to another site. Its times are well within the deadline of the API request that waits for it. */
const LIMITS = { bodyBytes: 64 * 1024, firstByteMs: 5000, totalMs: 5000, redirects: 0 };

/** Requests the status of another site. */
@Injectable()
export class SiteStatusClient {
  constructor(
    private readonly egress: Egress,
    @Inject(geoSettings.token) private readonly settings: GeoSettings,
    @Inject(CLOCK) private readonly clock: Clock,
  ) {}

  /**
   * Fetches the status of a site. `address` ends with a slash. Failures of the site are results, not errors. Errors:
   * the reason of the signal.
   */
  async fetchStatus(address: string, signal?: AbortSignal): Promise<ProbeResult> {
    const { sharedSecret } = this.settings;
    if (sharedSecret === null) return unhealthyResult('GEO_SHARED_SECRET is not set, so no site can be asked.');
    try {
      return toGeoSiteProbeResult(
        await this.egress.request({
          url: `${address}${GEO_STATUS_PATH.slice(1)}`,
          headers: { [GEO_SIGNATURE_HEADER]: signGeoRequest(sharedSecret, this.clock.now()) },
          limits: LIMITS,
          ...(signal ? { signal } : {}),
        }),
      );
    } catch (error) {
      if (error instanceof EgressError) return unhealthyResult(error.message);
      throw error;
    }
  }
}

function toGeoSiteProbeResult({ status, body }: EgressAnswer): ProbeResult {
  if (status === 401) return unhealthyResult('The site knows another GEO_SHARED_SECRET or another time (401).');
  if (status !== 200) return unhealthyResult(`The site answered ${status}.`);
  return (
    parseGeoStatusAnswer(parseJsonOrUndefined(body)) ??
    unhealthyResult('The site answered something that is no status.')
  );
}

function parseJsonOrUndefined(body: Buffer): unknown {
  try {
    return JSON.parse(body.toString());
  } catch {
    return undefined;
  }
}

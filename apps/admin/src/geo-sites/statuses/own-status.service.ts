import { Inject, Injectable } from '@nestjs/common';
import type { Clock } from '@rookery/kernel';
import { CLOCK, Unauthorized } from '@rookery/kernel';
import type { GeoSettings } from '../geo-sites.config';
import { geoSettings } from '../geo-sites.config';
import { isSignedGeoRequest } from './geo-signature';
import { OwnGeoStatusQueries } from './own-status.queries';
import { healthyResult } from './site-status';
import type { SiteStatus } from './site-status';

/**
 * Status of this estate for another site. That site knows itself whether this one is the primary and what it copies.
 */
@Injectable()
export class OwnGeoStatusService {
  constructor(
    private readonly own: OwnGeoStatusQueries,
    @Inject(geoSettings.token) private readonly settings: GeoSettings,
    @Inject(CLOCK) private readonly clock: Clock,
  ) {}

  /** Errors: Unauthorized for a wrong signature, and without a configured secret. */
  async report(signature: string | undefined): Promise<SiteStatus> {
    if (!isSignedGeoRequest(signature, this.settings.sharedSecret, this.clock)) throw new Unauthorized();
    const measured = await this.own.measure();
    const now = this.clock.now();
    const unknownHere = { siteId: null, isPrimary: false, selectiveSyncType: null, namespaces: [] };
    return { ...unknownHere, found: healthyResult(measured), checkedAt: now, healthyAt: now };
  }
}

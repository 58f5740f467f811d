import { createHmac, timingSafeEqual } from 'node:crypto';
import type { Clock } from '@rookery/kernel';

/** Header by which a site proves that it knows the shared secret. Source: reference packages-and-admin 8.4. */
export const GEO_SIGNATURE_HEADER = 'rookery-geo-signature';
/** Path of the status, relative to the address of a site. */
export const GEO_STATUS_PATH = '/-/geo/status';

/** Maximum clock skew between sites, and lifetime of a signature. Units: milliseconds. */
const SKEW_MS = 60_000;
const SIGNED = /^t=(\d{13}),v1=([0-9a-f]{64})$/;

/** Returns the signature of a status request: `t=<epoch milliseconds>,v1=<hex>`. It is valid for one minute. */
export function signGeoRequest(secret: string, now: Date): string {
  const time = String(now.getTime());
  return `t=${time},v1=${computeGeoStatusRequestMac(secret, time).toString('hex')}`;
}

/** Verifies a signature in constant time. A site without a secret accepts none. */
export function isSignedGeoRequest(signature: string | undefined, secret: string | null, clock: Clock): boolean {
  const [, time, given] = SIGNED.exec(signature ?? '') ?? [];
  if (secret === null || time === undefined || given === undefined) return false;
  const isGood = timingSafeEqual(Buffer.from(given, 'hex'), computeGeoStatusRequestMac(secret, time));
  return isGood && Math.abs(clock.now().getTime() - Number(time)) <= SKEW_MS;
}

function computeGeoStatusRequestMac(secret: string, time: string): Buffer {
  return createHmac('sha256', secret).update(`GET ${GEO_STATUS_PATH} ${time}`).digest();
}

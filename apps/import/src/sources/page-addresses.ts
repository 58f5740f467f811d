import { UpstreamError } from './upstream-error';

/** Units: characters. */
const MAX_ADDRESS = 4096;

/** Errors: UpstreamError for the address of a page outside the API, because it gets the credential. */
export function assertInsideApi(address: string, api: string): void {
  if (!isBelowApi(address, api) || address.length > MAX_ADDRESS) {
    throw new UpstreamError('address', 'Invalid pagination URL.');
  }
}

function isBelowApi(address: string, apiUrl: string): boolean {
  if (!URL.canParse(address)) return false;
  const [one, base] = [new URL(address), new URL(apiUrl)];
  const path = base.pathname.replace(/\/+$/, '');
  return (
    one.origin === base.origin && one.username === '' && one.password === '' && one.pathname.startsWith(`${path}/`)
  );
}

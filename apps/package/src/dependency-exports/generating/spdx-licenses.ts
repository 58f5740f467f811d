import spdxLicenses from 'spdx-license-list';
import type { ComponentLicense } from '../reports/dependency-component.entity';

/** A license as lists show it. Source: reference packages-and-admin 6.3. */
export interface SpdxLicense {
  readonly name: string;
  readonly spdx_identifier: string | null;
  readonly url: string | null;
}

/** Returns a license with its full name and the page about it. */
export function toSpdxLicense({ spdx, name }: ComponentLicense): SpdxLicense {
  if (spdx === null) return { name: name!, spdx_identifier: null, url: null };
  return { name: spdxLicenses[spdx]?.name ?? spdx, spdx_identifier: spdx, url: licenseUrl(spdx) };
}

/** Returns the licenses of a component in the form of CycloneDX. */
export function cycloneDxLicenses(licenses: readonly ComponentLicense[]): readonly object[] {
  return licenses.map(({ spdx, name }) => ({
    license: spdx === null ? { name } : { id: spdx, url: licenseUrl(spdx) },
  }));
}

function licenseUrl(spdx: string): string {
  return `https://spdx.org/licenses/${spdx}.html`;
}

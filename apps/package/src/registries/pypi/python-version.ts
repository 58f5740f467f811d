/**
 * Versions of Python packages. Digits stay text: as numbers, long ones would lose their last digits and different versions
 * would be equal. Source: reference packages-and-admin 4.5 (PEP 440).
 */
const VERSION = new RegExp(
  String.raw`^v?(?:(?<epoch>\d+)!)?(?<release>\d+(?:\.\d+)*)` +
    String.raw`(?:[-_.]?(?<pre>alpha|a|beta|b|preview|pre|c|rc)(?:[-_.]?(?<preNumber>\d+))?)?` +
    String.raw`(?:-(?<bare>\d+)|[-_.]?(?<post>post|rev|r)(?:[-_.]?(?<postNumber>\d+))?)?` +
    String.raw`(?:[-_.]?(?<dev>dev)(?:[-_.]?(?<devNumber>\d+))?)?` +
    String.raw`(?:\+(?<local>[a-z0-9]+(?:[-_.][a-z0-9]+)*))?$`,
  'i',
);
const PRE_NAMES: Readonly<Record<string, string>> = { alpha: 'a', beta: 'b', c: 'rc', pre: 'rc', preview: 'rc' };

/** Units: characters. */
const MAX_LENGTH = 255;

/** Returns a text that is the same for equal versions: `1.0`, `1.0.0` and `v1` are equal. Null for an invalid version. */
export function normalizePypiVersion(version: string): string | null {
  const parts = version.length <= MAX_LENGTH ? VERSION.exec(version.trim().toLowerCase())?.groups : undefined;
  if (!parts) return null;
  const { epoch = '0', release, pre, preNumber, bare, post, postNumber, dev, devNumber, local } = parts;
  const numbers = release!
    .split('.')
    .map(stripLeadingZeros)
    .join('.')
    .replace(/(?:\.0)+$/, '');
  return [
    `${stripLeadingZeros(epoch)}!${numbers}`,
    pre === undefined ? '' : `${PRE_NAMES[pre] ?? pre}${stripLeadingZeros(preNumber)}`,
    bare === undefined && post === undefined ? '' : `.post${stripLeadingZeros(bare ?? postNumber)}`,
    dev === undefined ? '' : `.dev${stripLeadingZeros(devNumber)}`,
    local === undefined ? '' : `+${local.split(/[-_.]/).map(normalizeLocalVersionPart).join('.')}`,
  ].join('');
}

function stripLeadingZeros(digits = '0'): string {
  return digits.replace(/^0+(?=\d)/, '');
}

function normalizeLocalVersionPart(part: string): string {
  return /^\d+$/.test(part) ? stripLeadingZeros(part) : part;
}

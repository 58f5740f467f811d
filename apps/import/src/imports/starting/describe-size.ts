const UNITS = ['Bytes', 'KiB', 'MiB', 'GiB', 'TiB'] as const;
const STEP = 1024;

/** Describes a size with at most three digits: `1.2 GiB`. Units: bytes. */
export function describeSize(bytes: number): string {
  const exponent = bytes < 1 ? 0 : Math.min(UNITS.length - 1, Math.floor(Math.log(bytes) / Math.log(STEP)));
  return `${Number((bytes / STEP ** exponent).toPrecision(3))} ${UNITS[exponent]}`;
}

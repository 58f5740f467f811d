import type { Signature } from '@rookery/git';

/** Time of a commit whose date no clock can show. Git accepts any number of seconds. */
const NO_TIME = '1970-01-01T00:00:00.000';

/** ISO 8601 in UTC with milliseconds. */
export function formatCommitTimeUtc({ seconds }: Pick<Signature, 'seconds'>): string {
  const time = new Date(seconds * 1000);
  return Number.isNaN(time.getTime()) ? `${NO_TIME}Z` : time.toISOString();
}

/** ISO 8601 with milliseconds in the zone of the person, such as `2012-09-20T11:50:22.000+03:00`. */
export function formatCommitTimeZoned({
  seconds,
  offsetMinutes,
}: Pick<Signature, 'seconds' | 'offsetMinutes'>): string {
  const local = new Date((seconds + offsetMinutes * 60) * 1000);
  if (Number.isNaN(local.getTime())) return `${NO_TIME}+00:00`;
  const minutes = Math.abs(offsetMinutes);
  const part = (value: number): string => String(value).padStart(2, '0');
  const zone = `${offsetMinutes < 0 ? '-' : '+'}${part(Math.floor(minutes / 60))}:${part(minutes % 60)}`;
  return `${local.toISOString().slice(0, -1)}${zone}`;
}

/** With what and from where something is made, as parameters hold it; told to administrators alone. */
export interface WrittenFrom {
  readonly user_agent?: string;
  readonly ip_address?: string;
}
/** The same as things keep it in their row. */
export interface KeptOrigin {
  readonly userAgent: string | null;
  readonly ipAddress: string | null;
}
export type ToldOrigin = { readonly [K in 'user_agent' | 'ip_address']: string | null };

/** Of the parameters that say it. */
export const WITH_WHAT = {
  optional: true,
  in: 'header',
  header: 'user-agent',
  about: 'Kept for administrators.',
} as const;
export const FROM_WHERE = {
  optional: true,
  in: 'header',
  header: 'x-forwarded-for',
  about: 'Set by the gateway.',
} as const;

/** Units: characters. Source: reference work-tracking 9.2. */
const LONGEST_AGENT = 255;

export function originOf({
  user_agent: agent,
  ip_address: address,
}: Partial<Record<keyof WrittenFrom, string | undefined>>): KeptOrigin {
  return { userAgent: agent?.slice(0, LONGEST_AGENT) ?? null, ipAddress: address ?? null };
}

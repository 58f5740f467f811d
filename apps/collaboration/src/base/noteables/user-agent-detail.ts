/** Parameters for the user agent and IP address of the creating request; only administrators can read them later. */
export interface UserAgentParams {
  readonly user_agent?: string;
  readonly ip_address?: string;
}
/** User agent and IP address as columns of a noteable's row. */
export interface UserAgentColumns {
  readonly userAgent: string | null;
  readonly ipAddress: string | null;
}
/** User agent and IP address in answers. */
export type UserAgentDetail = { readonly [K in 'user_agent' | 'ip_address']: string | null };

/** Options of the parameters of `UserAgentParams`. */
export const USER_AGENT_PARAM = {
  optional: true,
  in: 'header',
  header: 'user-agent',
  about: 'Kept for administrators.',
} as const;
export const IP_ADDRESS_PARAM = {
  optional: true,
  in: 'header',
  header: 'x-forwarded-for',
  about: 'Set by the gateway.',
} as const;

/** Units: characters. Source: reference work-tracking 9.2. */
const LONGEST_AGENT = 255;

/** Converts the parameters to columns; a user agent that is too long is cut. */
export function toUserAgentColumns({
  user_agent: agent,
  ip_address: address,
}: Partial<Record<keyof UserAgentParams, string | undefined>>): UserAgentColumns {
  return { userAgent: agent?.slice(0, LONGEST_AGENT) ?? null, ipAddress: address ?? null };
}

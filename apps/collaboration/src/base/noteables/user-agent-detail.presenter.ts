import { bool, nullable, presenter, text } from '@rookery/api-v4';
import type { UserAgentDetail } from './user-agent-detail';

/** User agent and IP address of the request that created a noteable. Source: reference work-tracking 9.2. */
export const userAgentDetail = presenter<UserAgentDetail>('UserAgentDetail').fields({
  user_agent: [nullable(text), ({ user_agent }) => user_agent],
  ip_address: [nullable(text), ({ ip_address }) => ip_address],
  akismet_submitted: [bool, () => false],
});

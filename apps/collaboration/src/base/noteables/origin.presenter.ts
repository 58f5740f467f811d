import { bool, nullable, presenter, text } from '@rookery/api-v4';
import type { ToldOrigin } from './written-from';

/** With what and from where something was made. Source: reference work-tracking 9.2. */
export const userAgentDetail = presenter<ToldOrigin>('UserAgentDetail').fields({
  user_agent: [nullable(text), ({ user_agent }) => user_agent],
  ip_address: [nullable(text), ({ ip_address }) => ip_address],
  akismet_submitted: [bool, () => false],
});

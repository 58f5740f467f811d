import { defineSettings, setting } from '@rookery/platform';
import { parseAllowedDestinations } from './destination';

export const egressSettings = defineSettings('egress', {
  allow: setting.list('EGRESS_ALLOW', {
    default: [],
    check: (items) => {
      try {
        parseAllowedDestinations(items);
        return null;
      } catch (error) {
        return (error as Error).message;
      }
    },
    about:
      'Exact host:port of servers that Rookery may call although they are private, speak plain http, or listen on another port than 443: geo sites, hosts that imports read from.',
  }),
});

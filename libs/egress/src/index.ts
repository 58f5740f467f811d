export { Egress } from './egress';
export type { EgressAnswer, EgressLimits, EgressRequest, EgressStream, CheckedAddresses } from './egress';
export { EgressError } from './egress-error';
export type { EgressReason } from './egress-error';
export { egressSettings } from './egress.config';
export { EgressModule } from './egress.module';
export { publicRanges } from './public-address';

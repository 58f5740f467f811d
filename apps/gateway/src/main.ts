import { boot } from '@rookery/platform';
import { gatewayProcess } from './process';

void boot(gatewayProcess);

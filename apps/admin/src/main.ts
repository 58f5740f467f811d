import { boot } from '@rookery/platform';
import { adminProcess } from './process';

void boot(adminProcess);

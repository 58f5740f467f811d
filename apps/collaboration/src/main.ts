import { boot } from '@rookery/platform';
import { collaborationProcess } from './process';

void boot(collaborationProcess);

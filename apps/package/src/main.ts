import 'reflect-metadata';
import { boot } from '@rookery/platform';
import { packageProcess } from './process';

void boot(packageProcess);

import 'reflect-metadata';
import { boot } from '@rookery/platform';
import { identityProcess } from './process';

void boot(identityProcess);

import 'reflect-metadata';
import { boot } from '@rookery/platform';
import { importProcess } from './process';

void boot(importProcess);

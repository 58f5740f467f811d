import { serviceRole } from '@rookery/testing';
import { migrations } from '../../src/database';

serviceRole({ migrations, table: 'project_imports' });

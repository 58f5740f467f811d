import { registerServiceRoleTests } from '@rookery/testing';
import { migrations } from '../../src/database';

registerServiceRoleTests({ migrations, table: 'users' });
